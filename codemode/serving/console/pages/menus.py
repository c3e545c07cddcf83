"""The menu tester: which tools a message gets, for models that cannot write code, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.routing import Route

from codemode.serving.console.session import caller_of

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from codemode.serving.console.views import Console

#: Characters of the form's fields.
MOST = 20_000


def routes(console: Console) -> list[Route]:
    """Return the route `/menus`."""

    async def menus(request: Request) -> Response:
        message = request.query_params.get("message", "")[:MOST]
        earlier = request.query_params.get("earlier", "")[:MOST]
        menu: dict[str, Any] | None = None
        if message:
            history = [{"role": "user", "content": line} for line in earlier.splitlines() if line.strip()]
            found = await console.service.select_menu(message, history, caller=caller_of(request))
            menu = found.to_json()
        return console.page(
            request, "menus/menu.html", title="Menu tester", data={"menu": menu}, message=message, earlier=earlier
        )

    return [Route("/menus", menus)]
