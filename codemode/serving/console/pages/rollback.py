"""Roll an execution back: show what would be undone, then start."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from starlette.routing import Route

from codemode.features.rollback.rollback import Rollbacks
from codemode.serving.console.session import caller_of
from codemode.serving.web.program_requests import keep_turn

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from codemode.serving.console.views import Console

_CHANGE = ["POST"]


def routes(console: Console) -> list[Route]:
    """Return the routes below `/executions/{id}`: the form, and the start."""

    async def preview(request: Request) -> Response:
        id_ = request.path_params["id"]
        planned = await console.service.part(Rollbacks).plan(id_, caller_of(request))
        data = {"id": id_, **asdict(planned)}
        return console.page(request, "executions/rollback.html", title="Roll back", data=data)

    async def roll_back(request: Request) -> Response:
        id_, caller = request.path_params["id"], caller_of(request)
        await console.service.start_sandbox()
        found = await console.service.part(Rollbacks).start(id_, caller)
        if not found.execution:
            return console.redirect(request, "executions", id_, message="There is nothing to undo.")
        keep_turn(request, console.service, found.execution, caller)
        return console.redirect(request, "executions", found.execution, message=f"This execution undoes {id_}.")

    return [
        Route("/executions/{id}/rollback", preview),
        Route("/executions/{id}/rollback", roll_back, methods=_CHANGE),
    ]
