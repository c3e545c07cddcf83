"""ASGI middleware that authenticates the caller before it reads the request body."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.datastructures import Headers

from codemode.errors import JournalUnavailable
from codemode.serving.auth.callers import ANYBODY
from codemode.serving.web.paths import MCP
from codemode.serving.web.problems import problem

if TYPE_CHECKING:
    from collections.abc import Collection

    from starlette.types import ASGIApp, Receive, Scope, Send

    from codemode.serving.auth.callers import Callers
    from codemode.serving.auth.protected_resource import ProtectedResource

log = logging.getLogger(__name__)

#: Paths that need a key: all except health checks and the interface description.
PROTECTED = ("/v1/", "/metrics", MCP)

#: Paths that pages of other origins may call, if the configuration allows their origin.
SHARED = ("/v1/", MCP)

#: Host names by which a browser or client on the same machine reaches a server without keys.
LOOPBACK_HOSTS = frozenset(("127.0.0.1", "localhost", "::1"))

#: Safe methods, which change nothing (RFC 9110, 9.2.1).
_SAFE = frozenset(("GET", "HEAD", "OPTIONS"))

_SEND_A_KEY = "send a key of this server as 'Authorization: Bearer …'"
_UNKNOWN = problem(401, "unauthorized", _SEND_A_KEY)
#: The answer while the keys are in a database that has not answered for too long.
UNKNOWN_KEYS = problem(503, "journal_unavailable", "keys cannot be checked now; nothing was done, try again later")
_OTHER_HOST = problem(
    400, "request_invalid", "without keys this server answers only to 127.0.0.1, localhost and [::1]; create a key"
)
_OTHER_SITE = problem(
    403,
    "cross_site",
    "a page of another site sent this request; nothing was done; server.cors_origins lists the origins whose pages may",
)


class KeyCheck:
    """Answers 401 to unauthenticated requests under `/v1/`, `/metrics` and `/mcp` (RFC 6750).

    Other requests get `scope["state"]["caller"]`. A server that never had a key accepts everybody, but only under
    loopback host names. It then rejects changes sent by pages of other sites, since browsers send some of them without
    asking first. `/mcp` rejects pages of other sites even with a key. Pages of the given `origins` may call `/v1/` and
    `/mcp`. If the keys cannot be checked, the answer is 503. The 401 of a `resource` says where clients log in.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        callers: Callers,
        origins: Collection[str] = (),
        resource: ProtectedResource | None = None,
    ) -> None:
        self._app = app
        self._callers = callers
        self._origins = frozenset(origins)
        self._resource = resource

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer it."""
        answer = await self._answer(scope) if scope["type"] == "http" else None
        await (answer or self._app)(scope, receive, send)

    async def _answer(self, scope: Scope) -> ASGIApp | None:
        """Identify the caller. Return the answer to a request that is not accepted, None for others."""
        state = scope.setdefault("state", {})
        state["caller"] = None
        is_protected = scope["path"].startswith(PROTECTED)
        try:
            return await self._rejection(scope, Headers(scope=scope), is_protected=is_protected)
        except JournalUnavailable as error:
            if not is_protected:
                return None
            log.error("%s", error)
            return UNKNOWN_KEYS

    async def _rejection(self, scope: Scope, headers: Headers, *, is_protected: bool) -> ASGIApp | None:
        state = scope["state"]
        is_open = self._callers.is_open
        is_checked = is_open or scope["path"].startswith(MCP)
        is_allowed = headers.get("origin") in self._origins and scope["path"].startswith(SHARED)
        if is_checked and not is_allowed and is_of_another_site(scope, headers):
            return _OTHER_SITE
        if is_open:
            state["caller"] = ANYBODY
            return None if _host_of(headers.get("host", "")) in LOOPBACK_HOSTS else _OTHER_HOST
        state["caller"] = await self._callers.identify(headers.get("authorization", ""))
        return self._unknown(scope, headers) if state["caller"] is None and is_protected else None

    def _unknown(self, scope: Scope, headers: Headers) -> ASGIApp:
        if self._resource is None:
            return _UNKNOWN
        answer = problem(401, "unauthorized", _SEND_A_KEY)
        has_token = headers.get("authorization", "").lower().startswith("bearer ")
        answer.headers["WWW-Authenticate"] = self._resource.challenge(scope["path"], has_token=has_token)
        return answer


def is_of_another_site(scope: Scope, headers: Headers) -> bool:
    """Whether a browser reports that a page of another origin sent the request (Fetch, `Origin`, `Sec-Fetch-Site`).

    An `Origin` that differs from the host always counts, and so does `null`. Without an `Origin`, as for links,
    `Sec-Fetch-Site` counts for unsafe methods. Clients other than browsers send neither.
    """
    origin = headers.get("origin")
    if origin is not None:
        return _place_of(origin) != headers.get("host", "").lower()
    is_safe = scope["method"] in _SAFE and not scope["path"].startswith(MCP)
    return not is_safe and headers.get("sec-fetch-site", "none") not in ("same-origin", "none")


def _place_of(origin: str) -> str:
    """Return the host and port of an origin, or "" for `null` and other schemes."""
    scheme, _, place = origin.lower().partition("://")
    return place if scheme in ("http", "https") else ""


def _host_of(header: str) -> str:
    """Return the host name of a Host header without its port, or "" if it is malformed."""
    try:
        return urlsplit(f"//{header}").hostname or ""
    except ValueError:
        return ""
