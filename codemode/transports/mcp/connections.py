"""Connections to MCP servers at a URL."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Any

import httpx2
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client

from codemode.transports.http.addresses import PermittedOrigins, origin
from codemode.transports.http.network import PinnedTransport, open_pool
from codemode.transports.mcp.authorization import AuthorizedTransport

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

    from codemode.transports.mcp.authorization import Authorization

    Connect = Callable[[Callable[[], None]], AbstractAsyncContextManager[Any]]


#: Time limits of a server at a URL; `read` covers streamed answers.
_HTTP_TIMEOUT = httpx2.Timeout(30.0, read=300.0)


def at_url(
    url: str,
    *,
    headers: Mapping[str, str],
    limit_bytes: int,
    is_sse: bool = False,
    address: str | None = None,
    ca_file: str | None = None,
    authorization: Authorization | None = None,
) -> Connect:
    """Return a factory of connections over streamable HTTP, or over SSE (2024-11-05, HTTP with SSE).

    `address` is the host's IP address, if its name must not be resolved. At most `limit_bytes` of an answer are read.
    """
    permitted = PermittedOrigins((origin(url),), address)

    sent = dict(headers)

    def client(
        headers: dict[str, str] | None = None, timeout: httpx2.Timeout | None = None, auth: httpx2.Auth | None = None
    ) -> httpx2.AsyncClient:
        """Return a pinned client for the SDK, whose own options are ignored."""
        pinned = PinnedTransport(open_pool(permitted, ca_file=ca_file), limit_bytes=limit_bytes)
        transport = pinned if authorization is None else AuthorizedTransport(pinned, authorization)
        return httpx2.AsyncClient(headers=sent, timeout=_HTTP_TIMEOUT, transport=transport)

    @asynccontextmanager
    async def streamable(_ended: Callable[[], None]) -> AsyncIterator[Any]:
        async with (
            client() as http,
            streamable_http_client(url, http_client=http, max_sse_event_size=limit_bytes) as streams,
        ):
            yield streams

    @asynccontextmanager
    async def sse(_ended: Callable[[], None]) -> AsyncIterator[Any]:
        async with sse_client(url, httpx_client_factory=client) as streams:
            yield streams

    return sse if is_sse else streamable
