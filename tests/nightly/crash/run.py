"""Kill a server over and over at random times, each time in the middle of something.

    python tests/nightly/crash/run.py

Prints what became of all executions and writes, and ends with an AssertionError for the first that is wrong.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parents[3]))

from tests.nightly.crash.harness import harness
from tests.postgres import cluster

if TYPE_CHECKING:
    from tests.nightly.crash.harness import Counts, Harness

#: How many of the servers that take up what a killed one has left are killed while they do.
ALSO_RESTARTED = 0.25


async def kill_at_random(here: Harness, kills: int, chance: random.Random) -> None:
    """Kill servers until so many have died in the middle of an execution, and check what is left of each."""
    await here.start()
    lasts_s = await _duration(here)
    counts, told = here.counts, 0
    while counts.kills < kills:
        here.submit()
        await asyncio.sleep(chance.uniform(0, lasts_s))
        killed = await here.kill()
        counts.kills += killed
        counts.missed += not killed
        while killed and counts.kills < kills and chance.random() < ALSO_RESTARTED:
            await here.start()
            await asyncio.sleep(chance.uniform(0, lasts_s / 2))
            killed = await here.kill()
            counts.kills += killed
            counts.restarts_killed += killed
        await here.start()
        await here.settle()
        await here.check()
        if counts.kills >= told + 100:
            told = counts.kills
            print(f"{told} kills", flush=True)  # noqa: T201


async def _duration(here: Harness) -> float:
    """Seconds that the programs take where nobody disturbs them, once they are warm."""
    for _ in range(2):
        began = time.monotonic()
        here.submit()
        await here.answered()
        lasted_s = time.monotonic() - began
        await here.check()
    return lasted_s


def report(counts: Counts, seed: int) -> str:
    """What was found, in a few lines."""
    ends = ", ".join(f"{count:,} {status}" for status, count in sorted(counts.ends.items()))
    writes = ", ".join(f"{count:,} {state}" for state, count in sorted(counts.writes.items()))
    return (
        f"{counts.kills:,} kills in the middle of an execution, {counts.restarts_killed:,} of them while it was being"
        f" taken up again; {counts.missed:,} came when nothing ran, and do not count (seed {seed})\n"
        f"executions: {ends}\nwrites: {writes}; {counts.sent_again:,} sent again under one idempotency key\n"
        f"unknown in one execution: {counts.most_unknown} at most, never more than it had calls in flight;"
        f" {counts.continue_after_decision:,} paused executions were decided on, and ended with each write done once"
    )


async def main(kills: int, seed: int, *, on_postgres: bool) -> None:
    """Run, and report."""
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        url = stack.enter_context(cluster()) if on_postgres else ""
        async with harness(Path(folder), url) as here:
            await kill_at_random(here, kills, random.Random(seed))  # noqa: S311
            print(report(here.counts, seed))  # noqa: T201


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--postgres", action="store_true", help="the record is in PostgreSQL, not in a file")
    given = parser.parse_args()
    asyncio.run(main(given.kills, given.seed, on_postgres=given.postgres))
