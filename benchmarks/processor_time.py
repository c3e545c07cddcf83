"""Resources of a run: processor time of host, fork server and worker, page faults, and memory.

    python -m benchmarks.processor_time [--runs 300] [--rounds 5]

The table has milliseconds of user and system time and page faults per run, of `1 + 1` and of five calls. They count
from the fork until the worker's memory is freed. The last columns count only until the answer. Below the table are the
cost of one of many calls, the cost of a large result, and the memory of a waiting worker beside three others (as root
only). Figures are medians over rounds with new sandboxes. Other load on the machine does not count, but cools caches.

To measure another commit, check it out (`git worktree add ../before COMMIT`) and run:

    PYTHONPATH=../before python benchmarks/processor_time.py
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import resource
import statistics
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import sandbox
from benchmarks.engine_programs import LARGE
from sandbox import Sandbox

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sandbox import Call

NOTHING = "1 + 1"
FIVE_CALLS = "\n".join(f"shop.price(n={n})" for n in range(5))
CALLS = 1000
#: (program, program to subtract, number of items, unit, units in a millisecond)
PROGRAMS = {
    "one call": (f"for n in range({CALLS}):\n    shop.price(n=n)\n", NOTHING, CALLS, "µs", 1000),
    "a list of 10 MB as the result": (LARGE, f"len({LARGE.strip()})", 1, "ms", 1),
}

#: Runs before a measurement, so that all caches are warm.
_WARM_UP = 30
#: Longer than it takes to prepare waiting workers and to reap ended ones.
_QUIET_S = 0.3
_TIMES = 3
_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE_KIB = resource.getpagesize() // 1024


class Way(NamedTuple):
    """A load: the number of waiting workers and of concurrent programs, the gap between programs, and the program."""

    workers: int
    at_a_time: int
    gap_s: float
    code: str = NOTHING


WAYS = {
    "forked on demand": Way(0, 1, 0.0),
    "waiting, one by one": Way(4, 1, 0.02),
    "waiting, saturated": Way(4, 3, 0.0),
    "five calls, waiting, one by one": Way(4, 1, 0.02, FIVE_CALLS),
}


class Spent(NamedTuple):
    """Processor time in milliseconds, and minor page faults."""

    user_ms: float
    system_ms: float
    faults: float

    def since(self, before: Spent, runs: int) -> Spent:
        """Return the difference to `before`, per run."""
        return Spent(*((after - earlier) / runs for after, earlier in zip(self, before, strict=True)))


class Memory(NamedTuple):
    """The private memory and the proportional set size of a process in MiB, and its resident heap pages."""

    own_mib: float
    share_mib: float
    heap_pages: float


class Measured(NamedTuple):
    """The mean cost of a run over one round."""

    host: Spent
    server: Spent
    worker: Spent
    #: Milliseconds until the answer. Those of the host include concurrent programs.
    host_answered: float
    worker_answered: float


async def answer(call: Call) -> int:
    """Answer at once."""
    return 30


async def timed(box: Sandbox, code: str) -> tuple[float, float]:
    """Return the processor time of host and worker, in milliseconds, until the answer."""
    begun = time.process_time()
    outcome = await box.run(code, names=("shop",), call=answer)
    assert outcome.ok, outcome.failure
    return (time.process_time() - begun) * 1000, outcome.usage.cpu_s * 1000


async def measure(box: Sandbox, way: Way, runs: int) -> Measured:
    """Return the mean cost of `runs` runs in a warm sandbox."""
    process = server(box)
    answered = []

    async def work() -> None:
        for _ in range(runs // way.at_a_time):
            await asyncio.sleep(way.gap_s)
            answered.append(await timed(box, way.code))

    before = host(), *counted(process)
    await asyncio.gather(*(work() for _ in range(way.at_a_time)))
    await asyncio.sleep(_QUIET_S)
    after = host(), *counted(process)
    of_host, of_server, of_worker = (now.since(then, len(answered)) for now, then in zip(after, before, strict=True))
    return Measured(of_host, of_server, of_worker, *(statistics.mean(each) for each in zip(*answered, strict=True)))


async def measure_beyond(box: Sandbox, code: str, without: str) -> tuple[float, float]:
    """Return the milliseconds of host and worker that a program takes beyond the program `without`."""
    times_ms = []
    for each in (code, without):
        await asyncio.sleep(_QUIET_S)
        times_ms.append(await timed(box, each))
    (host_ms, worker_ms), (host_without_ms, worker_without_ms) = times_ms
    return host_ms - host_without_ms, worker_ms - worker_without_ms


def memory(process: int) -> Memory:
    """Return the memory of a process, by proc_pid_smaps(5)."""
    rollup = Path(f"/proc/{process}/smaps_rollup").read_text()
    share, *own = (kib(rollup, name) / 1024 for name in ("Pss", "Private_Clean", "Private_Dirty"))
    mappings = re.split(r"\n(?=[0-9a-f]+-[0-9a-f]+ )", Path(f"/proc/{process}/smaps").read_text())
    heap = re.compile(r"\S+ rw-p \S+ \S+ \S+ *(\[heap\]|/memfd:heap.*|)\n")
    pages = sum(kib(mapping, "Rss") for mapping in mappings if heap.match(mapping)) / _PAGE_KIB
    return Memory(sum(own), share, pages)


def kib(text: str, name: str) -> int:
    match = re.search(rf"^{name}:\s+(\d+) kB", text, re.M)
    assert match is not None
    return int(match[1])


def host() -> Spent:
    """Return the cost of this process so far."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return Spent(used.ru_utime * 1000, used.ru_stime * 1000, used.ru_minflt)


