"""`codemode serve` under load on loopback: throughput and latency against offered load, up to twice saturation.

    python -m benchmarks.load [--seconds 3] [--rounds 5]

Closed loop first: as many clients as it takes to saturate, each asking again when it was answered; the best throughput
is the peak. Then open loop: requests come at random times whatever becomes of those before (Poisson arrivals, the same
seed each time), at parts and multiples of the peak. Latency counts from the time at which a request was due, so that
waiting in the client is not left out (coordinated omission). Server and client share the machine, with whatever else
runs on it: so the open loop is measured in rounds, each between two peaks, and the medians of the ratios count.

Exits with 1 where the goals are missed: goodput at twice the peak within 10 % of it, p99 of what is admitted within 3 x
of that at half load.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

KEYS = ("one", "two")
PROGRAM = "sum(n * n for n in range(100))"
BODY = b'{"code": "' + PROGRAM.encode() + b'"}'
OPEN_LOADS = (0.5, 0.8, 1.0, 1.5, 2.0)
CLOSED_CLIENTS = (1, 2, 4, 8, 16)
CONNECTIONS = 256  # of the open loop; more requests wait in the client, and their wait counts
WARM_UP_S = 2.0


@dataclass
class Seen:
    """What became of the requests of one step. Latencies in seconds, of those answered with 200."""

    offered: int = 0
    statuses: dict[int, int] = field(default_factory=dict)
    latencies: list[float] = field(default_factory=list)
    seconds: float = 0.0

    def take(self, status: int, latency: float) -> None:
        """Count one answer."""
        self.statuses[status] = self.statuses.get(status, 0) + 1
        if status == 200:
            self.latencies.append(latency)

    @property
    def goodput(self) -> float:
        """Answers with 200 in a second."""
        return len(self.latencies) / self.seconds

    def percentile(self, share: float) -> float:
        """A percentile of the latencies, in milliseconds."""
        ranked = sorted(self.latencies)
        return 1000 * ranked[min(int(len(ranked) * share), len(ranked) - 1)] if ranked else float("nan")

    def line(self, name: str) -> str:
        """One row of the table."""
        others = ", ".join(f"{count} x {status}" for status, count in sorted(self.statuses.items()) if status != 200)
        return (
            f"{name:22} {self.offered / self.seconds:9.1f} {self.goodput:9.1f} "
            f"{self.percentile(0.5):9.1f} {self.percentile(0.99):9.1f}   {others}"
        )


class Client:
    """One connection that is kept, over which requests go one after another."""

    def __init__(self, port: int, key: str) -> None:
        self._port = port
        head = f"POST /v1/execute HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {key}\r\n"
        head += f"Content-Type: application/json\r\nContent-Length: {len(BODY)}\r\n\r\n"
        self._request = head.encode() + BODY
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self) -> int:
        """Send one request; returns the status."""
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._port)
        reader, writer = self._streams
        writer.write(self._request)
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
        await reader.readexactly(length)
        return int(head.split()[1])

    def close(self) -> None:
        """Hang up."""
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


async def closed(port: int, clients: int, seconds: float) -> Seen:
    """`clients` that each ask again as soon as they are answered."""
    seen = Seen()
    end = time.perf_counter() + seconds

    async def one(number: int) -> None:
        client = Client(port, KEYS[number % len(KEYS)])
        while (start := time.perf_counter()) < end:
            status = await client.ask()
            seen.offered += 1
            seen.take(status, time.perf_counter() - start)
        client.close()

    started = time.perf_counter()
    await asyncio.gather(*(one(number) for number in range(clients)))
    seen.seconds = time.perf_counter() - started
    return seen


async def opened(port: int, rate: float, seconds: float) -> Seen:
    """Requests that come when they come, `rate` in a second on average."""
    seen = Seen(seconds=seconds)
    chance = random.Random(7)  # noqa: S311 -- arrivals, not secrets
    idle = [Client(port, KEYS[number % len(KEYS)]) for number in range(CONNECTIONS)]
    free = asyncio.Semaphore(CONNECTIONS)
    tasks: set[asyncio.Task[None]] = set()

    async def one(due: float) -> None:
        async with free:
            client = idle.pop()
            status = await client.ask()
            seen.take(status, time.perf_counter() - due)
            idle.append(client)

    due = time.perf_counter()
    end = due + seconds
    while due < end:
        wait = due - time.perf_counter()
        if wait > 0:
            await asyncio.sleep(wait)
        seen.offered += 1
        task = asyncio.create_task(one(due))
        tasks.add(task)
        task.add_done_callback(tasks.discard)
        due += chance.expovariate(rate)
    await asyncio.gather(*tasks)
    for client in idle:
        client.close()
    return seen


@contextmanager
def serving(port: int) -> Iterator[int]:
    """`codemode serve` with the gym's document, which nothing calls; its port."""
    with tempfile.TemporaryDirectory() as folder:
        document = files("api_specs.gym") / "openapi.yaml"
        keys = "\n".join(f"    - {{env: KEY_{key.upper()}}}" for key in KEYS)
        text = f"sources:\n  gym: {{location: '{document}', base_url: 'http://127.0.0.1:9'}}\n"
        text += (
            f"server:\n  port: {port}\n  keys:\n{keys}\nstate_folder: {folder}/state\ncache_folder: {folder}/cache\n"
        )
        Path(folder, "codemode.yaml").write_text(text, encoding="utf-8")
        command = [str(Path(sys.executable).parent / "codemode"), "serve"]
        environment = {"PATH": os.environ["PATH"], "HOME": folder, **{f"KEY_{key.upper()}": key for key in KEYS}}  # noqa: TID251
        log = Path(folder, "log")
        with log.open("w") as errors, subprocess.Popen(command, cwd=folder, env=environment, stderr=errors) as process:
            while "http://" not in log.read_text(encoding="utf-8"):
                assert process.poll() is None, log.read_text(encoding="utf-8")
                time.sleep(0.1)
            try:
                yield int(log.read_text(encoding="utf-8").partition("http://127.0.0.1:")[2].split()[0])
            finally:
                process.send_signal(signal.SIGTERM)
                process.wait(timeout=60)


