"""Sessions of the console: a browser exchanges a key of the server for a cookie.

The id of a session is 256 random bits, of which memory holds the SHA-256. The key is kept beside it, and checked again
on each request: a session ends when its key is revoked, rotated or expired. All sessions end with the server.
"""

from __future__ import annotations

import hashlib
import logging
import secrets
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from starlette.requests import HTTPConnection

from codemode.errors import JournalUnavailable
from codemode.gateway.caller import Caller
from codemode.serving.auth.key_check import UNKNOWN_KEYS

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.datastructures import State
    from starlette.responses import Response
    from starlette.types import ASGIApp, Receive, Scope, Send

    from codemode.serving.auth.callers import Callers

log = logging.getLogger(__name__)

#: Path of the console below the server's own.
PATH = "/console"

COOKIE = "codemode_session"

#: Seconds after which a session ends: a working day, so that a key is entered once a day.
LIFETIME_S = 12 * 3600.0

#: Maximum number of sessions of one key. Its oldest ends when one more opens.
MOST_PER_KEY = 20


@dataclass(slots=True, eq=False)
class Session:
    """One logged-in browser. `messages` are shown on its next page, once."""

    key: str = field(default="", repr=False)
    expires: float = float("inf")
    csrf_token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    messages: list[str] = field(default_factory=list)


class Sessions:
    """The sessions of a server. `of_anybody` is the one of all browsers at a server without keys."""

    def __init__(self, *, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._by_digest: dict[str, Session] = {}
        self.of_anybody = Session()

    def open(self, key: str) -> str:
        """Open a session for a valid key and return its id."""
        now = self._clock()
        self._by_digest = {name: one for name, one in self._by_digest.items() if now < one.expires}
        same = [name for name, one in self._by_digest.items() if one.key == key]
        for name in same[: 1 - MOST_PER_KEY]:  # all but the newest, and room for one
            del self._by_digest[name]
        id_ = secrets.token_urlsafe(32)
        self._by_digest[_digest(id_)] = Session(key, now + LIFETIME_S)
        return id_

    def find(self, id_: str) -> Session | None:
        """Return the session with this id, or None if it has ended."""
        session = self._by_digest.get(_digest(id_))
        if session is not None and self._clock() >= session.expires:
            self.close(id_)
            return None
        return session

    def close(self, id_: str) -> None:
        """End the session with this id, if there is one."""
        self._by_digest.pop(_digest(id_), None)


class SessionCheck:
    """ASGI middleware that identifies the caller of a console request by its cookie. It runs after `KeyCheck`.

    `scope["state"]` gets `caller` and `session`. Requests with a key in their `Authorization` header have no session.
    """

    def __init__(self, app: ASGIApp, *, callers: Callers, sessions: Sessions) -> None:
        self._app = app
        self._callers = callers
        self._sessions = sessions

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer 503 if keys cannot be checked."""
        app = self._app
        if scope["type"] == "http" and is_console(scope["path"]):
            try:
                await self._find_session(HTTPConnection(scope))
            except JournalUnavailable as error:
                log.error("%s", error)
                app = UNKNOWN_KEYS
        await app(scope, receive, send)

    async def _find_session(self, request: HTTPConnection) -> None:
        request.state.session = None
        if self._callers.is_open:
            request.state.session = self._sessions.of_anybody
        elif request.state.caller is None:
            await self._identify(request.state, request.cookies.get(COOKIE, ""))

    async def _identify(self, state: State, id_: str) -> None:
        session = self._sessions.find(id_)
        if session is None:
            return
        state.caller = await self._callers.identify(f"Bearer {session.key}")
        if state.caller is None:
            self._sessions.close(id_)
        else:
            state.session = session


def is_console(path: str) -> bool:
    """Whether a path of the server is one of the console."""
    return path == PATH or path.startswith(f"{PATH}/")


def base_of(connection: HTTPConnection) -> str:
    """Return the path of the console as browsers see it: `/console`, or below the mount of an outer application."""
    root: str = connection.scope.get("app_root_path", "")
    return f"{root}{PATH}"


def caller_of(connection: HTTPConnection) -> Caller:
    """Return the caller of a request that passed the login check."""
    caller = connection.state.caller
    assert isinstance(caller, Caller)  # noqa: S101 -- see `RequireLogin`
    return caller


def set_cookie(response: Response, connection: HTTPConnection, id_: str) -> None:
    """Send the session's id as a cookie that scripts cannot read and other sites cannot send (RFC 6265bis, 5.6)."""
    response.set_cookie(
        COOKIE,
        id_,
        max_age=int(LIFETIME_S),
        path=base_of(connection),
        secure=connection.url.scheme == "https",
        httponly=True,
        samesite="strict",
    )


def _digest(id_: str) -> str:
    return hashlib.sha256(id_.encode()).hexdigest()
