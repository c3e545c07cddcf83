"""Changes of executions: cancel, resume, run again, run corrected. Each works without scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.routing import Route

from codemode.serving.console.session import caller_of
from codemode.serving.web.program_requests import keep_turn

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.requests import Request
    from starlette.responses import Response

    from codemode.serving.console.views import Console

_AGAIN = "A new execution runs this program. All of its calls are made again."
_CORRECTED = (
    "A new execution runs the corrected program. Calls that this execution has committed are not repeated: their "
    "answers are used again as long as the program makes the same calls."
)

_CHANGE = ["POST"]


def routes(console: Console) -> list[Route]:
    """Return the routes below `/executions/{id}` that change something, and the forms that lead there."""
    return [*_ending(console), *_forms(console)]


def _ending(console: Console) -> list[Route]:
    async def cancel(request: Request) -> Response:
        id_ = request.path_params["id"]
        await console.service.executions.cancel(id_, caller_of(request))
        return console.redirect(request, "executions", id_, message="The execution is cancelled.")

    async def resume(request: Request) -> Response:
        id_, caller = request.path_params["id"], caller_of(request)
        await console.service.executions.resume(id_, caller)
        keep_turn(request, console.service, id_, caller)
        return console.redirect(request, "executions", id_, message="The execution continues.")

    return [
        Route("/executions/{id}/cancel", cancel, methods=_CHANGE),
        Route("/executions/{id}/resume", resume, methods=_CHANGE),
    ]


def _forms(console: Console) -> list[Route]:
    def form(title: str, explanation: str, *, is_repair: bool) -> Callable[[Request], Awaitable[Response]]:
        async def show(request: Request) -> Response:
            id_ = request.path_params["id"]
            stored = await console.service.executions.get(id_, caller_of(request))
            data = {"id": id_, "code": stored.request.code}
            return console.page(
                request,
                "executions/program.html",
                title=title,
                data=data,
                explanation=explanation,
                resume_from=id_ if is_repair else "",
            )

        return show

    return [
        Route("/executions/{id}/again", form("Run again", _AGAIN, is_repair=False)),
        Route("/executions/{id}/corrected", form("Run corrected from here", _CORRECTED, is_repair=True)),
    ]