async def measure(port: int, seconds: float, rounds: int) -> bool:
    """Print the table; returns whether the goals are met."""
    print(f"{'':22} {'offered/s':>9} {'goodput/s':>9} {'p50 ms':>9} {'p99 ms':>9}")
    await closed(port, 4, WARM_UP_S)
    by_clients: dict[int, Seen] = {}
    for clients in CLOSED_CLIENTS:
        by_clients[clients] = await closed(port, clients, seconds)
        print(by_clients[clients].line(f"closed, {clients} clients"), flush=True)
    best = max(by_clients, key=lambda clients: by_clients[clients].goodput)
    kept, slower = [], []
    for number in range(1, rounds + 1):
        found: dict[float, Seen] = {}
        before = (await closed(port, best, seconds)).goodput
        for load in OPEN_LOADS if number == 1 else (0.5, 2.0):
            await opened(port, before * load, WARM_UP_S)
            found[load] = await opened(port, before * load, seconds)
            print(found[load].line(f"open, {load:g} x {before:.0f}/s, {number}"), flush=True)
        after = (await closed(port, best, seconds)).goodput
        kept.append(found[2.0].goodput / ((before + after) / 2))
        slower.append(found[2.0].percentile(0.99) / found[0.5].percentile(0.99))
    print(f"goodput at twice the peak: {statistics.median(kept):.0%} of the peak before and after it (goal: 90 %)")
    print(f"p99 of what is admitted, at twice the peak against half: {statistics.median(slower):.1f} x (goal: 3 x)")
    return statistics.median(kept) >= 0.9 and statistics.median(slower) <= 3


def main() -> None:
    """Read the command line and measure."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--port", type=int, default=0)
    given = parser.parse_args()
    print(f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, Python {sys.version.split()[0]}, {os.cpu_count()} processors")
    with serving(given.port) as port:
        sys.exit(0 if asyncio.run(measure(port, given.seconds, given.rounds)) else 1)


if __name__ == "__main__":
    main()