def counted(process: int) -> tuple[Spent, Spent]:
    """Return the cost of a process and of its ended children so far, by proc_pid_stat(5)."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    faults, of_children = int(fields[7]), int(fields[8])
    user, system, user_of_children, system_of_children = (int(field) / _TICKS * 1000 for field in fields[11:15])
    return Spent(user, system, faults), Spent(user_of_children, system_of_children, of_children)


def server(box: Any) -> int:
    """Return the id of the fork server: process 1 of its namespace, if it has one."""
    started: int = box._server._process.pid
    for child in Path(f"/proc/{started}/task/{started}/children").read_text().split():
        if re.search(r"^NSpid:.*\t1$", Path(f"/proc/{child}/status").read_text(), re.M):
            return int(child)
    return started


async def measure_all(rounds: int, runs: int) -> Iterator[str]:
    """Measure each load in each round. Return the lines of a report in Markdown."""
    measured: dict[str, list[Measured]] = {name: [] for name in WAYS}
    beyond: dict[str, list[tuple[float, float]]] = {name: [] for name in PROGRAMS}
    waiting = []
    for _ in range(rounds):
        for name, way in WAYS.items():
            async with Sandbox(workers=way.workers) as box:
                for _ in range(_WARM_UP):
                    await timed(box, way.code)
                await asyncio.sleep(_QUIET_S)
                measured[name].append(await measure(box, way, runs))
                if way.gap_s and way.code == NOTHING:
                    for program, (code, without, *_) in PROGRAMS.items():
                        beyond[program] += [await measure_beyond(box, code, without) for _ in range(_TIMES)]
                    waiting += await hold(box)
    return lines(measured, beyond, waiting)


async def hold(box: Any) -> list[Memory]:
    """Return the memory of each waiting worker, or nothing unless this process runs as root."""
    await asyncio.sleep(_QUIET_S)
    return [memory(worker._process) for worker in box._pool._idle if not os.geteuid()]


def lines(
    measured: dict[str, list[Measured]], beyond: dict[str, list[tuple[float, float]]], waiting: list[Memory]
) -> Iterator[str]:
    yield "| run | host | fork server | faults | worker | faults | in all | until answered: host | worker |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for name, of_rounds in measured.items():
        yield f"| {name} | {' | '.join(cells(of_rounds, is_alone=WAYS[name].at_a_time == 1))} |"
    yield ""
    for name, samples in beyond.items():
        *_, count, unit, scale = PROGRAMS[name]
        of_host, of_worker = (each / count * scale for each in medians(samples))
        yield f"{name}: host {of_host:.0f} {unit}, worker {of_worker:.0f} {unit}"
    if waiting:
        text = "a waiting worker: {:.1f} MiB of its own, {:.1f} as a proportional share, {:,.0f} pages of heap"
        yield text.format(*medians(waiting))


def cells(of_rounds: list[Measured], *, is_alone: bool) -> Iterator[str]:
    yield times(each.host for each in of_rounds)
    for process in ([each.server for each in of_rounds], [each.worker for each in of_rounds]):
        yield times(process)
        yield f"{statistics.median(each.faults for each in process):.0f}"
    in_all = [sum(each.user_ms + each.system_ms for each in measured[:3]) for measured in of_rounds]
    yield f"{statistics.median(in_all):.2f}"
    yield f"{statistics.median(each.host_answered for each in of_rounds):.2f}" if is_alone else ""
    yield f"{statistics.median(each.worker_answered for each in of_rounds):.2f}"


def times(spent: Iterable[Spent]) -> str:
    return "{:.2f} + {:.2f}".format(*medians(spent))


def medians(rows: Iterable[tuple[float, ...]]) -> list[float]:
    """Return the median of each column."""
    return [statistics.median(column) for column in zip(*rows, strict=True)]


def main() -> None:
    """Read the command line, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    print(f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, Python {sys.version.split()[0]}, {Path(sandbox.__file__).parent}")
    print(f"ms of user + system time and faults per run, medians of {options.rounds} rounds of {options.runs} runs\n")
    print("\n".join(asyncio.run(measure_all(options.rounds, options.runs))))


if __name__ == "__main__":
    main()
