"""Journal: the cost of a recorded call on SQLite and PostgreSQL, sequential and concurrent.

    python -m benchmarks.journal [--calls 2000] [--at-once 50]

The first part measures the stores alone, on PostgreSQL also an execution that another server follows. The call itself
is then one iteration of the event loop. The second part measures whole programs that call a Python function, with and
without a journal in SQLite.

A recorded call appends twice: `started` before the call is sent, and `ended` before the program receives the result.
All variants take turns. Printed are medians of wall time and processor time per call in microseconds, and the
difference to the variant without a journal. PostgreSQL runs as a temporary cluster with fsync on a Unix socket, if
its package is installed.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from codemode.executions.journal.key import DigestKey
from codemode.executions.journal.sqlite.journal import SqliteJournal
from codemode.executions.types.records import JournalEntry, Lease, NewExecution
from codemode.service import CodeMode
from codemode.settings import Settings
from tests.postgres import cluster, programs

if TYPE_CHECKING:
    from codemode.executions.journal.base import Journal

#: Goals on SQLite with `durability: process`: a sequential call, and the recording of a concurrent call.
GOAL_US = 100
GOAL_AT_ONCE_US = 20

ROUNDS = 9
KEY = DigestKey(b"a key of benchmarks")
VALUE = b'{"id": 7, "name": "a thing", "tags": ["one", "two"], "owner": {"id": 1, "name": "ann"}}'
BASELINE = "no journal"
FOLLOWED = "PostgreSQL, process"
ALLOW = {"read": "allow", "write": "allow", "destructive": "allow"}

Record = Callable[[int], Awaitable[None]]


@dataclass
class Times:
    """Wall time and processor time per call of each round, in microseconds."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)


async def turn() -> None:
    """Make a call whose answer arrives in the next iteration of the event loop."""
    loop = asyncio.get_running_loop()
    answered = loop.create_future()
    loop.call_soon(answered.set_result, None)
    await answered


async def unrecorded(_: int) -> None:
    await turn()


def recorded(journal: Journal, lease: Lease) -> Record:
    async def record(number: int) -> None:
        path = f"{number}"
        arguments = {"client_id": number, "note": "as agreed by telephone"}
        started = {
            "tool": "gym.members.freeze",
            "arguments": arguments,
            "digest": journal.digest(arguments),
            "key": "k",
        }
        await journal.append(lease, [JournalEntry("started", path, started)])
        await turn()
        ended = {"state": "committed", "duration_us": 5000, "at": number}
        await journal.append(lease, [JournalEntry("ended", path, ended, VALUE)])

    return record


def followed(journal: Journal, lease: Lease) -> Record:
    """Record calls of an execution that another server follows: each append notifies it."""
    record = recorded(journal, lease)

    async def record_followed(number: int) -> None:
        if not number:
            await journal.signals.ask(lease.execution)
        await record(number)

    return record_followed


async def one_by_one(record: Record, calls: int) -> None:
    for number in range(calls):
        await record(number)


async def at_once(record: Record, calls: int, width: int) -> None:
    for first in range(0, calls, width):
        await asyncio.gather(*(record(number) for number in range(first, first + width)))


async def measure(ways: dict[str, Record], calls: int, width: int) -> dict[tuple[str, bool], Times]:
    times = {(name, many): Times() for name in ways for many in (False, True)}
    for _ in range(ROUNDS):
        for name, record in ways.items():
            for many in (False, True):
                wall, cpu = time.perf_counter(), time.process_time()
                await (at_once(record, calls, width) if many else one_by_one(record, calls))
                times[name, many].wall.append((time.perf_counter() - wall) / calls * 1e6)
                times[name, many].cpu.append((time.process_time() - cpu) / calls * 1e6)
    return times


def stores(folder: Path, stack: ExitStack) -> dict[str, Journal]:
    journals: dict[str, Journal] = {
        "SQLite, process": SqliteJournal(folder / "process.sqlite3", KEY, lease_s=3600),
        "SQLite, power": SqliteJournal(folder / "power.sqlite3", KEY, lease_s=3600, durability="power"),
    }
    if programs() is not None:
        from codemode.executions.journal.postgres.journal import PostgresJournal

        url = stack.enter_context(cluster(fsync=True))
        journals["PostgreSQL, process"] = PostgresJournal(url, KEY, lease_s=3600)
        journals["PostgreSQL, power"] = PostgresJournal(url, KEY, lease_s=3600, durability="power")
    return journals


PROGRAMS = {
    "one by one": "for n in range({calls}):\n    shop.look(n=n)\n",
    "at once": (
        "import asyncio\n"
        "for first in range(0, {calls}, {width}):\n"
        "    await asyncio.gather(*[shop.look(n=n) for n in range(first, first + {width})])\n"
    ),
}


