"""The login: a form that exchanges a key for a session, and the logout that ends it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from codemode.serving.console.failures import Failures
from codemode.serving.console.forms import form_of
from codemode.serving.console.issuer import issuer_routes, start_address
from codemode.serving.console.session import COOKIE, base_of, set_cookie
from codemode.serving.console.views import return_path
from codemode.serving.web.admission import Overloaded

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp, Receive, Scope, Send

    from codemode.serving.auth.callers import Callers
    from codemode.serving.console.session import Sessions
    from codemode.serving.console.views import Console

_UNKNOWN = "This is not a key of this server, or it has ended."


def login_routes(console: Console, callers: Callers, sessions: Sessions) -> list[Route]:
    """Return the routes `/login` and `/logout`, which need no session."""
    failures = Failures()

    def form(request: Request, back: str, mistake: str = "", status: int = 200) -> Response:
        target = return_path(back, base_of(request))
        login = callers.login
        issuer = None if login is None else {"name": login.name, "url": start_address(login, target)}
        data = {"next": target, "mistake": mistake, "issuer": issuer}
        return console.page(request, "login.html", title="Log in", data=data, status=status)

    async def show(request: Request) -> Response:
        back = request.query_params.get("next", "")
        if request.state.caller is not None:
            return RedirectResponse(return_path(back, base_of(request)), 303)
        return form(request, back)

    async def log_in(request: Request) -> Response:
        given = await form_of(request)
        back, key = given.get("next", ""), given.get("key", "").strip()
        try:
            failures.check(request)
            caller = await callers.identify(f"Bearer {key}")
            if caller is None:
                await failures.count(request)
        except Overloaded as overloaded:
            mistake = f"Too many attempts. Try again in {overloaded.retry_after_s} s."
            return form(request, back, mistake, 429)
        if caller is None:
            return form(request, back, _UNKNOWN, 401)
        answer = RedirectResponse(return_path(back, base_of(request)), 303)
        set_cookie(answer, request, await asyncio.to_thread(sessions.open, key, caller.id))
        return answer

    async def log_out(request: Request) -> Response:
        await asyncio.to_thread(sessions.close, request.cookies.get(COOKIE, ""))
        answer = RedirectResponse(f"{base_of(request)}/login", 303)
        answer.delete_cookie(COOKIE, path=base_of(request))
        return answer

    own = issuer_routes(console, callers.login, sessions, failures, form) if callers.login is not None else []
    return [
        *own,
        Route("/login", show, methods=["GET"], name="login"),
        Route("/login", log_in, methods=["POST"]),
        Route("/logout", log_out, methods=["POST"]),
    ]


class RequireLogin:
    """ASGI middleware that answers 401 to requests without a caller."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on. Raises HTTPException."""
        if scope["type"] == "http" and scope["state"].get("caller") is None:
            raise HTTPException(401)
        await self._app(scope, receive, send)
