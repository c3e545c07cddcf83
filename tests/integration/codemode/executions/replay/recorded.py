"""Executions recorded by an earlier version: `python -m tests.integration.codemode.executions.replay.recorded`.

Record them again only together with a new `REPLAYS_FROM`: servers of two versions then no longer continue each other's
executions.
"""

from __future__ import annotations

import asyncio
import base64
import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codemode.executions.journal.key import DigestKey
from codemode.executions.journal.sqlite.journal import SqliteJournal
from codemode.executions.types.records import JournalEntry, NewExecution
from tests.integration.codemode.executions.upstream import OWNER, Place, place

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codemode.executions.journal.base import Journal

FILE = Path(__file__).with_name("recorded.json")
KEY = bytes(range(32))

PROGRAMS = [
    """
import random, time, uuid
from datetime import datetime
before = [random.random(), random.randrange(10**9), str(uuid.uuid4()), time.time()]
up.x.post(n=random.randrange(100))
[*before, random.random(), datetime.now().isoformat(), sorted(random.sample(range(50), 5))]
""",
    """
from concurrent.futures import ThreadPoolExecutor, as_completed
with ThreadPoolExecutor(3) as pool:
    ended = [each.result()["n"] for each in as_completed([pool.submit(up.x.get, n=n) for n in range(5)])]
up.x.post(n=7)
ended
""",
    """
import asyncio, random
async def one(n):
    await asyncio.sleep(random.random() / 100)
    return (await up.x.get(n=n))["n"]
print("before")
found = await asyncio.gather(*(one(n) for n in range(4)))
print("after")
up.x.post(n=len(found))
found
""",
    """
try:
    up.x.put(n=3)
except ToolError as error:
    said = str(error)
[said, [each for each in up.x.list.items()], up.x.post(n=1)["n"]]
""",
]


def journal_in(here: Place) -> SqliteJournal:
    """Return the journal of the services in a place, with a key that stays the same."""
    state = here.folder / "state"
    state.mkdir(exist_ok=True)
    (state / "journal.key").write_bytes(KEY)
    return SqliteJournal(state / "journal.sqlite3", DigestKey(KEY), lease_s=60, project=here.settings().project)


async def recorded(journal: Journal, execution: str) -> dict[str, Any]:
    """Return an execution as JSON data."""
    stored = await journal.get(execution)
    given, outcome = stored.request, stored.outcome
    return {
        "code": given.code,
        "seed": given.seed.hex(),
        "start_us": given.start_us,
        "settings": dict(given.settings),
        "digests": dict(given.digests),
        "entries": [
            [entry.kind, entry.path, dict(entry.data), None if entry.value is None else _text(entry.value)]
            for entry in await journal.read(execution)
        ],
        "outcome": {name: outcome.get(name) for name in ("status", "value", "output")},
    }


async def leave(journal: Journal, execution: str, data: dict[str, Any], digests: dict[str, str]) -> None:
    """Record an execution as a server did that was stopped when everything but the end was recorded."""
    given = NewExecution(
        id=execution,
        owner=OWNER.id,
        role=OWNER.role,
        code=data["code"],
        seed=bytes.fromhex(data["seed"]),
        start_us=data["start_us"],
        settings=data["settings"],
        digests=digests,
    )
    lease = await journal.create(given)
    await journal.append(lease, [_entry(each) for each in data["entries"]])
    await journal.release([execution])


def _entry(each: Sequence[Any]) -> JournalEntry:
    kind, path, data, value = each
    return JournalEntry(kind, path, data, None if value is None else base64.b64decode(value))


def _text(value: bytes) -> str:
    return base64.b64encode(value).decode()


async def _record() -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with place(Path(folder)) as here:
            here.upstream.broken.add("/put")
            journal = journal_in(here)
            async with here.service() as service:
                ids = [(await service.execute(code, caller=OWNER)).id for code in PROGRAMS]
            await journal.open()
            found = [await recorded(journal, execution) for execution in ids]
            await journal.aclose()
    FILE.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    asyncio.run(_record())
