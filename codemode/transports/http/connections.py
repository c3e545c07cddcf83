"""A pool of connections: those that can carry another request are used again."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codemode.transports.http.connection import ConnectTimeout

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from codemode.transports.http.addresses import Origin
    from codemode.transports.http.connection import Connection, Request

    Dial = Callable[[Origin, float | None], Awaitable[Connection]]

#: Idle connections are closed before common servers close them (uvicorn and Node.js: 5 s), so that few are stale.
KEEPALIVE_S = 4.5


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds to wait for a free connection, for a new one, and for the next bytes of an answer. None: no limit."""

    pool_s: float | None = None
    connect_s: float | None = None
    read_s: float | None = None


_PATIENT = Timeouts()


class ConnectionPool:
    """At most `most` connections, which `dial` opens. Each carries a request at a time."""

    def __init__(self, dial: Dial, *, most: int) -> None:
        self._dial = dial
        self._most = most
        self._turns = asyncio.Semaphore(most)
        self._active = 0
        self._open: set[Connection] = set()
        self._idle: list[Connection] = []

    async def send(self, request: Request, timeouts: Timeouts = _PATIENT) -> Response:
        """Send a request. The answer must be closed.

        Raises ConnectError, InvalidRequest, ConnectionBroken, TimeoutError (for `read_s`), AddressNotAllowed.
        """
        await self._turn(timeouts.pool_s)
        connection = None
        try:
            connection = self._reused(request.origin) or await self._opened(request.origin, timeouts.connect_s)
            answer = await connection.send(request, timeouts.read_s)
        except BaseException:
            self._drop(connection)
            self._end_turn()
            raise
        return Response(answer.status, answer.headers, connection, self, timeouts.read_s)

    async def aclose(self) -> None:
        """Close all connections."""
        closing = list(self._open)
        for connection in closing:
            self._drop(connection)
        for connection in closing:
            await connection.wait_closed()

    def give_back(self, connection: Connection) -> None:
        """Take a connection whose answer was read, or will not be."""
        if connection.is_reusable and connection in self._open:
            connection.rest(asyncio.get_running_loop().time() + KEEPALIVE_S)
            self._idle.append(connection)
        else:
            self._drop(connection)
        self._end_turn()

    async def _turn(self, timeout_s: float | None) -> None:
        if self._turns.locked():
            try:
                async with asyncio.timeout(timeout_s):
                    await self._turns.acquire()
            except TimeoutError:
                raise ConnectTimeout("no connection became free in time") from None
        else:
            await self._turns.acquire()  # at once
        self._active += 1

    def _end_turn(self) -> None:
        self._active -= 1
        self._turns.release()

    def _reused(self, origin: Origin) -> Connection | None:
        """Return the idle connection to an origin that was used last, and close those that have expired."""
        now = asyncio.get_running_loop().time()
        for connection in [one for one in self._idle if not one.is_open or one.expires <= now]:
            self._drop(connection)
        for place in reversed(range(len(self._idle))):
            if self._idle[place].origin == origin:
                return self._idle.pop(place)
        return None

    async def _opened(self, origin: Origin, timeout_s: float | None) -> Connection:
        if self._idle and self._active + len(self._idle) > self._most:
            self._drop(self._idle[0])
        connection = await self._dial(origin, timeout_s)
        self._open.add(connection)
        return connection

    def _drop(self, connection: Connection | None) -> None:
        if connection is None:
            return
        connection.close()
        self._open.discard(connection)
        if connection in self._idle:
            self._idle.remove(connection)


class Response:
    """Status, raw headers and body of an answer. `close` gives its connection back."""

    __slots__ = ("_connection", "_pool", "_read_s", "headers", "status")

    def __init__(
        self,
        status: int,
        headers: list[tuple[bytes, bytes]],
        connection: Connection,
        pool: ConnectionPool,
        read_s: float | None,
    ) -> None:
        self.status = status
        self.headers = headers
        self._connection: Connection | None = connection
        self._pool = pool
        self._read_s = read_s

    async def read(self) -> bytes:
        """Return the next part of the body, b"" at its end. Raises ConnectionBroken, TimeoutError."""
        return b"" if self._connection is None else await self._connection.read(self._read_s)

    def close(self) -> None:
        """Give the connection back. One with an unread answer is closed."""
        if self._connection is not None:
            self._pool.give_back(self._connection)
            self._connection = None
