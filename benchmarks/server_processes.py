"""Throughput of `codemode serve` by its number of processes: `python -m benchmarks.server_processes`.

    python -m benchmarks.server_processes [--rounds 3] [--seconds 3] [--clients 32] [--journal none]

The program makes five calls to a service that answers in 5 ms. Servers of one and of two processes take turns within a
round, each with a new server and new connections. The generator and the service run on the same machine. Medians over
rounds are printed: programs per second, processor time per program, and the share of the busiest server process. A
machine with c free cores runs at most c / (processor time per program) programs per second.
"""

from __future__ import annotations

import argparse
from contextlib import closing
from dataclasses import dataclass
from statistics import median

from benchmarks.path_parts import processes
from benchmarks.path_parts.generator import Generator
from benchmarks.path_parts.programs import EMPTY, FIVE, Program, of_codemode

WARM_UP_S = 1.0
COUNTS = (1, 2)
LOAD = "{running: 64, waiting: 256, wait_s: 30}"


@dataclass(frozen=True, slots=True)
class Measured:
    """One measurement. Processor time is in milliseconds per program, `busiest` between 0 and 1."""

    per_second: float
    server_ms: float
    all_ms: float
    busiest: float


def measure(url: str, count: int, program: Program, clients: int, seconds: float, journal: str) -> Measured:
    """Measure a server with `count` processes. Raises RuntimeError for a wrong answer."""
    asked = of_codemode(program)
    with (
        processes.codemode(url, journal, load=LOAD, processes=count) as server,
        closing(Generator([server.port], asked.requests, clients, expected=asked.expected)) as generator,
    ):
        servers = server.below() if count > 1 else (server,)
        generator.closed(WARM_UP_S)
        before = [each.spent() for each in servers]
        seen = generator.closed(seconds)
        spent = [each.spent().since(earlier) for each, earlier in zip(servers, before, strict=True)]
    wrong = {status: answers for status, answers in seen.statuses.items() if status not in (200, 429)}
    if wrong:
        message = f"{count} processes: wrong answers, by status (0: another value): {wrong}"
        raise RuntimeError(message)
    own_s = [each[0] for each in spent]
    each_ms = 1000 / len(seen.latencies)
    return Measured(seen.goodput, sum(own_s) * each_ms, sum(map(sum, spent)) * each_ms, max(own_s) / sum(own_s))


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--journal", default="sqlite", choices=("sqlite", "none"))
    given = parser.parse_args()
    with processes.upstream() as url:
        for program in (EMPTY, FIVE):
            rounds = [
                [measure(url, count, program, given.clients, given.seconds, given.journal) for count in COUNTS]
                for _ in range(given.rounds)
            ]
            print_program(program.name, rounds)


def print_program(name: str, rounds: list[list[Measured]]) -> None:
    """Print one line for each number of processes."""
    columns = list(zip(*rounds, strict=True))
    one = median(each.per_second for each in columns[0])
    for count, column in zip(COUNTS, columns, strict=True):
        rate, server_ms, all_ms, busiest = (
            median(getattr(each, field) for each in column) for field in Measured.__slots__
        )
        print(
            f"{name:8} {count} processes: {rate:6.1f} programs/s, {rate / one:.2f} x; {server_ms:.2f} ms in servers,"
            f" {all_ms:.2f} ms with workers; busiest {busiest:.0%}"
        )


if __name__ == "__main__":
    main()
