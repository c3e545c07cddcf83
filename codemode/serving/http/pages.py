"""The routes that describe the server, without a key: `/`, `/openapi.json` and `/docs`.

The document takes a tenth of a second to make, so the last two run in threads.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from fastapi import Request  # noqa: TC002 -- FastAPI reads these at run time
from fastapi.responses import JSONResponse, Response

from codemode.serving.http.docs_page import described
from codemode.serving.http.html import element, page, prose, table
from codemode.serving.http.models import Index
from codemode.serving.web.paths import CONSOLE, MCP
from codemode.serving.web.problems import ERRORS_PAGE

if TYPE_CHECKING:
    from fastapi import FastAPI

#: Addresses of the server by name, for the index.
_PLACES = {"docs": "/docs", "openapi": "/openapi.json", "mcp": MCP}
_HEALTH = {"live": "/livez", "ready": "/readyz", "health": "/healthz"}

_INTRODUCTION = "Search the tools of all sources, and run programs that call them. Requests need a key of this server."


def add_pages(app: FastAPI, *, has_console: bool) -> None:
    """Add the routes. Browsers get HTML for `/`, other clients JSON."""
    release = version("codemode")
    places = _PLACES | ({"console": CONSOLE} if has_console else {})

    @app.get("/", tags=["health"], responses={200: {"model": Index}})
    async def get_index(request: Request) -> Response:
        """Return the addresses of this server."""
        base = _base_of(request)
        if "text/html" in request.headers.get("accept", ""):
            links = [(name, element("a", path, href=base + path)) for name, path in (places | _HEALTH).items()]
            errors = ("errors", element("a", ERRORS_PAGE, href=ERRORS_PAGE))
            return page("codemode", prose(_INTRODUCTION), table([*links, errors]))
        addresses = {name: base + path for name, path in places.items()}
        health = {name: base + path for name, path in _HEALTH.items()}
        about = {"name": "codemode", "version": release, "errors": ERRORS_PAGE}
        return JSONResponse({**about, **addresses, "health": health})

    @app.get("/openapi.json", include_in_schema=False)
    def openapi(request: Request) -> JSONResponse:
        """Return the OpenAPI document. Its server is the address under which it was requested."""
        return JSONResponse(_document(app, request))

    @app.get("/docs", include_in_schema=False)
    def docs(request: Request) -> Response:
        """Return the operations as a page."""
        base = str(request.base_url).rstrip("/")
        return page("codemode HTTP API", *described(_document(app, request), base))


def _document(app: FastAPI, request: Request) -> dict[str, Any]:
    return {**app.openapi(), "servers": [{"url": _base_of(request) or "/"}]}


def _base_of(request: Request) -> str:
    """Return the path below which the application is mounted, "" for the root."""
    return request.base_url.path.rstrip("/")
