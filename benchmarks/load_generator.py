"""The load generator of `benchmarks.load`, on plain sockets and epoll.

Generator and server share the machine, so a slow generator would measure itself. This one takes about 25 µs a request.
It speaks just enough HTTP to read the answers of this server.
"""

from __future__ import annotations

import random
import select
import socket
import time
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

CONNECTIONS = 256  # of the open loop; further requests wait in the generator, which counts as latency
_LARGEST = 1 << 16


@dataclass
class Seen:
    """The result of one step. `latencies` are those of answers with 200, in seconds.

    `server_s` and `workers_s` are the processor time of the server and of the workers.
    """

    offered: int = 0
    statuses: dict[int, int] = field(default_factory=dict)
    latencies: list[float] = field(default_factory=list)
    seconds: float = 0.0
    server_s: float = 0.0
    workers_s: float = 0.0

    def take(self, status: int, latency: float) -> None:
        """Count one answer."""
        self.statuses[status] = self.statuses.get(status, 0) + 1
        if status == 200:
            self.latencies.append(latency)

    @property
    def goodput(self) -> float:
        """Answers with 200 per second."""
        return len(self.latencies) / self.seconds

    @property
    def economy(self) -> float:
        """Answers with 200 per second of processor time."""
        return len(self.latencies) / (self.server_s + self.workers_s)

    def percentile(self, share: float) -> float:
        """Return a quantile of the latencies in milliseconds. `share` is between 0 and 1."""
        ranked = sorted(self.latencies)
        return 1000 * ranked[min(int(len(ranked) * share), len(ranked) - 1)] if ranked else float("nan")


class _Connection:
    """A persistent connection with one request at a time. `due` is the time at which that had to be sent."""

    def __init__(self, port: int, request: bytes) -> None:
        self.due = 0.0
        self.is_busy = False
        self.socket: socket.socket | None = None
        self._port = port
        self._request = request
        self._answer = b""

    def open(self) -> socket.socket:
        self.socket = socket.create_connection(("127.0.0.1", self._port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return self.socket

    def send(self, due: float) -> None:
        assert self.socket is not None
        self.due = due
        self.is_busy = True
        self.socket.sendall(self._request)

    def status(self) -> int:
        """Receive, and return the status of the answer, or 0 while the answer is incomplete."""
        assert self.socket is not None
        received = self.socket.recv(_LARGEST)
        if not received:
            self.close()
            if self.is_busy:
                message = "the server closed the connection"
                raise ConnectionError(message)
            return 0
        self._answer += received
        head, _, body = self._answer.partition(b"\r\n\r\n")
        length = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
        if not length or len(body) < int(length):
            return 0
        self._answer = b""
        self.is_busy = False
        return int(head[9:12])

    def close(self) -> None:
        if self.socket is not None:
            self.socket.close()
            self.socket = None


class Generator:
    """At most `connections` connections to one server. Each sends one of `requests`, assigned in turn."""

    def __init__(self, port: int, requests: Sequence[bytes], connections: int) -> None:
        self._idle = [_Connection(port, requests[number % len(requests)]) for number in range(connections)]
        self._all = tuple(self._idle)
        self._open: dict[int, _Connection] = {}
        self._busy = 0
        self._epoll = select.epoll()

    def start(self) -> None:
        """Send one request on every connection, without waiting for answers."""
        while self._idle:
            self._send(self._idle.pop(), time.perf_counter())

    def closed(self, seconds: float) -> Seen:
        """Run a closed loop: each connection sends a request when the previous one is answered."""
        seen = Seen()
        started = time.perf_counter()
        while self._idle or self._busy:
            while self._idle and time.perf_counter() < started + seconds:
                self._send(self._idle.pop(), time.perf_counter())
                seen.offered += 1
            if not self._busy:
                break
            self._receive(seen, -1)
        seen.seconds = time.perf_counter() - started
        return seen

    def opened(self, rate: float, seconds: float) -> Seen:
        """Run an open loop: Poisson arrivals with a fixed seed, `rate` per second on average."""
        seen = Seen(seconds=seconds)
        started = time.perf_counter()
        coming = _arrivals(rate, seconds)
        due = next(coming, None)
        waiting: deque[float] = deque()
        while due is not None or waiting or self._busy:
            now = time.perf_counter() - started
            while due is not None and due <= now:
                waiting.append(due)
                seen.offered += 1
                due = next(coming, None)
            while waiting and self._idle:
                self._send(self._idle.pop(), started + waiting.popleft())
            self._receive(seen, -1 if due is None else max(due - now, 0))
        return seen

    def close(self) -> None:
        """Close all connections."""
        for connection in self._all:
            connection.close()
        self._epoll.close()

    def _send(self, connection: _Connection, due: float) -> None:
        if connection.socket is None:
            opened = connection.open()
            self._open[opened.fileno()] = connection
            self._epoll.register(opened, select.EPOLLIN)
        self._busy += 1
        connection.send(due)

    def _receive(self, seen: Seen, wait_s: float) -> None:
        for number, _ in self._epoll.poll(wait_s):
            connection = self._open[number]
            status = connection.status()  # 0 also for an idle connection that the server closed; it is reopened on use
            if status:
                seen.take(status, time.perf_counter() - connection.due)
                self._busy -= 1
                self._idle.append(connection)


def _arrivals(rate: float, seconds: float) -> Iterator[float]:
    chance = random.Random(7)  # noqa: S311 -- arrivals, not secrets
    at = chance.expovariate(rate)
    while at < seconds:
        yield at
        at += chance.expovariate(rate)
