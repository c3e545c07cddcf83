"""Capacity: processor time and database work of an execution, and what that makes at 10,000 and 1,000,000 a minute.

    python -m benchmarks.capacity [--rounds 3] [--seconds 5] [--clients 8]

Programs of 0, 5 and 20 calls run on `codemode serve` with a journal in a PostgreSQL of its own, with fsync. Printed per
execution: processor time of the server, of its fork server and workers, and of PostgreSQL, in milliseconds. Then its
transactions, written rows, write-ahead log (WAL) and growth of the database. A second line is for its removal.

Times are minima over rounds: other load on the machine adds to them, and cools caches. Rates are linear extrapolations
from one server; nothing here runs a million programs a minute.
"""

from __future__ import annotations

import argparse
import asyncio
import platform
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

import asyncpg

from benchmarks.path_parts import processes
from benchmarks.path_parts.generator import Generator
from benchmarks.path_parts.programs import EMPTY, FIVE, Program, of_codemode
from codemode.executions.journal.key import DigestKey
from codemode.executions.journal.postgres.journal import PostgresJournal
from codemode.executions.types.records import Retention
from tests.postgres import restartable_cluster

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.postgres import Cluster

TWENTY = Program("20 calls", 20)
PROGRAMS = (EMPTY, FIVE, TWENTY)
PER_MINUTE = (10_000, 1_000_000)
LOAD = "{running: 64, waiting: 256, wait_s: 30}"
WARM_UP_S = 1.0
_COUNTS = """
SELECT xact_commit, tup_inserted + tup_updated + tup_deleted, wal_bytes::bigint, pg_database_size(current_database())
FROM pg_stat_database, pg_stat_wal WHERE datname = current_database()
"""


class Database(NamedTuple):
    """What PostgreSQL did: processor time in milliseconds, transactions, rows, WAL and growth in bytes."""

    cpu_ms: float = 0.0
    transactions: float = 0.0
    rows: float = 0.0
    wal_bytes: float = 0.0
    size_bytes: float = 0.0

    def since(self, before: Database, executions: int) -> Database:
        """Return the difference to `before`, per execution."""
        return Database(*((now - then) / executions for now, then in zip(self, before, strict=True)))


@dataclass(frozen=True, slots=True)
class Measured:
    """One round, per execution. Processor times are in milliseconds."""

    server_ms: float
    workers_ms: float
    database: Database
    removal: Database


class Watched:
    """A new database of a cluster, whose work is counted."""

    def __init__(self, url: str, process: int) -> None:
        self.url = url
        self._process = process

    async def counted(self) -> Database:
        """Return its work so far. Backends report all of theirs when their connections close."""
        cpu_ms = processes.whole_s(self._process) * 1000
        connection = await asyncpg.connect(self.url)
        try:
            return Database(cpu_ms, *map(float, await connection.fetchrow(_COUNTS)))
        finally:
            await connection.close()


@asynccontextmanager
async def new_database(cluster: Cluster) -> AsyncIterator[Watched]:
    """Create a database, and drop it in the end."""
    postmaster = int((cluster.home / "data" / "postmaster.pid").read_text(encoding="utf-8").split()[0])
    await run(cluster.url, "CREATE DATABASE measured")
    try:
        yield Watched(cluster.url.replace("/postgres?", "/measured?"), postmaster)
    finally:
        await run(cluster.url, "DROP DATABASE measured WITH (FORCE)")


async def run(url: str, statement: str) -> None:
    """Run one statement over a connection of its own."""
    connection = await asyncpg.connect(url)
    try:
        await connection.execute(statement)
    finally:
        await connection.close()


@asynccontextmanager
async def journal(url: str) -> AsyncIterator[PostgresJournal]:
    """Open the journal of the benchmark's servers."""
    opened = PostgresJournal(url, DigestKey(("00" * 32).encode()), lease_s=60, project="path")
    await opened.open()
    try:
        yield opened
    finally:
        await opened.aclose()


