"""ASGI middleware that lets a request pass when it carries a key of this server, before anything of it is read."""

from __future__ import annotations

import hashlib
import hmac
from typing import TYPE_CHECKING

from starlette.datastructures import Headers

from codemode.serving.problems import problem

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

#: What needs a key: all but health and the description of the interface.
PROTECTED = "/v1/"


class KeyCheck:
    """Answers 401 to requests under `/v1/` without one of `keys` as bearer token (RFC 6750); constant in time."""

    def __init__(self, app: ASGIApp, *, keys: tuple[str, ...]) -> None:
        self._app = app
        self._digests = [hashlib.sha256(key.encode()).digest() for key in keys]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer it here."""
        if scope["type"] != "http" or not scope["path"].startswith(PROTECTED) or self._has_key(Headers(scope=scope)):
            await self._app(scope, receive, send)
            return
        refusal = problem(401, "unauthorized", "send a key of this server as 'Authorization: Bearer …'")
        refusal.headers["WWW-Authenticate"] = "Bearer"
        await refusal(scope, receive, send)

    def _has_key(self, headers: Headers) -> bool:
        scheme, _, given = headers.get("authorization", "").partition(" ")
        digest = hashlib.sha256(given.strip().encode()).digest()
        known = [hmac.compare_digest(digest, key) for key in self._digests]
        return scheme.lower() == "bearer" and any(known)
