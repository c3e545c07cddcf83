"""ASGI middleware for clients in pages of other origins: web chats, MCP inspectors (Fetch, CORS protocol)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware

if TYPE_CHECKING:
    from collections.abc import Collection

    from starlette.types import ASGIApp, Receive, Scope, Send

#: Response headers that scripts may read.
_EXPOSED = (
    "Mcp-Session-Id",
    "Mcp-Protocol-Version",
    "WWW-Authenticate",
    "Location",
    "Retry-After",
    "Idempotent-Replayed",
)


class AllowedOrigins:
    """Lets pages of the given origins call the paths with these beginnings, with a key and never with cookies.

    All other requests pass through unchanged.
    """

    def __init__(self, app: ASGIApp, *, origins: Collection[str], paths: tuple[str, ...]) -> None:
        self._app = app
        self._origins = frozenset(origins)
        self._paths = paths
        self._sharing = CORSMiddleware(
            app,
            allow_origins=origins,
            allow_methods=("GET", "POST", "PUT", "DELETE"),
            allow_headers=("*",),
            expose_headers=_EXPOSED,
            allow_private_network=True,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a preflight request, or pass the request on."""
        is_allowed = (
            scope["type"] == "http"
            and scope["path"].startswith(self._paths)
            and Headers(scope=scope).get("origin") in self._origins
        )
        await (self._sharing if is_allowed else self._app)(scope, receive, send)
