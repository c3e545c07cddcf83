"""Protection against forged requests: each change carries the session's token, and comes from a page of this server."""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.requests import Request

from codemode.serving.auth.key_check import is_of_another_site
from codemode.serving.console.forms import FORM_TYPE, parsed

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from codemode.serving.console.session import Session

#: The field of forms, and the header of requests that scripts send.
FIELD = "csrf_token"
HEADER = "X-CSRF-Token"

_SAFE = frozenset(("GET", "HEAD", "OPTIONS"))

_OTHER_SITE = "a page of another site sent this request; nothing was done"
_NO_TOKEN = "the request has no valid form token; nothing was done. Reload the page and send the form again"  # noqa: S105


class CsrfCheck:
    """ASGI middleware that answers 403 to forged changes.

    Requests without a session need no token. Those with a key in their `Authorization` header were not sent by a
    browser on its own, and the login has only its origin to check.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on. Raises HTTPException."""
        if scope["type"] != "http" or scope["method"] in _SAFE:
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        if is_of_another_site(scope, request.headers):
            raise HTTPException(403, _OTHER_SITE)
        session: Session | None = request.state.session
        if session is None:
            await self._app(scope, receive, send)
            return
        body = await request.body()
        if not hmac.compare_digest(_token_of(request, body).encode(), session.csrf_token.encode()):
            raise HTTPException(403, _NO_TOKEN)
        await self._app(scope, _again(body, receive), send)


def _token_of(request: Request, body: bytes) -> str:
    sent = request.headers.get(HEADER)
    if sent is not None:
        return sent
    if request.headers.get("content-type", "").partition(";")[0].strip() != FORM_TYPE:
        return ""
    try:
        return parsed(body).get(FIELD, "")
    except ValueError:
        return ""


def _again(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that yields this body first."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return waiting.pop() if waiting else await receive()

    return next_message
