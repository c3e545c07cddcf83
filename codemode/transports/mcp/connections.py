"""Connections to MCP servers at a URL."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Any

import httpx2
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client

from codemode.transports.http.addresses import Permitted, origin
from codemode.transports.http.network import PinnedTransport, open_pool

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

    Connect = Callable[[Callable[[], None]], AbstractAsyncContextManager[Any]]


#: What a URL's server may take to answer a request that streams.
_HTTP_TIMEOUT = httpx2.Timeout(30.0, read=300.0)


def at_url(
    url: str,
    *,
    headers: Mapping[str, str],
    limit_bytes: int,
    is_sse: bool = False,
    address: str | None = None,
    ca_file: str | None = None,
) -> Connect:
    """Connections to a server at a URL, over streamable HTTP, or over SSE (2024-11-05, HTTP with SSE).

    `address` is its host's IP address, if not its name's. Of an answer no more than `limit_bytes` are read.
    """
    permitted = Permitted((origin(url),), address)

    sent = dict(headers)

    def client(
        headers: dict[str, str] | None = None, timeout: httpx2.Timeout | None = None, auth: httpx2.Auth | None = None
    ) -> httpx2.AsyncClient:
        """A client of ours, as the SDK asks for one; what it would have it be like is decided here."""
        pinned = PinnedTransport(open_pool(permitted, ca_file=ca_file), limit_bytes=limit_bytes)
        return httpx2.AsyncClient(headers=sent, timeout=_HTTP_TIMEOUT, transport=pinned)

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
