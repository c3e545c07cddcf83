"""Overload: goodput at twice the peak, and what a rejection costs."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from statistics import median

from benchmarks.path_parts.generator import CONNECTIONS, Generator, Seen
from benchmarks.path_parts.processes import Server, codemode
from benchmarks.path_parts.programs import EMPTY, FIVE, of_codemode

#: Numbers of clients among which the peak is looked for.
CLIENTS = (4, 8, 16, 32)

WARM_UP_S = 1.5

#: Requests per second of which nearly all are rejected.
REJECTED_PER_S = 300


def measure_overload(url: str, rounds: int, seconds: float) -> float:
    """Print goodput and latency at .5, 1 and 2 times the peak. Return goodput at twice the peak, as a share of it.

    The peak is the highest throughput of a closed loop. The open loop has Poisson arrivals, and latency counts from the
    due time of a request, which avoids coordinated omission. As server and generator share the machine, each open loop
    runs between two measurements of the peak. The median of the rounds is returned. On a busy machine, the goodput for
    each second of processor time says more; its ratio is printed, too.
    """
    with codemode(url, "sqlite") as server:
        _closed(server, 4, WARM_UP_S)
        best = max(CLIENTS, key=lambda clients: _closed(server, clients, seconds).goodput)
        print(f"\noverload, five calls, codemode sqlite; the peak has {best} clients")
        kept, economy = [], []
        for number in range(rounds):
            spent = server.spent()
            peak = _closed(server, best, seconds)
            before = peak.goodput
            per_program_s = server.spent().since(spent).in_all / len(peak.latencies)
            for load in (0.5, 1.0, 2.0) if number == 0 else (2.0,):
                _opened(server, load * before, WARM_UP_S)
                spent = server.spent()
                seen = _opened(server, load * before, seconds)
                used = server.spent().since(spent)
                print(
                    f"  {load:3g} x {before:.0f}/s: goodput {seen.goodput:.1f}/s, p50 {seen.percentile(0.5):.0f} ms, "
                    f"p99 {seen.percentile(0.99):.0f} ms, {seen.statuses.get(429, 0)} x 429, "
                    f"server {used.server_s / seen.seconds:.0%}, "
                    f"fork server and workers {(used.fork_server_s + used.workers_s) / seen.seconds:.0%} of a processor"
                )
            economy.append(per_program_s * len(seen.latencies) / used.in_all)
            kept.append(2 * seen.goodput / (before + _closed(server, best, seconds).goodput))
        print(f"  goodput for each second of processor time, twice the peak / the peak: {median(economy):.2f}")
    return median(kept)


def print_rejection(url: str, seconds: float) -> None:
    """Print the processor time of one rejected request. The server runs one program and has no queue."""
    with codemode(url, "none", load="{running: 1, waiting: 0}") as server:
        holding = replace(EMPTY, pause_s=WARM_UP_S + 2 * seconds)
        with closing(Generator([server.port], of_codemode(holding).requests[:1], 1)) as generator:
            generator.start()
            _opened(server, REJECTED_PER_S, WARM_UP_S)
            before = server.spent()
            rejected = _opened(server, REJECTED_PER_S, seconds).statuses[429]
            used_s = server.spent().since(before).server_s
    print(f"one rejected request: {1000 * used_s / rejected:.2f} ms of the server")


def _closed(server: Server, clients: int, seconds: float) -> Seen:
    asked = of_codemode(FIVE)
    with closing(Generator([server.port], asked.requests, clients, expected=asked.expected)) as generator:
        return generator.closed(seconds)


def _opened(server: Server, rate: float, seconds: float) -> Seen:
    asked = of_codemode(FIVE)
    with closing(Generator([server.port], asked.requests, CONNECTIONS, expected=asked.expected)) as generator:
        return generator.opened(rate, seconds)
