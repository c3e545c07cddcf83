"""The MCP server over streamable HTTP at `/mcp`, with caller authentication, credentials and admission."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from codemode.serving.mcp.accepted import accepting_both
from codemode.serving.mcp.server import Busy, McpServer
from codemode.serving.mcp.sessions import IDLE_S, McpSessions
from codemode.serving.web.admission import Overloaded

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping
    from contextlib import AbstractAsyncContextManager

    from mcp.server import ServerRequestContext
    from starlette.types import Receive, Scope, Send

    from codemode.gateway.caller import Caller
    from codemode.service import CodeMode
    from codemode.serving.web.admission import Admission


class McpHttp:
    """An ASGI application behind `KeyCheck`. Enter `running` before the first request."""

    def __init__(self, service: CodeMode, admission: Admission) -> None:
        self._service = service
        self._admission = admission
        server = McpServer(service, caller_of=_caller, credentials_of=self._credentials, turn=self._turn)
        self._sessions = StreamableHTTPSessionManager(
            server.server,
            max_request_body_size=service.settings.server.request_limit_bytes,
            session_idle_timeout=IDLE_S,
        )
        self._open = McpSessions()

    def running(self) -> AbstractAsyncContextManager[None]:
        """Serve sessions within the block. Leaving it ends them."""
        return self._sessions.run()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request. A session belongs to its caller; other callers get 404. Raises Overloaded."""
        caller: Caller = scope["state"]["caller"]
        scope["user"] = AuthenticatedUser(AccessToken(token="", client_id=caller.id, scopes=[]))
        scope, send = accepting_both(scope, send)
        with self._open.request(caller.id, scope, send) as watched:
            await self._sessions.handle_request(scope, receive, watched)

    def _credentials(self, context: ServerRequestContext[Any]) -> Mapping[str, str]:
        headers = context.request.headers if context.request is not None else {}
        return {name: headers[name] for name in self._service.discovery.caller_names if name in headers}

    @asynccontextmanager
    async def _turn(self, caller: Caller) -> AsyncIterator[Callable[[], None]]:
        try:
            async with self._admission.turn(caller.id) as turn:
                yield turn.begun
        except Overloaded as overloaded:
            message = f"{overloaded.reason}; try again in {overloaded.retry_after_s} s"
            raise Busy(message) from None


def _caller(context: ServerRequestContext[Any]) -> Caller:
    caller: Caller = context.request.scope["state"]["caller"]  # type: ignore[union-attr]
    return caller
