"""Sessions of the console: a browser exchanges a key of the server, or a login at its issuer, for a cookie.

Sessions are a value that the servers of a project share, so that every server knows every session, and a logout holds
on all of them. A session stores its key encrypted with what follows from the id in the browser's cookie: who reads the
store learns neither. The key is checked again on each request: a session ends when its key is revoked, rotated or
expired. A login at the issuer ends after `server.tokens.session_s`, and when its role is no longer granted.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import logging
import secrets
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from starlette.requests import HTTPConnection

from codemode.errors import JournalUnavailable
from codemode.gateway.caller import Caller
from codemode.serving.auth.key_check import UNKNOWN_KEYS
from codemode.serving.web.paths import CONSOLE

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from starlette.datastructures import State
    from starlette.responses import Response
    from starlette.types import ASGIApp, Receive, Scope, Send

    from codemode.serving.auth.callers import Callers
    from codemode.shared.values import SharedValue

log = logging.getLogger(__name__)

#: Path of the console's files, which are the same for everybody.
STATIC_PATH = f"{CONSOLE}/static/"

COOKIE = "codemode_session"

#: Seconds after which a session ends: a working day, so that a key is entered once a day.
LIFETIME_S = 12 * 3600.0

#: Maximum number of sessions of one key, and of all keys. The oldest ends when one more opens.
MOST_PER_KEY = 20
MOST = 1000


class Person(NamedTuple):
    """Somebody who logged in at the issuer, until `good_until`, in seconds since 1970."""

    id: str
    role: str
    label: str
    good_until: float

    @classmethod
    def of(cls, caller: Caller) -> Person:
        """Return what a session stores of a caller."""
        return cls(caller.id, caller.role, caller.label, caller.good_until or 0.0)


@dataclass(frozen=True, slots=True)
class Session:
    """One logged-in browser. It has a `key` or a `person`, and neither at a server without keys."""

    key: str = field(repr=False)
    csrf_token: str = field(repr=False)
    person: Person | None = None

    @property
    def is_open(self) -> bool:
        """Whether nobody has logged in, because the server has no keys."""
        return not self.key and self.person is None

    async def caller(self, callers: Callers) -> Caller | None:
        """Return the caller of the session, None if they would not be let in now. Raises JournalUnavailable."""
        if self.person is not None:
            return callers.person(*self.person)
        return await callers.identify(f"Bearer {self.key}")


class Sessions:
    """The sessions of a project, in a shared value.

    All methods wait for the store, and raise JournalUnavailable if it cannot be used.
    """

    def __init__(self, value: SharedValue, *, clock: Callable[[], float] = time.time) -> None:
        self._value = value
        self._clock = clock
        self._secret = b""
        self._version: Hashable = None

    def open(self, key: str, owner: str) -> str:
        """Open a session for a valid key and return its id. `owner` is the id of the key's caller."""
        return self._open(key, owner, LIFETIME_S)

    def open_for(self, person: Person) -> str:
        """Open a session for somebody who logged in at the issuer, and return its id."""
        return self._open(json.dumps(person), person.id, person.good_until - self._clock(), is_person=True)

    def _open(self, secret: str, owner: str, life_s: float, *, is_person: bool = False) -> str:
        id_ = self._signed(secrets.token_urlsafe(32))

        def with_one_more(stored: dict[str, Any]) -> None:
            one = {"key": _masked(secret.encode(), id_).hex(), "owner": owner, "expires": self._clock() + life_s}
            stored[_name(id_)] = {**one, "is_person": True} if is_person else one
            own = [name for name, one in stored.items() if one["owner"] == owner]
            for name in (*own[:-MOST_PER_KEY], *list(stored)[:-MOST]):
                stored.pop(name, None)

        self._change(with_one_more)
        return id_

    def find(self, id_: str) -> Session | None:
        """Return the session with this id, or None if it has ended. An invented id costs no access to the store."""
        if not hmac.compare_digest(self._signed(id_.partition(".")[0]).encode(), id_.encode()):
            return None
        stored = self._read()["sessions"].get(_name(id_))
        if stored is None or self._clock() >= stored["expires"]:
            return None
        secret = _masked(bytes.fromhex(stored["key"]), id_).decode()
        if stored.get("is_person"):
            return Session("", self._token(id_), Person(*json.loads(secret)))
        return Session(secret, self._token(id_))

    def close(self, id_: str) -> None:
        """End the session with this id, if there is one."""
        self._change(lambda stored: stored.pop(_name(id_), None))

    def of_anybody(self) -> Session:
        """Return the session of all browsers at a server without keys."""
        return Session("", self._token(""))

    def _signed(self, text: str) -> str:
        return f"{text}.{self.derived('id', text)[:22]}"

    def _token(self, id_: str) -> str:
        return self.derived("form token", id_)

    def derived(self, purpose: str, text: str) -> str:
        """Return 64 hexadecimal digits that only servers of this project can derive from a text."""
        try:
            latest = self._value.latest()
        except OSError as error:
            raise self._unusable(error) from None
        if latest.version != self._version or not self._secret:
            self._version, self._secret = latest.version, bytes.fromhex(_loaded(latest.data)["secret"])
        if not self._secret:
            self._change(lambda _: None)  # the first server makes the secret
        return hmac.digest(self._secret, f"{purpose} {text}".encode(), "sha256").hex()

    def _read(self) -> dict[str, Any]:
        try:
            return _loaded(self._value.read())
        except OSError as error:
            raise self._unusable(error) from None

    def _change(self, function: Callable[[dict[str, Any]], object]) -> None:
        """Change the sessions that have not ended, and learn the secret."""

        def changed(data: bytes | None) -> bytes:
            stored = _loaded(data)
            now = self._clock()
            stored["sessions"] = {name: one for name, one in stored["sessions"].items() if now < one["expires"]}
            function(stored["sessions"])
            stored["secret"] = stored["secret"] or secrets.token_hex(32)
            self._secret = bytes.fromhex(stored["secret"])
            return json.dumps(stored).encode()

        try:
            self._value.change(changed)
        except OSError as error:
            raise self._unusable(error) from None

    def _unusable(self, error: OSError) -> JournalUnavailable:
        return JournalUnavailable(f"sessions of the console cannot be stored in {self._value.title}: {error.strerror}")


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
            scope["state"]["session"] = None
            try:
                if not scope["path"].startswith(STATIC_PATH):
                    await self._find_session(HTTPConnection(scope))
            except JournalUnavailable as error:
                log.error("%s", error)
                app = UNKNOWN_KEYS
        await app(scope, receive, send)

    async def _find_session(self, request: HTTPConnection) -> None:
        if self._callers.is_open:
            request.state.session = await asyncio.to_thread(self._sessions.of_anybody)
        elif request.state.caller is None and COOKIE in request.cookies:
            await self._identify(request.state, request.cookies[COOKIE])

    async def _identify(self, state: State, id_: str) -> None:
        session = await asyncio.to_thread(self._sessions.find, id_)
        if session is None:
            return
        state.caller = await session.caller(self._callers)
        if state.caller is None:
            await asyncio.to_thread(self._sessions.close, id_)
        else:
            state.session = session


