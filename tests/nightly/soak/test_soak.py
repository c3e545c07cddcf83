from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from soak import soak  # type: ignore[import-not-found]  # a script beside this file

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox needs Linux")


async def test_many_programs_a_tenth_of_them_hostile_leave_nothing_behind() -> None:
    await soak(300)
