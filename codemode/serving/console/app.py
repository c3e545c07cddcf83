"""The application of the console, which the HTTP API mounts at `/console`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import RedirectResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from codemode.serving.console.csrf import CsrfCheck
from codemode.serving.console.errors import error_handlers
from codemode.serving.console.headers import ConsoleHeaders
from codemode.serving.console.login import RequireLogin, login_routes
from codemode.serving.console.pages.shortcuts import shortcut_routes
from codemode.serving.console.sections import SECTIONS
from codemode.serving.console.session import base_of
from codemode.serving.console.views import STATIC, Console
from codemode.serving.console.waiting import CountWaiting, waiting_routes
from codemode.serving.web.paths import CONSOLE

if TYPE_CHECKING:
    from collections.abc import Callable

    from fastapi import FastAPI
    from starlette.requests import Request
    from starlette.responses import Response

    from codemode.errors import CodeModeError
    from codemode.service import CodeMode
    from codemode.serving.auth.callers import Callers
    from codemode.serving.console.session import Sessions
    from codemode.serving.web.admission import Admission


def add_console(
    app: FastAPI,
    service: CodeMode,
    callers: Callers,
    sessions: Sessions,
    admission: Admission,
    status_of: Callable[[CodeModeError], int],
) -> None:
    """Mount the console at `/console`. The application needs `SessionCheck` with the same sessions."""
    console = Console(service, SECTIONS, admission, callers.label_of)
    sections = (route for section in SECTIONS for route in section.routes(console))
    pages = [Route("/", _home), *shortcut_routes(console), *waiting_routes(console), *sections]
    routes = [
        Mount("/static", StaticFiles(directory=STATIC)),
        *login_routes(console, callers, sessions),
        Mount("", routes=pages, middleware=[Middleware(RequireLogin), Middleware(CountWaiting, service)]),
    ]
    inner = Starlette(
        # within a mount, so that errors of the middleware are answered too
        routes=[Mount("", routes=routes, middleware=[Middleware(CsrfCheck)])],
        middleware=[Middleware(ConsoleHeaders)],
        exception_handlers=error_handlers(console, status_of),
    )
    app.router.routes.append(Mount(CONSOLE, inner))


async def _home(request: Request) -> Response:
    return RedirectResponse(f"{base_of(request)}/{SECTIONS[0].name}", 303)
