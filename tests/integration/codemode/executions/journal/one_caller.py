"""A process that makes calls under a shared rate, as fast as it may, and prints when each may start.

Arguments: the URL of the database, the rate per second, the number of calls. It begins with a line of input.
"""

from __future__ import annotations

import asyncio
import sys
import time

from codemode.executions.journal.key import DigestKey
from codemode.executions.journal.postgres.journal import PostgresJournal
from codemode.transports.allowances import Allowances, Rate

#: Calls that wait at the same time.
AT_ONCE = 8


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


async def main(url: str, per_s: float, calls: int) -> None:
    journal = PostgresJournal(url, DigestKey(b"a key of tests"), lease_s=60.0)
    await journal.open()
    assert journal.slots is not None
    allowances = Allowances()
    allowances.slots = journal.slots
    allowance = allowances.of(Rate("source gym", per_s))
    say("ready")
    await asyncio.to_thread(sys.stdin.readline)
    left = iter(range(calls))

    async def call() -> None:
        for _ in left:
            wait_s = await allowance.reserve()
            say(f"{time.monotonic() + wait_s}")
            await asyncio.sleep(wait_s)

    await asyncio.gather(*(call() for _ in range(AT_ONCE)))
    await journal.aclose()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], float(sys.argv[2]), int(sys.argv[3])))
