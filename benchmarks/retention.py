"""Retention: the time of `execute` while 200,000 ended executions are removed.

    python -m benchmarks.retention [--records 200000] [--executes 400]

For each store, programs run one after another with an empty journal, with a full one, and while retention removes all
but the newest 10,000 executions. Printed are the median and the 99th percentile in milliseconds, and their ratios to
the empty journal. PostgreSQL runs as a temporary cluster with fsync on a Unix socket, if its package is installed.
"""

from __future__ import annotations

import argparse
import asyncio
import platform
import sqlite3
import statistics
import tempfile
import time
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codemode.executions.journal.configured import JOURNAL_FILE
from codemode.executions.types.records import Retention
from codemode.service import CodeMode
from codemode.settings import Settings
from tests.postgres import cluster, programs

#: Goal: the 99th percentile while pruning, as a ratio to that of an empty journal.
GOAL = 1.5

KEPT = 10_000
BYTES = 512 + 64 * 6 + 6 * 300
ENTRIES = 6
PROGRAM = "for n in range(3):\n    shop.look(n=n)\n"


async def look(n: int) -> dict[str, int]:
    """Look at a thing.

    Args:
        n: its number
    """
    return {"id": n}


def rows(records: int, project: str) -> list[tuple[Any, ...]]:
    """Return executions that ended one millisecond apart, the newest now, the oldest first."""
    now = time.time_ns() // 1000
    return [
        (FIRST + n, f"ex_{n:032}", project, now - (records - n) * 1000, now - (records - n) * 1000 + 500)
        for n in range(1, records + 1)
    ]


#: Numbers of inserted records begin after those of the programs that ran before.
FIRST = 1_000_000

_FILL = (
    "INSERT INTO executions (number, id, owner, request_key, request_digest, status, server, lease_until_us,"
    " generation, created_us, updated_us, ended_us, project, bytes) {}"
    " VALUES ($1, $2, 'local', '', '', 'completed', '', 0, 1, $4, $4, $5, $3, {})"
)
_CONTENTS = "INSERT INTO contents (execution, given, outcome) VALUES ($1, $2, $3)"
_ENTRIES = "INSERT INTO entries (place, kind, at_us, content, value) VALUES ($1, 'ended', 0, $2, $3)"
_SPACE = "INSERT INTO space VALUES ($1, 'local', 0, $2) ON CONFLICT (project, owner) DO UPDATE SET ended_bytes = $2"


def contents(executions: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return [(one[1], "g" * 400, "o" * 400) for one in executions]


def entries(executions: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return [((one[0] << 32) + n, "c" * 200, b"v" * 100) for one in executions for n in range(1, ENTRIES + 1)]


def fill_sqlite(file: Path, records: int, project: str) -> None:
    executions = rows(records, project)
    with closing(sqlite3.connect(file, timeout=60)) as connection, connection:
        connection.executemany(_FILL.format("", BYTES).replace("$", "?"), executions)
        connection.executemany(_CONTENTS.replace("$", "?"), contents(executions))
        connection.executemany(_ENTRIES.replace("$", "?"), entries(executions))
        connection.execute(_SPACE.replace("$", "?"), (project, records * BYTES))


async def fill_postgres(url: str, records: int, project: str) -> None:
    import asyncpg

    executions = rows(records, project)
    connection = await asyncpg.connect(url)
    try:
        await connection.executemany(_FILL.format("OVERRIDING SYSTEM VALUE", BYTES), executions)
        await connection.executemany(_CONTENTS, contents(executions))
        await connection.executemany(_ENTRIES, entries(executions))
        await connection.execute(_SPACE, project, records * BYTES)
        await connection.execute("SELECT setval(pg_get_serial_sequence('executions', 'number'), $1)", FIRST + records)
        await connection.execute("ANALYZE")
    finally:
        await connection.close()


@dataclass(frozen=True)
class Times:
    """The time of each `execute`, in milliseconds."""

    all: list[float]

    @property
    def median(self) -> float:
        """The median."""
        return statistics.median(self.all)

    @property
    def p99(self) -> float:
        """The 99th percentile."""
        return statistics.quantiles(self.all, n=100)[98]


async def timed(service: CodeMode, executes: int) -> Times:
    taken = []
    for _ in range(executes):
        begun = time.perf_counter()
        outcome = await service.execute(PROGRAM)
        assert outcome.ok, outcome.failure
        taken.append((time.perf_counter() - begun) * 1000)
    return Times(taken)


def service_of(folder: Path, url: str | None) -> CodeMode:
    (folder / "key").write_text("the key of a benchmark", encoding="utf-8")
    journal = {"enabled": True, "url": url, "key": {"file": str(folder / "key")}, "keep_count": 10_000_000}
    base = {"name": "bench", "state_folder": f"{folder}/state", "cache_folder": f"{folder}/cache", "journal": journal}
    allow = {"policy": {"default": {"read": "allow", "write": "allow", "destructive": "allow"}}}
    return CodeMode.from_settings(Settings.model_validate({**base, **allow}), functions={"shop": [look]})


async def measure(name: str, folder: Path, url: str | None, records: int, executes: int) -> None:
    service = service_of(folder, url)
    async with service:
        await timed(service, 20)
        empty = await timed(service, executes)
        print(f"{name:12}{'empty':24}{empty.median:9.1f}{empty.p99:9.1f}", flush=True)
        if url is None:
            fill_sqlite(service.settings.state() / JOURNAL_FILE, records, service.settings.project)
        else:
            await fill_postgres(url, records, service.settings.project)
        show(name, f"{records} records", await timed(service, executes), empty)
        journal = service.executions._journal
        begun = time.perf_counter()
        pruning = asyncio.create_task(journal.prune(Retention(1e9, KEPT)))
        while_pruning = await timed(service, executes)
        still = not pruning.done()
        show(name, "while pruning", while_pruning, empty)
        pruned = await pruning
        took = time.perf_counter() - begun
        done = "after the last program ended" if still else "before the last program ended"
        print(f"{name:12}removed {pruned.removed} in {took:.0f} s, finished {done}", flush=True)
        if url is None:
            size = (service.settings.state() / JOURNAL_FILE).stat().st_size
            print(f"{name:12}file size afterwards: {size / 1024**2:.0f} MiB", flush=True)


def show(name: str, what: str, times: Times, empty: Times) -> None:
    ratios = f"{times.median / empty.median:9.2f}{times.p99 / empty.p99:9.2f}"
    print(f"{name:12}{what:24}{times.median:9.1f}{times.p99:9.1f}{ratios}", flush=True)


async def main(records: int, executes: int) -> None:
    print(f"Python {platform.python_version()} SQLite {sqlite3.sqlite_version}, goal: p99 while pruning ≤ {GOAL} x")
    print(f"{'':36}{'median':>9}{'p99':>9}{'ratios':>18}")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        await measure("SQLite", folder, None, records, executes)
        if programs() is not None:
            url = stack.enter_context(cluster(fsync=True))
            other = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            await measure("PostgreSQL", other, url, records, executes)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=200_000, help="ended executions")
    parser.add_argument("--executes", type=int, default=400, help="programs for each row of the table")
    options = parser.parse_args()
    asyncio.run(main(options.records, options.executes))
