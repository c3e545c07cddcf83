"""A process that makes calls under a shared rate, as fast as it may, and prints how many may start.

Arguments: the URL of the database, the rate per second, the seconds of its burst. It begins with a line of input.
"""

from __future__ import annotations

import asyncio
import sys

from codemode.executions.journal.key import DigestKey
from codemode.executions.journal.postgres.journal import PostgresJournal
from codemode.transports.allowances import Allowances, Rate

#: Calls that wait at the same time.
AT_ONCE = 8


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


async def main(url: str, per_s: float, burst_s: float) -> None:
    journal = PostgresJournal(url, DigestKey(b"a key of tests"), lease_s=60.0)
    await journal.open()
    assert journal.slots is not None
    allowances = Allowances()
    allowances.slots = journal.slots
    allowance = allowances.of(Rate("source gym", per_s, burst_s))
    say("ready")
    await asyncio.to_thread(sys.stdin.readline)

    async def call() -> int:
        calls = 0
        while not await allowance.take():
            calls += 1
        return calls

    say(str(sum(await asyncio.gather(*(call() for _ in range(AT_ONCE))))))
    await journal.aclose()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], float(sys.argv[2]), float(sys.argv[3])))
