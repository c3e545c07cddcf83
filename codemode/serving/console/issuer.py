"""The login at the issuer of the server's tokens, beside keys: one address that leads there, and one that ends it.

The browser has a cookie from the first to the second. The state, the nonce and the code verifier follow from it and
from a secret of the servers. So an answer is worth nothing in another browser, and no server has to remember attempts.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import logging
import secrets
import time
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from starlette.responses import RedirectResponse
from starlette.routing import Route

from codemode.serving.auth.issuer_login import CALLBACK, START, Attempt, LoginRefused
from codemode.serving.console.session import Person, base_of, set_cookie
from codemode.serving.console.views import return_path
from codemode.serving.web.admission import Overloaded

if TYPE_CHECKING:
    from typing import Protocol

    from starlette.requests import Request
    from starlette.responses import Response

    from codemode.serving.auth.issuer_login import IssuerLogin
    from codemode.serving.console.failures import Failures
    from codemode.serving.console.session import Sessions
    from codemode.serving.console.views import Console

    class Form(Protocol):
        """Returns the login page."""

        def __call__(self, request: Request, back: str, mistake: str = "", status: int = 200) -> Response:
            """Return the page, with a mistake if there was one."""
            ...


log = logging.getLogger(__name__)

ATTEMPT_COOKIE = "codemode_login"

#: Seconds for a person to log in at the issuer.
ATTEMPT_S = 600

#: Browsers keep 4,096 bytes of a cookie.
_LONGEST_BACK = 2000

_OTHER_BROWSER = "This login began in another browser, or has taken too long. Log in again."


def start_address(login: IssuerLogin, back: str) -> str:
    """Return the address at which a login begins that ends on the page `back`."""
    return f"{login.start_url}?{urlencode({'next': back})}"


def issuer_routes(
    console: Console, login: IssuerLogin, sessions: Sessions, failures: Failures, form: Form
) -> list[Route]:
    """Return the routes of the login at the issuer, which need no session."""

    async def start(request: Request) -> Response:
        back = return_path(request.query_params.get("next", ""), base_of(request))
        made = _made(back if len(back) <= _LONGEST_BACK else return_path("", base_of(request)))
        try:
            failures.check(request)
            address = await login.address(await _attempt(sessions, made))
        except LoginRefused as refused:
            return form(request, back, f"You cannot log in at {login.name}: {refused}.", 502)
        except Overloaded as overloaded:
            return form(request, back, f"Too many attempts. Try again in {overloaded.retry_after_s} s.", 429)
        answer = RedirectResponse(address, 303)
        answer.set_cookie(
            ATTEMPT_COOKIE,
            made,
            max_age=ATTEMPT_S,
            path=f"{base_of(request)}{START}",
            secure=login.is_secure,
            httponly=True,
            samesite="lax",  # the issuer's page leads back here
        )
        return answer

    async def end(request: Request) -> Response:
        made = request.cookies.get(ATTEMPT_COOKIE, "")
        back = _back_of(made)
        if back is None:
            answer = form(request, "", _OTHER_BROWSER, 400)
        else:
            answer = await _end(request, made, return_path(back, base_of(request)))
        answer.delete_cookie(ATTEMPT_COOKIE, path=f"{base_of(request)}{START}")
        return answer

    async def _end(request: Request, made: str, back: str) -> Response:
        try:
            failures.check(request)
            caller = await login.caller(dict(request.query_params), await _attempt(sessions, made))
        except Overloaded as overloaded:
            return form(request, back, f"Too many attempts. Try again in {overloaded.retry_after_s} s.", 429)
        except LoginRefused as refused:
            log.info("login at the issuer failed: %s", refused)
            await failures.count(request)
            return form(request, back, f"The login at {login.name} failed: {refused}.", 401)
        log.info("%s logged in at the issuer", caller.id)
        id_ = await asyncio.to_thread(sessions.open_for, Person.of(caller))
        # a redirect from the issuer's page would not bring the cookie along; a page that leads on does
        answer = console.page(request, "again.html", title="One moment", data={"target": back})
        set_cookie(answer, request, id_, is_secure=login.is_secure)
        return answer

    return [
        Route(START, start, methods=["GET"], name="issuer_login"),
        Route(CALLBACK, end, methods=["GET"]),
    ]


def _made(back: str) -> str:
    """Return what the browser keeps of an attempt: a random id, when it ends, and the page to go to."""
    page = base64.urlsafe_b64encode(back.encode()).decode()
    return f"{secrets.token_urlsafe(24)}.{int(time.time()) + ATTEMPT_S}.{page}"


def _back_of(made: str) -> str | None:
    """Return the page in a cookie, None if there is none or it has ended. The state shows whether it was changed."""
    _, _, rest = made.partition(".")
    ends, _, page = rest.partition(".")
    try:
        return base64.urlsafe_b64decode(page).decode() if time.time() < int(ends) else None
    except (ValueError, binascii.Error):
        return None


async def _attempt(sessions: Sessions, made: str) -> Attempt:
    """Return the secrets that follow from a cookie."""
    purposes = ("login state", "login nonce", "login verifier")
    return Attempt(*[await asyncio.to_thread(sessions.derived, purpose, made) for purpose in purposes])
