"""Connection reuse that rejects a connection with unread bytes after an answer.

Bytes that a service sends unasked would be read as the answer to the connection's next request, which may be another
caller's (response desynchronization). The pool and HTTP/1.1 are httpcore2's. The sockets are ours, because unread bytes
must be visible in the parser, behind TLS, and here.
"""

from __future__ import annotations

import asyncio
import os
from functools import partial
from typing import TYPE_CHECKING, Any

import httpcore2

if TYPE_CHECKING:
    import ssl
    from collections.abc import Iterable

#: Idle connections are closed before common servers close them (uvicorn and Node.js: 5 s), so that few are stale.
KEEPALIVE_S = 4.5

#: Bytes that are buffered before reading from the socket pauses.
_WAITING_BYTES = 256 * 1024


class ConnectionPool(httpcore2.AsyncConnectionPool):
    """A pool of at most `most` connections. `context` configures TLS."""

    def __init__(self, backend: httpcore2.AsyncNetworkBackend, context: ssl.SSLContext, *, most: int) -> None:
        super().__init__(max_connections=most, max_keepalive_connections=most)
        self._opened = partial(_Connection, ssl_context=context, keepalive_expiry=KEEPALIVE_S, network_backend=backend)

    def create_connection(self, origin: httpcore2.Origin) -> httpcore2.AsyncConnectionInterface:
        """Return a connection that connects with its first request."""
        return self._opened(origin)


class _Connection(httpcore2.AsyncHTTPConnection):
    async def handle_async_request(self, request: httpcore2.Request) -> httpcore2.Response:
        if self.is_idle() and self.has_expired():
            await self.aclose()
            raise httpcore2.ConnectionNotAvailable
        return await super().handle_async_request(request)

    def has_expired(self) -> bool:
        return super().has_expired() or (self.is_idle() and self._has_more())

    def _has_more(self) -> bool:
        """Return whether the parser holds bytes beyond the answer. Assume so if that is not visible."""
        match self._connection:
            case httpcore2.AsyncHTTP11Connection(_h11_state=state):
                return bool(state.trailing_data[0])
            case _:
                return True


class Sockets(httpcore2.AsyncNetworkBackend):
    """Connects to IP addresses."""

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 -- httpcore2's signature
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Return a connection. Raises httpcore2.ConnectError, httpcore2.ConnectTimeout."""
        try:
            async with asyncio.timeout(timeout):
                _, arrivals = await asyncio.get_running_loop().create_connection(_Arrivals, host, port)
        except TimeoutError as error:
            raise httpcore2.ConnectTimeout(str(error)) from None
        except OSError as error:
            raise httpcore2.ConnectError(os.strerror(error.errno) if error.errno else str(error)) from None
        return _Stream(arrivals)


class _Arrivals(asyncio.Protocol):
    """Received bytes that are still unread, and whether more may be written."""

    def __init__(self) -> None:
        self.waiting = bytearray()
        self.is_over = False
        self.error: Exception | None = None
        self.has_come = asyncio.Event()
        self.may_write = asyncio.Event()
        self.is_closed = asyncio.Event()
        self.may_write.set()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # it is one
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.waiting += data
        self.has_come.set()
        if len(self.waiting) > _WAITING_BYTES:
            self.transport.pause_reading()

    def eof_received(self) -> None:
        self.is_over = True
        self.has_come.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_over = True
        self.error = exc
        for event in (self.has_come, self.may_write, self.is_closed):
            event.set()

    def pause_writing(self) -> None:
        self.may_write.clear()

    def resume_writing(self) -> None:
        self.may_write.set()

    def take(self, most: int) -> bytes:
        """Return the next bytes, none at the end. Raises OSError if the connection broke."""
        if not self.waiting and self.error is not None:
            raise self.error
        data = bytes(self.waiting[:most])
        del self.waiting[:most]
        if not self.is_over and len(self.waiting) <= _WAITING_BYTES:
            self.transport.resume_reading()
            if not self.waiting:
                self.has_come.clear()
        return data


class _Stream(httpcore2.AsyncNetworkStream):
    def __init__(self, arrivals: _Arrivals) -> None:
        self._arrivals = arrivals

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109 -- httpcore2's
        try:
            async with asyncio.timeout(timeout):
                await self._arrivals.has_come.wait()
            return self._arrivals.take(max_bytes)
        except TimeoutError as error:
            raise httpcore2.ReadTimeout(str(error)) from None
        except OSError as error:
            raise httpcore2.ReadError(str(error)) from None

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109 -- httpcore2's
        arrivals = self._arrivals
        if arrivals.is_over:
            message = f"the service closed the connection: {arrivals.error or 'closed'}"
            raise httpcore2.WriteError(message)
        arrivals.transport.write(buffer)
        try:
            async with asyncio.timeout(timeout):
                await arrivals.may_write.wait()
        except TimeoutError as error:
            raise httpcore2.WriteTimeout(str(error)) from None

    async def aclose(self) -> None:
        self._arrivals.transport.abort()
        await self._arrivals.is_closed.wait()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 -- httpcore2's signature
    ) -> httpcore2.AsyncNetworkStream:
        arrivals, plain = _Arrivals(), self._arrivals.transport
        arrivals.connection_made(plain)
        try:
            async with asyncio.timeout(timeout):
                secured = await asyncio.get_running_loop().start_tls(
                    plain, arrivals, ssl_context, server_hostname=server_hostname
                )
        except TimeoutError as error:
            raise httpcore2.ConnectTimeout(str(error)) from None
        except OSError as error:
            raise httpcore2.ConnectError(str(error)) from None
        if secured is None:
            raise httpcore2.ConnectError("the service closed the connection")
        arrivals.connection_made(secured)
        return _Stream(arrivals)

    def get_extra_info(self, info: str) -> Any:
        """Return what httpcore2 asks for: the TLS object, and whether bytes or the end are readable."""
        if info == "is_readable":
            return self._arrivals.has_come.is_set()
        return self._arrivals.transport.get_extra_info(info)
