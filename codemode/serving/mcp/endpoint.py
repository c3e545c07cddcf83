"""The MCP endpoint of the HTTP API, which imports the SDK at its first request.

The import takes about a third of the start of a server, and many servers are never asked by MCP.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.types import Receive, Scope, Send

    from codemode.service import CodeMode
    from codemode.serving.mcp.http import McpHttp
    from codemode.serving.web.admission import Admission


class McpEndpoint:
    """An ASGI application behind `KeyCheck`. Enter `running` before the first request."""

    def __init__(self, service: CodeMode, admission: Admission) -> None:
        self._service = service
        self._admission = admission
        self._requested = asyncio.Event()
        self._over = asyncio.Event()
        self._http: asyncio.Future[McpHttp] | None = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Serve sessions within the block. Leaving it ends them."""
        self._http = asyncio.get_running_loop().create_future()
        serving = asyncio.create_task(self._serve(self._http))
        try:
            yield
        finally:
            self._over.set()
            self._requested.set()
            await serving

    async def _serve(self, made: asyncio.Future[McpHttp]) -> None:
        """Hold the sessions from the first request to the end: their task group belongs to one task."""
        await self._requested.wait()
        if self._over.is_set():
            return
        try:
            http = (await asyncio.to_thread(_import))(self._service, self._admission)
        except Exception as error:  # noqa: BLE001 -- raised by every request
            made.set_exception(error)
            return
        async with http.running():
            made.set_result(http)
            await self._over.wait()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request. See `McpHttp`."""
        assert self._http is not None  # noqa: S101 -- requests come within `running`
        self._requested.set()
        http = await asyncio.shield(self._http)
        await http(scope, receive, send)


def _import() -> type[McpHttp]:
    from codemode.serving.mcp.http import McpHttp  # noqa: PLC0415 -- see the module

    return McpHttp
