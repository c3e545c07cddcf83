"""The message that a redirect leaves for the browser's next page: a cookie, sealed with the session's form token.

Any server shows it, and only on a page of the session that it was written for.
"""

from __future__ import annotations

import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import TYPE_CHECKING

from codemode.serving.console.session import base_of

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from codemode.serving.console.session import Session

COOKIE = "codemode_message"

#: Seconds for which a message waits for its page.
LIFETIME_S = 60

#: Longest message in characters. A browser keeps cookies of 4,096 bytes at least (RFC 6265, 6.1).
MOST_CHARACTERS = 600


def leave(response: Response, request: Request, message: str) -> None:
    """Leave a message for the next page of the request's session, if it has one."""
    session: Session | None = request.state.session
    if session is None:
        return
    text = message if len(message) <= MOST_CHARACTERS else f"{message[:MOST_CHARACTERS]} …"
    data = urlsafe_b64encode(text.encode("utf-8", "replace")).decode()
    response.set_cookie(
        COOKIE,
        f"{data}.{_seal(session, data)}",
        max_age=LIFETIME_S,
        path=base_of(request),
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="strict",
    )


def waiting(request: Request) -> str:
    """Return the message that waits for the request's session, "" for none."""
    session: Session | None = request.state.session
    data, _, seal = request.cookies.get(COOKIE, "").partition(".")
    if session is None or not hmac.compare_digest(seal.encode(), _seal(session, data).encode()):
        return ""
    return urlsafe_b64decode(data).decode()


def remove(response: Response, request: Request) -> None:
    """Remove the message that was shown."""
    response.delete_cookie(COOKIE, path=base_of(request))


def _seal(session: Session, data: str) -> str:
    return hmac.digest(session.csrf_token.encode(), f"message {data}".encode(), "sha256").hex()
