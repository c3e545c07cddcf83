"""Remembered decisions: approvals that also cover the same call later, and how to end them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.routing import Route

from codemode.features.decisions.decisions import RememberedDecisions
from codemode.serving.console.session import caller_of

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from codemode.serving.console.views import Console


def routes(console: Console) -> list[Route]:
    """Return the routes below `/decisions`. The approvals link there."""
    service = console.service

    async def show(request: Request) -> Response:
        part = service.part(RememberedDecisions)
        rows = [one.to_json(part.now()) for one in await part.list(caller_of(request))]
        return console.page(request, "decisions/list.html", title="Remembered decisions", data={"decisions": rows})

    async def revoke(request: Request) -> Response:
        ended = await service.part(RememberedDecisions).revoke(request.path_params["id"], caller_of(request))
        return console.redirect(
            request, "decisions", message=f"{ended.id} is revoked: the next such call asks a person"
        )

    return [Route("/decisions", show), Route("/decisions/{id}", revoke, methods=["POST"])]
