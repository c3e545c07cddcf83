from __future__ import annotations

import sys
from itertools import islice
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from frames import conversations  # type: ignore[import-not-found]  # a script beside this file

#: Kept because they found something: seed 1 a count of brackets that took two levels for one.
SEEDS = [1, 2, 3]


@pytest.mark.parametrize("seed", SEEDS)
def test_whatever_a_guest_sends_is_admitted_or_refused(seed: int) -> None:
    assert len(list(islice(conversations(seed), 500))) == 500
