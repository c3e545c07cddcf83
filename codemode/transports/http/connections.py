"""Connections that are used again only where nothing stands behind the answer that was asked for.

What a service sends unasked would else be taken for the answer to the next request on that connection, which may be
another caller's (response desynchronization). httpcore2's pool and its HTTP/1.1 stay; the sockets are our own, for what
has come must be seen wherever it waits: with the parser, behind TLS, or here.
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

#: Idle connections are given up before common servers do it (uvicorn and Node.js: 5 s), so that few are found stale.
KEEPALIVE_S = 4.5

#: What may wait to be read before the socket is left alone.
_WAITING_BYTES = 256 * 1024


class ConnectionPool(httpcore2.AsyncConnectionPool):
    """A pool of at most `most` connections over TLS as `context` says."""

    def __init__(self, backend: httpcore2.AsyncNetworkBackend, context: ssl.SSLContext, *, most: int) -> None:
        super().__init__(max_connections=most, max_keepalive_connections=most)
        self._opened = partial(_Connection, ssl_context=context, keepalive_expiry=KEEPALIVE_S, network_backend=backend)

    def create_connection(self, origin: httpcore2.Origin) -> httpcore2.AsyncConnectionInterface:
        """One that connects with its first request."""
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
        """Whether the parser holds bytes that are of no answer; where that cannot be seen, it is taken to."""
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
        """A connection. Raises httpcore2.ConnectError, httpcore2.ConnectTimeout."""
        try:
            async with asyncio.timeout(timeout):
                _, arrivals = await asyncio.get_running_loop().create_connection(_Arrivals, host, port)
        except TimeoutError as error:
            raise httpcore2.ConnectTimeout(str(error)) from None
        except OSError as error:
            raise httpcore2.ConnectError(os.strerror(error.errno) if error.errno else str(error)) from None
        return _Stream(arrivals)


class _Arrivals(asyncio.Protocol):
    """What has come and was not read yet, and whether more may be written."""

    def __init__(self) -> None:
        self.waiting = bytearray()
        self.is_over = False
        self.error: Exception | None = None
        self.has_come = asyncio.Event()
        self.may_write = asyncio.Event()
        self.is_closed = asyncio.Event()
        self.may_write.set()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # of a connection it is one
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

    def taken(self, most: int) -> bytes:
        """The next bytes; none at the end. Raises OSError where it broke off before."""
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
            return self._arrivals.taken(max_bytes)
        except TimeoutError as error:
            raise httpcore2.ReadTimeout(str(error)) from None
        except OSError as error:
            raise httpcore2.ReadError(str(error)) from None

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109 -- httpcore2's
        arrivals = self._arrivals
        if arrivals.is_over:
            message = f"the connection was given up by the service: {arrivals.error or 'closed'}"
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
            raise httpcore2.ConnectError("the connection was given up by the service")
        arrivals.connection_made(secured)
        return _Stream(arrivals)

    def get_extra_info(self, info: str) -> Any:
        """Of what httpcore2 asks: the object of TLS, and whether there is something to read, the end included."""
        if info == "is_readable":
            return self._arrivals.has_come.is_set()
        return self._arrivals.transport.get_extra_info(info)
