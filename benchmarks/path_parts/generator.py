"""The load generator, on plain sockets and epoll.

Generator and server share the machine, so a slow generator would measure itself. This one takes about 25 µs a request.
It speaks just enough HTTP to read answers with a Content-Length.
"""

from __future__ import annotations

import random
import select
import socket
import time
from collections import deque
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

CONNECTIONS = 256  # of the open loop; further requests wait in the generator, which counts as latency
_LARGEST = 1 << 16

#: Seconds that a rejected client of a closed loop waits.
REST_S = 1.0


@dataclass
class Seen:
    """The result of one step. `latencies` are those of answers with 200, in seconds.

    An answer without the expected text counts under the status 0.
    """

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
        """Answers with 200 per second."""
        return len(self.latencies) / self.seconds

    def percentile(self, share: float) -> float:
        """Return a quantile of the latencies in milliseconds. `share` is between 0 and 1."""
        ranked = sorted(self.latencies)
        return 1000 * ranked[min(int(len(ranked) * share), len(ranked) - 1)] if ranked else float("nan")


class _Connection:
    """A persistent connection with one request at a time. `due` is the time at which that had to be sent."""

    def __init__(self, port: int, request: bytes, expected: bytes) -> None:
        self.due = 0.0
        self.rests_until = 0.0
        self.is_busy = False
        self.socket: socket.socket | None = None
        self._port = port
        self._request = request
        self._expected = expected
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

    def status(self) -> int | None:
        """Receive, and return the status of the answer, 0 for a wrong one, or None while it is incomplete."""
        assert self.socket is not None
        received = self.socket.recv(_LARGEST)
        if not received:
            self.close()
            if self.is_busy:
                message = "the server closed the connection"
                raise ConnectionError(message)
            return None
        self._answer += received
        head, _, body = self._answer.partition(b"\r\n\r\n")
        length = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
        if not length or len(body) < int(length):
            return None
        self._answer = b""
        self.is_busy = False
        status = int(head[9:12])
        return 0 if status == HTTPStatus.OK and self._expected not in body else status

    def close(self) -> None:
        if self.socket is not None:
            self.socket.close()
            self.socket = None


class Generator:
    """At most `connections` connections to servers on `ports`. Ports and `requests` are assigned in turn.

    Every answer with status 200 must contain the text `expected`.
    """

    def __init__(
        self, ports: Sequence[int], requests: Sequence[bytes], connections: int, *, expected: bytes = b""
    ) -> None:
        self._idle = deque(
            _Connection(ports[number % len(ports)], requests[number // len(ports) % len(requests)], expected)
            for number in range(connections)
        )
        self._all = tuple(self._idle)
        self._open: dict[int, _Connection] = {}
        self._busy = 0
        self._epoll = select.epoll()

    def start(self) -> None:
        """Send one request on every connection, without waiting for answers."""
        while self._idle:
            self._send(self._idle.pop(), time.perf_counter())

    def closed(self, seconds: float) -> Seen:
        """Run a closed loop: each connection sends a request when the previous one is answered.

        A client with status 429 waits a second, as `Retry-After` asks.
        """
        seen = Seen()
        started = time.perf_counter()
        while self._busy or time.perf_counter() < started + seconds:
            while self._idle and self._idle[0].rests_until <= time.perf_counter() < started + seconds:
                self._send(self._idle.popleft(), time.perf_counter())
                seen.offered += 1
            self._receive(seen, 0.05)
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
                self._send(self._idle.popleft(), started + waiting.popleft())
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
            status = connection.status()  # None also for an idle connection that was closed; it is reopened on use
            if status is not None:
                seen.take(status, time.perf_counter() - connection.due)
                self._busy -= 1
                if status == HTTPStatus.TOO_MANY_REQUESTS:
                    connection.rests_until = time.perf_counter() + REST_S
                    self._idle.append(connection)
                else:
                    self._idle.appendleft(connection)


def _arrivals(rate: float, seconds: float) -> Iterator[float]:
    chance = random.Random(7)  # noqa: S311 -- arrivals, not secrets
    at = chance.expovariate(rate)
    while at < seconds:
        yield at
        at += chance.expovariate(rate)
