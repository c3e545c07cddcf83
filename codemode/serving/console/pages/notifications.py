"""Messages to people: what they are about, to whom they went, and whether they arrived."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.routing import Route

from codemode.features.notify.notifications import Notifications
from codemode.serving.console.roles import is_operator, require_operator
from codemode.text.times import rfc3339

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from codemode.service import CodeMode
    from codemode.serving.console.views import Console


def notifies(request: Request, service: CodeMode) -> bool:
    """Show the section to operators of a service that notifies."""
    return service.runtime.features.find(Notifications) is not None and is_operator(request, service)


def routes(console: Console) -> list[Route]:
    """Return the route `/notifications`."""
    service = console.service

    async def list_(request: Request) -> Response:
        require_operator(request, service)
        part = service.part(Notifications)
        messages = [
            {
                "id": one.id,
                "event": one.event,
                "target": one.target,
                "state": one.state,
                "attempts": one.attempts,
                "created": rfc3339(one.created_us),
                "error": one.error,
                "execution": one.execution,
                "approval": one.question,
            }
            for one in await part.messages()
        ]
        data = {"targets": sorted(service.settings.notify.targets), "messages": messages}
        return console.page(request, "notifications/list.html", title="Notifications", data=data)

    return [Route("/notifications", list_)]
