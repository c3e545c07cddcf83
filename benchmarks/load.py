"""Load: throughput and latency of `codemode serve` on loopback, up to twice saturation.

    python -m benchmarks.load [--seconds 3] [--rounds 5]

The first part measures the processor time of one execution and of one rejected request. The server then runs one
program at a time and has no queue. These figures also hold on a busy machine.

The second part is a closed loop: clients send a request when the previous one is answered. The highest throughput over
the number of clients is the peak.

The third part is an open loop with Poisson arrivals (fixed seed) at fractions and multiples of the peak. Latency counts
from the due time of a request, which avoids coordinated omission. As server and generator share the machine, each round
runs between two measurements of the peak, and medians of ratios are reported. The columns `server` and `workers` are
shares of one processor.

Exits with 1 if a goal is missed: goodput at twice the peak is at least 90 % of it, and p99 of admitted requests is at
most 3 times that at half load.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from importlib.resources import files
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from benchmarks.load_generator import CONNECTIONS, Generator, Seen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

KEYS = ("one", "two")
PROGRAM = "sum(n * n for n in range(100))"
OPEN_LOADS = (0.5, 0.8, 1.0, 1.5, 2.0)
CLOSED_CLIENTS = (1, 2, 4, 8, 16)
WARM_UP_S = 2.0
COUNTED_S = 2.0  # duration of the first part's measurements
REFUSED_PER_S = 400


def _request(key: str, program: str) -> bytes:
    body = json.dumps({"code": program})
    head = f"POST /v1/execute HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {key}\r\n"
    return f"{head}Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()


REQUESTS = tuple(_request(key, PROGRAM) for key in KEYS)


def closed(port: int, clients: int, seconds: float) -> Seen:
    """Run a closed loop of `clients`."""
    with closing(Generator(port, REQUESTS, clients)) as generator:
        return generator.closed(seconds)


def opened(port: int, rate: float, seconds: float) -> Seen:
    """Run an open loop with an average of `rate` requests per second."""
    with closing(Generator(port, REQUESTS, CONNECTIONS)) as generator:
        return generator.opened(rate, seconds)


@dataclass(frozen=True)
class Server:
    """A process of `codemode serve`."""

    port: int
    process: int

    def cpu_s(self) -> tuple[float, float]:
        """Return the processor time so far in seconds: of the server, and of the fork server with all workers."""
        return _own_cpu_s(self.process), sum(map(_whole_cpu_s, _children(self.process)))


def _children(process: int) -> list[int]:
    return [*map(int, Path(f"/proc/{process}/task/{process}/children").read_text(encoding="ascii").split())]


def _times_s(process: int) -> list[float]:
    """Return user and system time of a process, and of its ended children: proc_pid_stat(5)."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return [int(field) / os.sysconf("SC_CLK_TCK") for field in fields[11:15]]


def _own_cpu_s(process: int) -> float:
    return sum(_times_s(process)[:2])


def _whole_cpu_s(process: int) -> float:
    try:
        return sum(_times_s(process)) + sum(map(_whole_cpu_s, _children(process)))
    except OSError:
        return 0.0  # the process has ended, and its parent counts its time


@contextmanager
def serving(port: int, load: str = "{}") -> Iterator[Server]:
    """Run `codemode serve` with the gym's document, whose service is never called."""
    with tempfile.TemporaryDirectory() as folder:
        document = files("api_specs.gym") / "openapi.yaml"
        keys = "\n".join(f"    - {{env: KEY_{key.upper()}}}" for key in KEYS)
        text = f"sources:\n  gym: {{location: '{document}', base_url: 'http://127.0.0.1:9'}}\n"
        text += f"server:\n  port: {port}\n  load: {load}\n  keys:\n{keys}\n"
        text += f"state_folder: {folder}/state\ncache_folder: {folder}/cache\n"
        Path(folder, "codemode.yaml").write_text(text, encoding="utf-8")
        command = [str(Path(sys.executable).parent / "codemode"), "serve"]
        environment = {"PATH": os.environ["PATH"], "HOME": folder, **{f"KEY_{key.upper()}": key for key in KEYS}}  # noqa: TID251
        log = Path(folder, "log")
        with log.open("w") as errors, subprocess.Popen(command, cwd=folder, env=environment, stderr=errors) as process:
            while "http://" not in log.read_text(encoding="utf-8"):
                assert process.poll() is None, log.read_text(encoding="utf-8")
                time.sleep(0.1)
            try:
                taken = log.read_text(encoding="utf-8").partition("http://127.0.0.1:")[2].split()[0]
                yield Server(int(taken), process.pid)
            finally:
                process.send_signal(signal.SIGTERM)
                process.wait(timeout=60)


