"""DNS pinning: resolve a name once for each connection, check the addresses, connect to one that passed.

A later change of the name has no effect (DNS rebinding). The Host header, the TLS server name and the certificate still
use the name.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from contextlib import contextmanager
from typing import TYPE_CHECKING

import httpx2

from codemode.errors import ConfigurationError
from codemode.transports.http.addresses import PORTS, AddressKind, Origin, PermittedOrigins, kind_of_address, origin
from codemode.transports.http.connection import (
    FRAMING,
    ConnectError,
    ConnectionBroken,
    ConnectTimeout,
    InvalidRequest,
    Request,
    connect,
)
from codemode.transports.http.connections import ConnectionPool, Timeouts

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

    from codemode.transports.http.connection import Connection
    from codemode.transports.http.connections import Response

    Connect = Callable[[Origin, str, ssl.SSLContext | None, float | None], Awaitable[Connection]]
    Resolve = Callable[[str, int], Awaitable[tuple[str, ...]]]

#: Largest model answer without streaming: some hundred times the usual size.
MODEL_ANSWER_BYTES = 32 * 1024 * 1024


async def resolve(host: str, port: int) -> tuple[str, ...]:
    """Return the IP addresses of a name, in the system's order of preference. Raises OSError."""
    entries = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(address[0]) for *_, address in entries))


class Dialer:
    """Opens connections to permitted origins only, at checked addresses. `tls` configures https."""

    def __init__(
        self,
        permitted: PermittedOrigins,
        tls: ssl.SSLContext | None = None,
        resolve: Resolve = resolve,
        connect: Connect = connect,
    ) -> None:
        self._permitted = permitted
        self._tls = tls
        self._resolve = resolve
        self._connect = connect
        self._public: set[str] = set()

    async def dial(self, place: Origin, timeout_s: float | None = None) -> Connection:
        """Return a connection to the first address that accepts. Raises AddressNotAllowed, ConnectError."""
        addresses = await self._addresses(place.host, place.port, timeout_s)
        share = None if timeout_s is None else timeout_s / len(addresses)
        tls = self._tls if place.scheme == "https" else None
        for number, address in enumerate(addresses, start=1):
            try:
                return await self._connect(place, address, tls, share)
            except ConnectError:
                if number == len(addresses):
                    raise
        raise AssertionError  # there is at least one address

    async def _addresses(self, host: str, port: int, timeout_s: float | None) -> tuple[str, ...]:
        configured = self._permitted.address_of(host, port)
        if configured is not None:
            return (configured,)
        try:
            async with asyncio.timeout(timeout_s):
                resolved = await self._resolve(host, port)
        except TimeoutError:
            message = f"the name {host} was not resolved in time"
            raise ConnectTimeout(message) from None
        except (OSError, UnicodeError) as error:
            message = f"the name {host} cannot be resolved: {getattr(error, 'strerror', None) or error}"
            raise ConnectError(message) from None
        allowed = self._permitted.judge(host, resolved, was_public=host in self._public)
        if all(kind_of_address(address) is AddressKind.PUBLIC for address in allowed):
            self._public.add(host)
        return allowed


def open_pool(
    permitted: PermittedOrigins,
    *,
    most: int = 32,
    certificate: tuple[str, str] | None = None,
    ca_file: str | None = None,
    resolve: Resolve = resolve,
) -> ConnectionPool:
    """Return a pool of at most `most` connections to permitted origins.

    `certificate` is a client certificate and key (mutual TLS), `ca_file` the operator's own authority. Raises
    ConfigurationError if these files are unusable.
    """
    try:
        context = ssl.create_default_context(cafile=ca_file)
        if certificate is not None:
            context.load_cert_chain(*certificate)
    except OSError as error:  # includes ssl.SSLError
        message = f"the TLS certificate files cannot be used: {error.strerror or error}"
        raise ConfigurationError(message) from None
    context.set_alpn_protocols(["http/1.1"])
    return ConnectionPool(Dialer(permitted, context, resolve).dial, most=most)


class PinnedTransport(httpx2.AsyncBaseTransport):
    """A pool under httpx2's own client, for libraries that bring one.

    Except for event streams, at most `limit_bytes` of an answer are read.
    """

    def __init__(self, pool: ConnectionPool, *, limit_bytes: int) -> None:
        self._pool = pool
        self._limit_bytes = limit_bytes

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request. Raises AddressNotAllowed, httpx2.TransportError."""
        url = request.url
        sent = Request(
            request.method,
            Origin(url.scheme, url.raw_host.decode("ascii"), url.port or PORTS[url.scheme]),
            url.raw_path.decode("ascii"),
            [(name, value) for name, value in request.headers.multi_items() if name.lower() not in FRAMING],
            await request.aread() or None,
        )
        waits = request.extensions.get("timeout", {})
        with _as_httpx2():
            response = await self._pool.send(sent, Timeouts(waits.get("pool"), waits.get("connect"), waits.get("read")))
        headers = httpx2.Headers(response.headers)
        is_stream = headers.get("content-type", "").lower().startswith("text/event-stream")
        body = _Body(response, None if is_stream else self._limit_bytes)
        return httpx2.Response(response.status, headers=headers, stream=body)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._pool.aclose()


def pinned_client(base_url: str, *, timeout_s: float, limit_bytes: int = MODEL_ANSWER_BYTES) -> httpx2.AsyncClient:
    """Return a client for libraries that accept one. It calls only the origin of `base_url`, and follows no redirects.

    Raises ConfigurationError for an invalid address.
    """
    pinned = PinnedTransport(open_pool(PermittedOrigins((origin(base_url),))), limit_bytes=limit_bytes)
    return httpx2.AsyncClient(transport=pinned, timeout=timeout_s, follow_redirects=False)


class _Body(httpx2.AsyncByteStream):
    def __init__(self, response: Response, limit_bytes: int | None) -> None:
        self._response = response
        self._limit_bytes = limit_bytes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        with _as_httpx2():
            while part := await self._response.read():
                size += len(part)
                if self._limit_bytes is not None and size > self._limit_bytes:
                    message = f"the answer is larger than {self._limit_bytes:,} bytes"
                    raise httpx2.StreamError(message)
                yield part

    async def aclose(self) -> None:
        self._response.close()


@contextmanager
def _as_httpx2() -> Iterator[None]:
    """Raise errors of connections as httpx2's."""
    try:
        yield
    except ConnectTimeout as error:
        raise httpx2.ConnectTimeout(str(error)) from None
    except ConnectError as error:
        raise httpx2.ConnectError(str(error)) from None
    except InvalidRequest as error:
        raise httpx2.LocalProtocolError(str(error)) from None
    except ConnectionBroken as error:
        raise httpx2.RemoteProtocolError(str(error)) from None
    except TimeoutError:
        raise httpx2.ReadTimeout("nothing arrived in time") from None
