"""ASGI middleware that finds out who calls, before anything of a request is read."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.datastructures import Headers

from codemode.serving.auth.callers import ANYBODY
from codemode.serving.http.problems import problem
from codemode.serving.mcp.http import PATH

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from codemode.serving.auth.callers import Callers

#: What needs a key: all but health and the description of the interface.
PROTECTED = ("/v1/", "/metrics", PATH)

#: Names under which a browser or a client on the same machine reaches a server that asks for no key.
LOOPBACK_HOSTS = frozenset(("127.0.0.1", "localhost", "::1"))

#: Methods that change nothing (RFC 9110, 9.2.1).
_SAFE = frozenset(("GET", "HEAD", "OPTIONS"))

_UNKNOWN = problem(401, "unauthorized", "send a key of this server as 'Authorization: Bearer …'")
_UNKNOWN.headers["WWW-Authenticate"] = "Bearer"
_OTHER_HOST = problem(
    400, "request_invalid", "without keys this server answers to 127.0.0.1, localhost and [::1] alone; make a key first"
)
_OTHER_SITE = problem(403, "cross_site", "a page of another site sent this; nothing was done")


class KeyCheck:
    """Answers 401 to requests under `/v1/`, `/metrics` and `/mcp` that nobody known sends (RFC 6750).

    Others get `scope["state"]["caller"]`. Where no key was ever made everybody is known. Then only loopback host names
    are served, and no page of another site may send what changes something: a browser sends it from any page, and
    without a body it does not ask first. `/mcp` refuses pages of other sites with keys, too.
    """

    def __init__(self, app: ASGIApp, *, callers: Callers) -> None:
        self._app = app
        self._callers = callers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer it here."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        state = scope.setdefault("state", {})
        is_open = self._callers.is_open
        if (is_open or scope["path"].startswith(PATH)) and _is_of_another_site(scope, headers):
            await _OTHER_SITE(scope, receive, send)
            return
        if is_open:
            state["caller"] = ANYBODY
            app = self._app if _host_of(headers.get("host", "")) in LOOPBACK_HOSTS else _OTHER_HOST
            await app(scope, receive, send)
            return
        state["caller"] = await self._callers.identify(headers.get("authorization", ""))
        if state["caller"] is not None or not scope["path"].startswith(PROTECTED):
            await self._app(scope, receive, send)
            return
        await _UNKNOWN(scope, receive, send)


def _is_of_another_site(scope: Scope, headers: Headers) -> bool:
    """Whether a browser says that a page of another origin sent the request (Fetch, `Origin` and `Sec-Fetch-Site`).

    An `Origin` other than the host that is asked counts always, `null` too. Where a browser sends none, as with a link,
    its `Sec-Fetch-Site` counts for all that is not safe. Clients that are no browsers send neither.
    """
    origin = headers.get("origin")
    if origin is not None:
        return _place_of(origin) != headers.get("host", "").lower()
    is_safe = scope["method"] in _SAFE and not scope["path"].startswith(PATH)
    return not is_safe and headers.get("sec-fetch-site", "none") not in ("same-origin", "none")


def _place_of(origin: str) -> str:
    """The host and port of an origin; empty for `null` and what is no origin of a page."""
    scheme, _, place = origin.lower().partition("://")
    return place if scheme in ("http", "https") else ""


def _host_of(header: str) -> str:
    """The name in a Host header, without its port; empty where it is none."""
    try:
        return urlsplit(f"//{header}").hostname or ""
    except ValueError:
        return ""
