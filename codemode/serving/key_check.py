"""ASGI middleware that finds out who calls, before anything of a request is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.datastructures import Headers
from starlette.middleware.trustedhost import TrustedHostMiddleware

from codemode.serving.callers import ANYBODY
from codemode.serving.mcp_http import PATH
from codemode.serving.problems import problem

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from codemode.serving.callers import Callers

#: What needs a key: all but health and the description of the interface.
PROTECTED = ("/v1/", "/metrics", PATH)

#: Names under which a browser or a client on the same machine reaches a server that asks for no key.
LOOPBACK_HOSTS = ["127.0.0.1", "localhost", "[::1]", "testserver"]

_UNKNOWN = problem(401, "unauthorized", "send a key of this server as 'Authorization: Bearer …'")
_UNKNOWN.headers["WWW-Authenticate"] = "Bearer"


class KeyCheck:
    """Answers 401 to requests under `/v1/`, `/metrics` and `/mcp` that nobody known sends (RFC 6750).

    Others get `scope["state"]["caller"]`. Where no key was ever made everybody is known, and only
    loopback host names are served.
    """

    def __init__(self, app: ASGIApp, *, callers: Callers) -> None:
        self._app = app
        self._for_loopback = TrustedHostMiddleware(app, allowed_hosts=LOOPBACK_HOSTS)
        self._callers = callers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer it here."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        state = scope.setdefault("state", {})
        if self._callers.is_open:
            state["caller"] = ANYBODY
            await self._for_loopback(scope, receive, send)
            return
        state["caller"] = await self._callers.identify(Headers(scope=scope).get("authorization", ""))
        if state["caller"] is not None or not scope["path"].startswith(PROTECTED):
            await self._app(scope, receive, send)
            return
        await _UNKNOWN(scope, receive, send)
