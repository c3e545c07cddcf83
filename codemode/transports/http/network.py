"""DNS pinning: resolve a name once for each connection, check the addresses, connect to one that passed.

A later change of the name has no effect (DNS rebinding). The Host header, the TLS server name and the certificate still
use the name.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
from contextlib import contextmanager
from typing import TYPE_CHECKING

import httpcore2
import httpx2

from codemode.errors import ConfigurationError
from codemode.transports.http.addresses import AddressKind, Permitted, kind_of_address, origin
from codemode.transports.http.connections import ConnectionPool, Sockets

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator

    Resolve = Callable[[str, int], Awaitable[tuple[str, ...]]]

#: Largest model answer without streaming: some hundred times the usual size.
MODEL_ANSWER_BYTES = 32 * 1024 * 1024


async def resolve(host: str, port: int) -> tuple[str, ...]:
    """Return the IP addresses of a name, in the system's order of preference. Raises OSError."""
    entries = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(address[0]) for *_, address in entries))


class PinnedBackend(httpcore2.AsyncNetworkBackend):
    """Connects to permitted origins only, at checked addresses."""

    def __init__(
        self,
        permitted: Permitted,
        resolve: Resolve = resolve,
        sockets: httpcore2.AsyncNetworkBackend | None = None,
    ) -> None:
        self._permitted = permitted
        self._resolve = resolve
        self._sockets = sockets or Sockets()
        self._public: set[str] = set()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 -- httpcore2's signature
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Return a connection to the first address that accepts. Raises AddressNotAllowed, httpcore2.ConnectError."""
        addresses = await self._addresses(host, port, timeout)
        for place, address in enumerate(addresses, start=1):
            share = None if timeout is None else timeout / len(addresses)
            try:
                return await self._sockets.connect_tcp(address, port, share, local_address, socket_options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                if place == len(addresses):
                    raise
        raise AssertionError  # there is at least one address

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)

    async def _addresses(self, host: str, port: int, timeout_s: float | None) -> tuple[str, ...]:
        configured = self._permitted.address_of(host, port)
        if configured is not None:
            return (configured,)
        try:
            async with asyncio.timeout(timeout_s):
                resolved = await self._resolve(host, port)
        except TimeoutError:
            message = f"the name {host} was not resolved in time"
            raise httpcore2.ConnectTimeout(message) from None
        except (OSError, UnicodeError) as error:
            message = f"the name {host} cannot be resolved: {getattr(error, 'strerror', None) or error}"
            raise httpcore2.ConnectError(message) from None
        allowed = self._permitted.judge(host, resolved, was_public=host in self._public)
        if all(kind_of_address(address) is AddressKind.PUBLIC for address in allowed):
            self._public.add(host)
        return allowed


def open_pool(
    permitted: Permitted,
    *,
    most: int = 32,
    certificate: tuple[str, str] | None = None,
    ca_file: str | None = None,
    resolve: Resolve = resolve,
) -> httpcore2.AsyncConnectionPool:
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
    _keep_answers_out_of_logs()
    return ConnectionPool(PinnedBackend(permitted, resolve), context, most=most)


class PinnedTransport(httpx2.AsyncBaseTransport):
    """A pool under httpx2's own client, for libraries that bring one.

    Except for event streams, at most `limit_bytes` of an answer are read.
    """

    def __init__(self, pool: httpcore2.AsyncConnectionPool, *, limit_bytes: int) -> None:
        self._pool = pool
        self._limit_bytes = limit_bytes

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request. Raises AddressNotAllowed, httpx2.TransportError."""
        url = request.url
        target = httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)
        if not isinstance(request.stream, httpx2.AsyncByteStream):
            raise TypeError("the request must come from an asynchronous client")
        sent = httpcore2.Request(
            request.method, target, headers=request.headers.raw, content=request.stream, extensions=request.extensions
        )
        with _as_httpx2():
            response = await self._pool.handle_async_request(sent)
        headers = httpx2.Headers(response.headers)
        is_stream = headers.get("content-type", "").lower().startswith("text/event-stream")
        body = _Body(response, None if is_stream else self._limit_bytes)
        return httpx2.Response(response.status, headers=headers, stream=body, extensions=response.extensions)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._pool.aclose()


def pinned_client(base_url: str, *, timeout_s: float, limit_bytes: int = MODEL_ANSWER_BYTES) -> httpx2.AsyncClient:
    """Return a client for libraries that accept one. It calls only the origin of `base_url`, and follows no redirects.

    Raises ConfigurationError for an invalid address.
    """
    pinned = PinnedTransport(open_pool(Permitted((origin(base_url),))), limit_bytes=limit_bytes)
    return httpx2.AsyncClient(transport=pinned, timeout=timeout_s, follow_redirects=False)


class _Body(httpx2.AsyncByteStream):
    def __init__(self, response: httpcore2.Response, limit_bytes: int | None) -> None:
        self._response = response
        self._limit_bytes = limit_bytes
        self._parts = response.aiter_stream()  # kept: a reader may continue after an event stream's end

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        with _as_httpx2():
            async for part in self._parts:
                size += len(part)
                if self._limit_bytes is not None and size > self._limit_bytes:
                    message = f"the answer is larger than {self._limit_bytes:,} bytes"
                    raise httpx2.StreamError(message)
                yield part

    async def aclose(self) -> None:
        await self._response.aclose()


@contextmanager
def _as_httpx2() -> Iterator[None]:
    """Raise httpcore2's errors as httpx2's of the same name."""
    try:
        yield
    except (httpcore2.TimeoutException, httpcore2.NetworkError, httpcore2.ProtocolError) as error:
        raise getattr(httpx2, type(error).__name__)(str(error)) from None


def _keep_answers_out_of_logs() -> None:
    """Keep answer headers out of httpcore2's DEBUG log, because a service may echo secrets."""
    logging.getLogger("httpcore2.http11").addFilter(_has_no_headers)  # logging adds a filter only once


def _has_no_headers(record: logging.LogRecord) -> bool:
    return not record.msg.startswith("receive_response_headers.complete")
