"""How many calls wait for a decision: in the navigation and the title of every page, and as JSON for scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.routing import Route

from codemode.errors import CodeModeError
from codemode.serving.console.session import caller_of
from codemode.serving.web.outgoing import DataResponse
from codemode.text.visible import visible_text

if TYPE_CHECKING:
    from starlette.responses import Response
    from starlette.types import ASGIApp, Receive, Scope, Send

    from codemode.executions.types.records import PendingCall
    from codemode.gateway.caller import Caller
    from codemode.service import CodeMode
    from codemode.serving.console.views import Console

#: Characters of the name of a tool in a notification.
_TOOL = 120


async def waiting_calls(service: CodeMode, caller: Caller) -> list[PendingCall]:
    """Return the first 100 calls that wait for a decision and that a caller sees. Empty without a journal."""
    if not service.settings.keeps_journal:
        return []
    return [call for call in await service.executions.approvals(caller) if call.kind != "unknown"]


def waiting_routes(console: Console) -> list[Route]:
    """Return the route `/waiting`."""

    async def waiting(request: Request) -> Response:
        calls = await waiting_calls(console.service, caller_of(request))
        shown = [{"id": call.id, "tool": visible_text(call.tool, _TOOL)} for call in calls]
        return DataResponse({"waiting": len(calls), "calls": shown})

    return [Route("/waiting", waiting)]


class CountWaiting:
    """ASGI middleware that leaves the number of waiting calls in the state of a request for a whole page."""

    def __init__(self, app: ASGIApp, service: CodeMode) -> None:
        self._app = app
        self._service = service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count, and pass the request on. An unavailable journal counts as none: the page itself says so."""
        if scope["type"] == "http" and scope["method"] == "GET":
            request = Request(scope)
            if request.headers.get("hx-request") != "true":
                try:
                    request.state.waiting = len(await waiting_calls(self._service, caller_of(request)))
                except CodeModeError:
                    request.state.waiting = 0
        await self._app(scope, receive, send)