async def measure(upstream: str, watched: Watched, program: Program, seconds: float, clients: int) -> Measured:
    """Run one program for some seconds, then remove its executions. Raises RuntimeError for a wrong answer."""
    asked = of_codemode(program)
    async with journal(watched.url):
        pass  # creates the tables
    before = await watched.counted()
    with (
        processes.codemode(upstream, watched.url, load=LOAD) as server,
        closing(Generator([server.port], asked.requests, clients, expected=asked.expected)) as generator,
    ):
        warmed = generator.closed(WARM_UP_S)
        earlier = server.spent()
        seen = generator.closed(seconds)
        spent = server.spent().since(earlier)
    if set(seen.statuses) - {200, 429}:
        message = f"{program.name}: wrong answers, by status (0: another value): {seen.statuses}"
        raise RuntimeError(message)
    ran = await watched.counted()
    async with journal(watched.url) as opened:
        removed = (await opened.prune(Retention(1e9, 1))).removed
    removal = (await watched.counted()).since(ran, removed)
    server_ms, *others_ms = (each / len(seen.latencies) * 1000 for each in spent)
    count = len(warmed.latencies) + len(seen.latencies)
    return Measured(server_ms, sum(others_ms), ran.since(before, count), removal)


def least(rounds: list[Measured]) -> Measured:
    """Return the least of each figure."""

    def of(work: list[Database]) -> Database:
        return Database(*map(min, zip(*work, strict=True)))

    return Measured(
        min(each.server_ms for each in rounds),
        min(each.workers_ms for each in rounds),
        of([each.database for each in rounds]),
        of([each.removal for each in rounds]),
    )


def print_costs(found: dict[str, Measured]) -> None:
    """Print what one execution costs."""
    print("| program | server, ms | workers, ms | PostgreSQL, ms | transactions | rows | WAL, KiB | growth, KiB |")
    print("|---|---|---|---|---|---|---|---|")
    for name, each in found.items():
        print(f"| {name} | {each.server_ms:.1f} | {each.workers_ms:.1f} | {_of_database(each.database)} |")
        print(f"| its removal | | | {_of_database(each.removal)} |")


def _of_database(work: Database) -> str:
    kib = f"{work.wal_bytes / 1024:.1f} | {work.size_bytes / 1024:.1f}"
    return f"{work.cpu_ms:.2f} | {work.transactions:.1f} | {work.rows:.1f} | {kib}"


def print_rates(found: dict[str, Measured]) -> None:
    """Print the processors and the writes of a number of executions a minute, removal included."""
    print("\n| program | a minute | servers, cores | workers, cores | PostgreSQL, cores | WAL, MB/s | an hour, GB |")
    print("|---|---|---|---|---|---|---|")
    for name, each in found.items():
        for per_minute in PER_MINUTE:
            rate = per_minute / 60
            cores = (each.server_ms, each.workers_ms, each.database.cpu_ms + each.removal.cpu_ms)
            wal = (each.database.wal_bytes + each.removal.wal_bytes) * rate / 1e6
            hour = each.database.size_bytes * per_minute * 60 / 1e9
            columns = " | ".join(f"{ms / 1000 * rate:,.1f}" for ms in cores)
            print(f"| {name} | {per_minute:,} | {columns} | {wal:,.1f} | {hour:,.1f} |")


async def main(rounds: int, seconds: float, clients: int) -> None:
    """Measure all programs in turn, and print both tables."""
    measured: dict[str, list[Measured]] = {program.name: [] for program in PROGRAMS}
    with restartable_cluster(fsync=True) as cluster, processes.upstream() as upstream:
        for _ in range(rounds):
            for program in PROGRAMS:
                async with new_database(cluster) as watched:
                    measured[program.name].append(await measure(upstream, watched, program, seconds, clients))
    print(f"{datetime.now(UTC):%Y-%m-%d}, Python {platform.python_version()}, least of {rounds} rounds\n")
    found = {name: least(of_rounds) for name, of_rounds in measured.items()}
    print_costs(found)
    print_rates(found)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=5.0, help="of load, for each program and round")
    parser.add_argument("--clients", type=int, default=8)
    options = parser.parse_args()
    asyncio.run(main(options.rounds, options.seconds, options.clients))
