"""The list of keyboard shortcuts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.routing import Route

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from codemode.serving.console.views import Console

#: Keys and what they do. `static/keyboard.js` and the modules of pages bind them.
SHORTCUTS = (
    ("/", "Go to the search field"),
    ("j", "Go to the next row"),
    ("k", "Go to the previous row"),
    ("Enter", "Open the row"),
    ("a", "On an approval: go to the button that approves"),
    ("d", "On an approval: go to the button that rejects"),
    ("?", "Show this page"),
)


def shortcut_routes(console: Console) -> list[Route]:
    """Return the route `/shortcuts`."""

    async def shortcuts(request: Request) -> Response:
        return console.page(request, "shortcuts.html", title="Keyboard", data={"shortcuts": SHORTCUTS})

    return [Route("/shortcuts", shortcuts)]
