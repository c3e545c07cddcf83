"""The path of a call, from the request to the outcome: `codemode serve` over HTTP, beside its peers.

    python -m benchmarks.path [--rounds 3] [--seconds 2] [--postgres] [--stages] [--goals]

Each program runs against a service that answers in 5 ms, for 1 and for 16 clients in a closed loop. Servers take turns
within a round, and medians over rounds are printed: programs per second, latency, and processor time per program with
16 clients. Peers, all with the same programs and the same service: FastMCP's code mode behind its HTTP server, FastAPI
routes that make the calls with httpx2 and with aiohttp (the floor), and pydantic-ai's code mode, which has no server of
its own, in a FastAPI route.

`--stages` prints only the table of stages: where the processor time of the server goes, by counters in a server of its
own and by py-spy (install it, run as root). `--goals` skips servers that no goal needs. `--postgres` adds a PostgreSQL
cluster of its own.

Exits with 1 if a peer did not run, if an answer was wrong, or if PostgreSQL is asked for and missing. A missed goal is
printed and changes no exit code.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections import defaultdict
from contextlib import ExitStack, closing
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import reduce
from statistics import median
from typing import TYPE_CHECKING

from benchmarks.path_parts import processes
from benchmarks.path_parts.generator import Generator, Seen
from benchmarks.path_parts.goals import print_goals
from benchmarks.path_parts.overload import measure_overload, print_rejection
from benchmarks.path_parts.processes import Server, Spent
from benchmarks.path_parts.profile import print_profile
from benchmarks.path_parts.programs import FIVE, OF_PEERS, PROGRAMS, Asked, Program, of_codemode

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

#: Numbers of clients.
FEW, MANY = 1, 16

WARM_UP_S = 0.5

#: Servers without goals, which `--goals` skips.
BESIDES = ("floor_aiohttp", "pydantic_ai")


@dataclass(frozen=True, slots=True)
class Subject:
    """What is measured: one or more server processes, and how they are asked for a program."""

    name: str
    servers: tuple[Server, ...]
    asked: Callable[[Program], Asked]


@dataclass(frozen=True, slots=True)
class Cell:
    """The result of one program with one number of clients. Processor time is in milliseconds per program."""

    per_second: float
    p50_ms: float
    p99_ms: float
    rejected: float
    server_ms: float
    fork_server_ms: float
    workers_ms: float


#: Results of all rounds, by subject, program and number of clients.
Results = dict[tuple[str, str, int], list[Cell]]


def measure(subject: Subject, program: Program, clients: int, seconds: float) -> Cell:
    """Run a closed loop. Raises RuntimeError for a wrong answer."""
    asked = subject.asked(program)
    ports = [server.port for server in subject.servers]
    with closing(Generator(ports, asked.requests, clients, expected=asked.expected)) as generator:
        generator.closed(WARM_UP_S)
        before = _spent(subject.servers)
        seen = generator.closed(seconds)
        spent = _spent(subject.servers).since(before)
    wrong = {status: count for status, count in seen.statuses.items() if status not in (200, 429)}
    if wrong or not seen.latencies:
        message = f"{subject.name}, {program.name}: wrong answers, by status (0: another value): {wrong}"
        raise RuntimeError(message)
    each = (1000 * seconds / len(seen.latencies) for seconds in spent)
    return Cell(seen.goodput, seen.percentile(0.5), seen.percentile(0.99), _rejected(seen), *each)


def _spent(servers: Sequence[Server]) -> Spent:
    return reduce(Spent.plus, (server.spent() for server in servers))


def _rejected(seen: Seen) -> float:
    return seen.statuses.get(429, 0) / sum(seen.statuses.values())


def run_rounds(subjects: Sequence[Subject], rounds: int, seconds: float) -> Results:
    """Measure all subjects in turns."""
    results: Results = defaultdict(list)
    for _ in range(rounds):
        for program in PROGRAMS:
            for clients in (FEW, MANY):
                for subject in subjects:
                    cell = measure(subject, program, clients, seconds)
                    results[subject.name, program.name, clients].append(cell)
    return results


def medians(results: Results) -> dict[tuple[str, str, int], Cell]:
    """Return the median of each column over the rounds."""
    names = Cell.__slots__
    return {
        key: Cell(*(median(getattr(cell, name) for cell in cells) for name in names)) for key, cells in results.items()
    }


def print_table(table: Mapping[tuple[str, str, int], Cell]) -> None:
    """Print a line for each program and subject."""
    head = (
        f"{'':29}|{'1 client: /s':>13}{'p50 ms':>8}{'p99':>7} |{'16 clients: /s':>15}{'p50 ms':>8}{'p99':>7}{'429':>6}"
    )
    print(f"\n{head} |{'server ms':>10}{'fork':>6}{'workers':>8}")
    for program in PROGRAMS:
        for subject in dict.fromkeys(name for name, *_ in table):
            few, many = table[subject, program.name, FEW], table[subject, program.name, MANY]
            print(
                f"{program.name:12}{subject:17}|{few.per_second:13.1f}{few.p50_ms:8.1f}{few.p99_ms:7.1f} |"
                f"{many.per_second:15.1f}{many.p50_ms:8.1f}{many.p99_ms:7.1f}{many.rejected:6.0%} |"
                f"{many.server_ms:10.2f}{many.fork_server_ms:6.2f}{many.workers_ms:8.2f}"
            )


def started(url: str, stack: ExitStack, options: argparse.Namespace) -> tuple[list[Subject], list[str]]:
    """Start all servers. Return them, and the peers that did not start."""
    shared = stack.enter_context(tempfile.TemporaryDirectory())
    servers = {"codemode sqlite": [("sqlite", "")], "codemode none": [("none", "")]}
    servers["2 processes"] = [("sqlite", shared), ("sqlite", shared)]
    if options.postgres:
        from tests.postgres import cluster

        servers["codemode postgres"] = [(stack.enter_context(cluster(fsync=True)), "")]
    subjects = []
    for name, those in servers.items():
        running = (stack.enter_context(processes.codemode(url, journal, folder=folder)) for journal, folder in those)
        subjects.append(Subject(name, tuple(running), of_codemode))
    missing = []
    for name, asked in OF_PEERS.items():
        if options.goals and name in BESIDES:
            continue
        try:
            subject = Subject(name, (stack.enter_context(processes.peer(name, url)),), asked)
            measure(subject, FIVE, FEW, WARM_UP_S)
        except Exception as error:  # noqa: BLE001 -- any failure of a peer is reported
            missing.append(f"{name} did not run: {error}")
        else:
            subjects.append(subject)
    return subjects, missing


def main() -> None:
    """Read the command line and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--postgres", action="store_true")
    parser.add_argument("--stages", action="store_true")
    parser.add_argument("--goals", action="store_true")
    options = parser.parse_args()
    load = " ".join(f"{average:.1f}" for average in os.getloadavg())
    print(
        f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, Python {sys.version.split()[0]}, {os.cpu_count()} processors, "
        f"load average before {load}"
    )
    sys.exit(0 if run(options) else 1)


def run(options: argparse.Namespace) -> bool:
    """Measure, and print. Return whether everything ran."""
    with processes.upstream() as url:
        if options.stages:
            print_profile(url, options.seconds * options.rounds)
            return True
        with ExitStack() as stack:
            subjects, missing = started(url, stack, options)
            if missing:
                print("\n".join(missing))
                return False
            table = medians(run_rounds(subjects, options.rounds, options.seconds))
            print_table(table)
        overload = measure_overload(url, options.rounds, options.seconds)
        print_rejection(url, options.seconds)
        print_goals(table, overload)
        if not options.goals:
            print_profile(url, options.seconds)
    return True


if __name__ == "__main__":
    main()
