"""Throughput of `codemode serve` by its number of processes: `python -m benchmarks.server_processes`.

    python -m benchmarks.server_processes [--rounds 3] [--seconds 3] [--clients 32]

The program makes five calls to a service that answers in 5 ms. Servers of one and of two processes take turns within a
round, each with a new server and new connections. The generator and the service run on the same machine. Medians over
rounds are printed, and the ratio to one process.
"""

from __future__ import annotations

import argparse
from contextlib import closing
from statistics import median

from benchmarks.path_parts import processes
from benchmarks.path_parts.generator import Generator
from benchmarks.path_parts.programs import EMPTY, FIVE, Program, of_codemode

WARM_UP_S = 1.0
COUNTS = (1, 2)
LOAD = "{running: 64, waiting: 256, wait_s: 30}"


def measure(url: str, count: int, program: Program, clients: int, seconds: float) -> float:
    """Return programs per second of a server with `count` processes. Raises RuntimeError for a wrong answer."""
    asked = of_codemode(program)
    with (
        processes.codemode(url, "sqlite", load=LOAD, processes=count) as server,
        closing(Generator([server.port], asked.requests, clients, expected=asked.expected)) as generator,
    ):
        generator.closed(WARM_UP_S)
        seen = generator.closed(seconds)
    wrong = {status: answers for status, answers in seen.statuses.items() if status not in (200, 429)}
    if wrong:
        message = f"{count} processes: wrong answers, by status (0: another value): {wrong}"
        raise RuntimeError(message)
    return seen.goodput


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--clients", type=int, default=32)
    given = parser.parse_args()
    with processes.upstream() as url:
        for program in (EMPTY, FIVE):
            rounds = [
                [measure(url, count, program, given.clients, given.seconds) for count in COUNTS]
                for _ in range(given.rounds)
            ]
            rates = [median(column) for column in zip(*rounds, strict=True)]
            for count, rate in zip(COUNTS, rates, strict=True):
                print(f"{program.name:8} {count} processes: {rate:6.1f} programs/s, {rate / rates[0]:.2f} x")


if __name__ == "__main__":
    main()