def is_console(path: str) -> bool:
    """Whether a path of the server is one of the console."""
    return path == CONSOLE or path.startswith(f"{CONSOLE}/")


def base_of(connection: HTTPConnection) -> str:
    """Return the path of the console as browsers see it: `/console`, or below the mount of an outer application."""
    root: str = connection.scope.get("app_root_path", "")
    return f"{root}{CONSOLE}"


def caller_of(connection: HTTPConnection) -> Caller:
    """Return the caller of a request that passed the login check."""
    caller = connection.state.caller
    assert isinstance(caller, Caller)  # noqa: S101 -- see `RequireLogin`
    return caller


def set_cookie(response: Response, connection: HTTPConnection, id_: str, *, is_secure: bool = False) -> None:
    """Send the session's id as a cookie that scripts cannot read and other sites cannot send (RFC 6265bis, 5.6)."""
    response.set_cookie(
        COOKIE,
        id_,
        max_age=int(LIFETIME_S),
        path=base_of(connection),
        secure=is_secure or connection.url.scheme == "https",
        httponly=True,
        samesite="strict",
    )


def _loaded(data: bytes | None) -> dict[str, Any]:
    """Return the stored sessions by name, and the secret, "" for a value that is damaged or missing."""
    try:
        stored = json.loads(data or b"")
        return {"secret": stored["secret"], "sessions": dict(stored["sessions"])}
    except (ValueError, KeyError, TypeError):
        return {"secret": "", "sessions": {}}


def _name(id_: str) -> str:
    return hashlib.sha256(id_.encode()).hexdigest()


def _masked(text: bytes, id_: str) -> bytes:
    """Encrypt or decrypt a text with SHAKE256 of the id (FIPS 202) as a stream cipher."""
    stream = hashlib.shake_256(f"key of session {id_}".encode()).digest(len(text))
    return bytes(a ^ b for a, b in zip(text, stream, strict=True))