async def look(n: int) -> dict[str, object]:
    """Look at a thing.

    Args:
        n: its number
    """
    return {"id": n, "name": "a thing", "tags": ["one", "two"]}


async def programs_of(calls: int, width: int) -> None:
    """Measure programs with and without a journal. Guest, gateway and ledger are the same."""
    with tempfile.TemporaryDirectory() as folder:
        state = {"state_folder": f"{folder}/state", "cache_folder": f"{folder}/cache", "limits": {"calls": calls}}
        services = {
            enabled: CodeMode.from_settings(
                Settings.model_validate({**state, "journal": {"enabled": enabled}, "policy": {"default": ALLOW}}),
                functions={"shop": [look]},
            )
            for enabled in (False, True)
        }
        times = {(enabled, kind): Times() for enabled in services for kind in PROGRAMS}
        async with services[False], services[True]:
            for _ in range(ROUNDS + 1):
                for (enabled, kind), taken in times.items():
                    wall, cpu = time.perf_counter(), time.process_time()
                    outcome = await services[enabled].execute(PROGRAMS[kind].format(calls=calls, width=width))
                    assert outcome.ok, outcome.failure
                    taken.wall.append((time.perf_counter() - wall) / calls * 1e6)
                    taken.cpu.append((time.process_time() - cpu) / calls * 1e6)
    print(f"\nprograms of {calls} calls, medians in µs per call, without the first round")
    print(f"{'':30}{'no journal':>24}{'journal':>24}{'beyond':>28}")
    print(f"{'':30}{'wall':>12}{'CPU':>12}{'wall':>12}{'CPU':>12}{'wall':>14}{'CPU':>14}")
    for kind in PROGRAMS:
        without, recorded_ = times[False, kind], times[True, kind]
        row = [statistics.median(one[1:]) for one in (without.wall, without.cpu, recorded_.wall, recorded_.cpu)]
        pairs = ((recorded_.wall, without.wall), (recorded_.cpu, without.cpu))
        beyond = [statistics.median(a - b for a, b in zip(*pair, strict=True)) for pair in pairs]
        print(f"{kind:30}" + "".join(f"{value:12.1f}" for value in row) + "".join(f"{value:14.1f}" for value in beyond))


async def main(calls: int, width: int) -> None:
    await stores_alone(calls, width)
    await programs_of(calls // width * width, width)


async def stores_alone(calls: int, width: int) -> None:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        async with AsyncExitStack() as open_journals:
            ways: dict[str, Record] = {BASELINE: unrecorded}
            for name, journal in stores(folder, stack).items():
                open_journals.push_async_callback(journal.aclose)
                await journal.open()
                lease = await journal.create(NewExecution(f"ex_{name}", "ann", "r", "1", bytes(32), 0))
                ways[name] = recorded(journal, lease)
                if name == FOLLOWED:
                    lease = await journal.create(NewExecution(f"ex_{name}, followed", "ann", "r", "1", bytes(32), 0))
                    ways[f"{name}, followed"] = followed(journal, lease)
            times = await measure(ways, calls, width)
    print(f"{datetime.now(UTC):%Y-%m-%d} Python {platform.python_version()} SQLite {sqlite3.sqlite_version}", end=" ")
    print(f"{os.cpu_count()} cores, {calls} calls a round, {ROUNDS} rounds, medians in µs per call")
    print(f"goals on SQLite, process: {GOAL_US} one by one, {GOAL_AT_ONCE_US} beyond the call at once\n")
    print(f"{'':30}{'one by one':>24}{f'{width} at once':>24}{'beyond the call, at once':>28}")
    print(f"{'':30}{'wall':>12}{'CPU':>12}{'wall':>12}{'CPU':>12}{'wall':>14}{'CPU':>14}")
    for name in ways:
        one, many, call = times[name, False], times[name, True], times[BASELINE, True]
        row = [statistics.median(values) for values in (one.wall, one.cpu, many.wall, many.cpu)]
        beyond = [
            statistics.median(mine - theirs for mine, theirs in zip(mine, theirs, strict=True))
            for mine, theirs in ((many.wall, call.wall), (many.cpu, call.cpu))
        ]
        print(f"{name:30}" + "".join(f"{value:12.1f}" for value in row) + "".join(f"{value:14.1f}" for value in beyond))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=2000, help="calls in each round, a multiple of --at-once")
    parser.add_argument("--at-once", type=int, default=50, help="concurrent calls")
    options = parser.parse_args()
    asyncio.run(main(options.calls, options.at_once))
