"""Servers that are killed: at each write to the journal, and thirty times at random; `make crash` does 1,000."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from tests.nightly.crash.harness import harness
from tests.nightly.crash.programs import PROGRAMS, Program
from tests.nightly.crash.run import kill_at_random

if TYPE_CHECKING:
    from pathlib import Path

    from tests.nightly.crash.harness import Harness

#: One of each kind of call, then two at a time: 5 calls.
SMALL = Program(
    """
from concurrent.futures import ThreadPoolExecutor
import random

plain.things.read(tag=TAG, label="r0")
keyed.things.write(tag=TAG, label="k0")
with ThreadPoolExecutor(2) as pool:
    list(pool.map(lambda n: plain.things.write(tag=TAG, label=f"w{n}", value=f"{random.random()}"), range(2)))
plain.things.write(tag=TAG, label="last")
""",
    2,
)


@pytest.mark.timeout(900)
async def test_at_every_boundary_of_the_journal(tmp_path: Path) -> None:
    async with harness(tmp_path) as here:
        number = 0
        while await ended_at(here, number := number + 1):
            pass
        assert number > 8, "two writes for each call, where two calls start or end together perhaps one"
        # so the last boundary may be there in the run that is killed before it, and not in the one after
        assert here.counts.kills in (2 * (number - 1), 2 * (number - 1) + 1)
        assert here.counts.ends["paused"] >= 2
        assert here.counts.sent_again >= 1


async def ended_at(here: Harness, number: int) -> bool:
    """Whether there was such a write; the server was killed before it, and another right after it."""
    for side in ("before", "after"):
        await here.start(**{side: number})
        here.submit([SMALL])
        await here.answered()
        if not await here.journal.list(status="running"):
            await here.kill()
            await here.check()
            return False
        here.counts.kills += await here.dead()
        await here.start()
        await here.settle()
        await here.check()
        await here.kill()
    return True


@pytest.mark.timeout(900)
async def test_thirty_times_at_random(tmp_path: Path) -> None:
    async with harness(tmp_path) as here:
        await kill_at_random(here, 30, random.Random())  # noqa: S311
        assert here.counts.kills == 30
        assert sum(here.counts.ends.values()) >= len(PROGRAMS) * 3
