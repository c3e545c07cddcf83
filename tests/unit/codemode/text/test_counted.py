"""A number with its noun."""

from __future__ import annotations

import pytest

from codemode.text.counted import counted


@pytest.mark.parametrize(("number", "shown"), [(0, "0 calls"), (1, "1 call"), (1200, "1,200 calls")])
def test_the_noun_is_singular_for_one(number: int, shown: str) -> None:
    assert counted(number, "call") == shown
