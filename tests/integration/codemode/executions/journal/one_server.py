"""A server in its own process on a journal file: `python -m …one_server FILE EXECUTION COUNT`.

It prints HELD once it has the lease, appends COUNT entries one after the other, prints DONE and waits to be ended.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from codemode.executions.journal.sqlite.journal import SqliteJournal
from codemode.executions.types.records import JournalEntry
from tests.integration.codemode.executions.journal.conftest import KEY, new


async def serve(file: str, execution: str, count: int) -> None:
    journal = SqliteJournal(Path(file), KEY, lease_s=3600.0)
    await journal.open()
    lease = await journal.create(new(execution))
    print("HELD", flush=True)  # noqa: T201 -- to who started it
    for number in range(count):
        await journal.append(lease, [JournalEntry("started", f"{number}", value=b"x" * (number % 7000))])
    print("DONE", flush=True)  # noqa: T201
    await asyncio.to_thread(sys.stdin.read)
    await journal.aclose()


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1], sys.argv[2], int(sys.argv[3])))
