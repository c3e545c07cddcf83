"""The catalog: the tools that the caller sees."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.routing import Route

from codemode.serving.console.session import caller_of

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from codemode.serving.console.views import Console


def routes(console: Console) -> list[Route]:
    """Return the routes below `/catalog`."""

    async def catalog(request: Request) -> Response:
        view = await console.service.view(caller_of(request))
        data = {"total": len(view.catalog)}
        return console.page(request, "catalog/list.html", title="Catalog", data=data)

    return [Route("/catalog", catalog)]
