"""Let anything fail that can while programs run, and check that nothing was lost and nothing done twice.

    python tests/nightly/chaos/run.py [--events 300] [--seed N] [--other COMMIT]

Three servers, one PostgreSQL and HAProxy run in namespaces of their own, which end with this program. Events come in
rounds: they overlap under load, then everything is mended, and what was recorded is compared with what the upstream has
seen. Prints figures. A violation ends the run with 1, the seed and the history; logs are in build/chaos then.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import shutil
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parents[3]))

from tests.nightly.chaos import own_namespaces
from tests.nightly.chaos.deployment import SERVERS, deployment
from tests.nightly.chaos.faults import BY_NAME, plan
from tests.nightly.chaos.rounds import Rounds
from tests.nightly.chaos.versions import ROOT

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Seconds of load without a fault, to compare with.
BEFORE_S = 10.0

#: Events after which the run reports that it goes on.
_TOLD = 25

_LOGS = ROOT / "build" / "chaos"


async def run(given: argparse.Namespace) -> int:
    """Run, print figures, also of a part, and return the exit code."""
    began, seed, is_whole = time.monotonic(), given.seed, False
    async with deployment(own_namespaces.HOME, given.other) as deployed:
        print(f"three servers are up (seed {seed})", flush=True)  # noqa: T201
        rounds = Rounds(deployed, seed)
        try:
            await _happen(rounds, given)
            is_whole = True
        finally:
            await rounds.aclose()
            print(await rounds.report(seed, time.monotonic() - began))  # noqa: T201
            if rounds.violations or not is_whole:
                _keep_logs()
                print(f"seed {seed}, violated:", *rounds.violations, "history:", *rounds.history, sep="\n")  # noqa: T201
    return 1 if rounds.violations else 0


async def _happen(rounds: Rounds, given: argparse.Namespace) -> None:
    await rounds.undisturbed(given.before)
    for each in plan(given.events, given.seed, SERVERS, given.only):
        await rounds.happen(each)
        if rounds.violations and not given.all:
            return
        if each[-1].number // _TOLD > (each[0].number - 1) // _TOLD:
            print(f"{each[-1].number} events, {len(rounds.violations)} violations", flush=True)  # noqa: T201


def _keep_logs() -> None:
    shutil.rmtree(_LOGS, ignore_errors=True)
    for log in own_namespaces.HOME.glob("*/log"):
        _LOGS.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(log, _LOGS / f"{log.parent.name}.log")


def main(arguments: Sequence[str]) -> int:
    """Parse the arguments, and run in namespaces."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=300)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--other", default="", metavar="COMMIT", help="the other version. Default: another number")
    parser.add_argument("--before", type=float, default=BEFORE_S, metavar="SECONDS", help="load without a fault")
    parser.add_argument("--all", action="store_true", help="go on after a violation, to find all of them")
    parser.add_argument("--only", nargs="+", default=(), choices=list(BY_NAME), help="kinds of events. Default: all")
    given = parser.parse_args(arguments)
    with suppress(KeyboardInterrupt):
        return asyncio.run(run(given))
    return 130


if __name__ == "__main__":
    if sys.argv[1:2] != [own_namespaces.INSIDE] and (why := own_namespaces.missing()):
        sys.exit(why)
    sys.exit(main(own_namespaces.enter(sys.argv[1:])))