def watched(server: Server, ask: Callable[[], Seen]) -> Seen:
    """Run one step and add its processor time to the result."""
    own, workers = server.cpu_s()
    seen = ask()
    seen.server_s, seen.workers_s = (
        after - before for before, after in zip((own, workers), server.cpu_s(), strict=True)
    )
    return seen


def row(name: str, seen: Seen) -> None:
    """Print the result of one step."""
    others = ", ".join(f"{count} x {status}" for status, count in sorted(seen.statuses.items()) if status != 200)
    print(
        f"{name:22} {seen.offered / seen.seconds:9.1f} {seen.goodput:9.1f} {seen.percentile(0.5):9.1f} "
        f"{seen.percentile(0.99):9.1f} {seen.server_s / seen.seconds:7.0%} {seen.workers_s / seen.seconds:7.0%}"
        f"   {others}",
        flush=True,
    )


def measure(server: Server, seconds: float, rounds: int) -> bool:
    """Print the table. Return whether the goals are met."""
    port = server.port
    print(f"{'':22} {'offered/s':>9} {'goodput/s':>9} {'p50 ms':>9} {'p99 ms':>9} {'server':>7} {'workers':>7}")
    closed(port, 4, WARM_UP_S)
    by_clients = {}
    for clients in CLOSED_CLIENTS:
        by_clients[clients] = watched(server, partial(closed, port, clients, seconds))
        row(f"closed, {clients} clients", by_clients[clients])
    best = max(by_clients, key=lambda clients: by_clients[clients].goodput)
    kept, economy, slower = [], [], []
    for number in range(1, rounds + 1):
        by_load: dict[float, Seen] = {}
        before = watched(server, partial(closed, port, best, seconds))
        for load in OPEN_LOADS if number == 1 else (0.5, 2.0):
            rate = before.goodput * load
            opened(port, rate, WARM_UP_S)
            by_load[load] = watched(server, partial(opened, port, rate, seconds))
            row(f"open, {load:g} x {before.goodput:.0f}/s, {number}", by_load[load])
        after = watched(server, partial(closed, port, best, seconds))
        kept.append(2 * by_load[2.0].goodput / (before.goodput + after.goodput))
        economy.append(2 * by_load[2.0].economy / (before.economy + after.economy))
        slower.append(by_load[2.0].percentile(0.99) / by_load[0.5].percentile(0.99))
    print(f"goodput at twice the peak: {median(kept):.0%} of the peak before and after it (goal: 90 %)")
    print(f"the same per second of processor time of server and workers: {median(economy):.0%}")
    print(f"p99 of admitted requests, twice the peak against half: {median(slower):.1f} x (goal: 3 x)")
    return median(kept) >= 0.9 and median(slower) <= 3


def count(server: Server) -> None:
    """Print the processor time of one execution and of one rejected request."""
    closed(server.port, 1, WARM_UP_S)
    seen = watched(server, partial(closed, server.port, 1, COUNTED_S))
    own, workers = (1000 * each / len(seen.latencies) for each in (seen.server_s, seen.workers_s))
    print(f"one execution: {own:.2f} ms of the server, {workers:.2f} ms of workers")
    long = _request(KEYS[0], f"import time\ntime.sleep({2 * COUNTED_S + WARM_UP_S})")
    with closing(Generator(server.port, (long,), 1)) as holding:
        holding.start()
        opened(server.port, 100, 1)
        refused = watched(server, partial(opened, server.port, REFUSED_PER_S, COUNTED_S))
    print(f"one rejected request: {1000 * refused.server_s / refused.statuses[429]:.2f} ms of the server")


def main() -> None:
    """Read the command line and measure."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--port", type=int, default=0)
    options = parser.parse_args()
    load = " ".join(f"{average:.2f}" for average in os.getloadavg())
    print(
        f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, Python {sys.version.split()[0]}, {os.cpu_count()} processors, "
        f"load average before {load}"
    )
    with serving(0, "{running: 1, waiting: 0}") as server:
        count(server)
    with serving(options.port) as server:
        is_met = measure(server, options.seconds, options.rounds)
    sys.exit(0 if is_met else 1)


if __name__ == "__main__":
    main()
