"""A real authorization server on loopback: authorization code with PKCE, device codes, rotating refresh tokens."""

from __future__ import annotations

import base64
import hashlib
import secrets
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlencode

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, RedirectResponse, Response

from codemode.testing.served import Served

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping


@dataclass
class AuthorizationServer:
    """Records its requests and tokens, and has configurable behaviour. Refresh tokens are valid for one use."""

    url: str = ""
    client_id: str = "robot"
    client_secret: str = ""
    life_s: float = 3600
    polls: int = 1
    issuer_in_answer: str = ""
    other_host: str = ""
    refuse: str = ""
    revokes: int = 200
    requests: list[dict[str, str]] = field(default_factory=list)
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    access: set[str] = field(default_factory=set)
    refresh: set[str] = field(default_factory=set)
    used: list[str] = field(default_factory=list)

    def metadata(self) -> dict[str, Any]:
        """RFC 8414."""
        return {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.other_host or self.url}/token",
            "device_authorization_endpoint": f"{self.url}/device",
            **({"revocation_endpoint": f"{self.url}/revoke"} if self.revokes else {}),
        }

    def revoke(self, form: Mapping[str, str]) -> int:
        """RFC 7009, 2.1: 200 also for invalid tokens."""
        self.requests.append(dict(form))
        self.access.discard(form["token"])
        self.refresh.discard(form["token"])
        return self.revokes

    def authorize(self, asked: Mapping[str, str]) -> Response:
        """RFC 6749, 4.1.1: the person agrees at once, or refuses."""
        self.requests.append(dict(asked))
        answer = {"state": asked["state"]}
        if self.refuse:
            answer |= {"error": self.refuse, "error_description": "the person said no"}
        else:
            answer["code"] = secrets.token_urlsafe(16)
            self.codes[answer["code"]] = dict(asked)
        if self.issuer_in_answer:
            answer["iss"] = self.issuer_in_answer
        return RedirectResponse(f"{asked['redirect_uri']}?{urlencode(answer)}", 302)

    def token(self, form: Mapping[str, str], authorization: str) -> tuple[int, dict[str, Any]]:
        """RFC 6749, 4.1.3, 4.4 and 6; RFC 8628, 3.4."""
        self.requests.append(dict(form))
        expected = base64.b64encode(f"{self.client_id}:{self.client_secret}".encode()).decode()
        by_header = authorization == f"Basic {expected}"
        if not (by_header if self.client_secret else form.get("client_id") == self.client_id):
            return 401, {"error": "invalid_client", "error_description": f"wrong: {authorization} {dict(form)}"}
        match form["grant_type"]:
            case "authorization_code":
                return self._for_code(form)
            case "refresh_token":
                return self._refreshed(form["refresh_token"])
            case "urn:ietf:params:oauth:grant-type:device_code":
                self.polls -= 1
                return (400, {"error": "authorization_pending"}) if self.polls >= 0 else self._issued()
            case _:
                return 200, {"access_token": self._access(), "expires_in": self.life_s}

    def _for_code(self, form: Mapping[str, str]) -> tuple[int, dict[str, Any]]:
        asked = self.codes.pop(form["code"], {})
        digest = hashlib.sha256(form["code_verifier"].encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if asked.get("code_challenge") != challenge or asked["redirect_uri"] != form["redirect_uri"]:
            return 400, {"error": "invalid_grant"}
        return self._issued()

    def _refreshed(self, token: str) -> tuple[int, dict[str, Any]]:
        if token not in self.refresh:
            return 400, {"error": "invalid_grant", "error_description": f"{token} was used before"}
        self.refresh.discard(token)
        self.used.append(token)
        return self._issued()

    def _issued(self) -> tuple[int, dict[str, Any]]:
        refresh = f"refresh-{secrets.token_hex(8)}"
        self.refresh.add(refresh)
        return 200, {"access_token": self._access(), "refresh_token": refresh, "expires_in": self.life_s}

    def _access(self) -> str:
        token = f"access-{secrets.token_hex(8)}"
        self.access.add(token)
        return token


def application(server: AuthorizationServer) -> FastAPI:
    """Return the server as an application. Its `/things` requires an access token."""
    app = FastAPI()

    @app.get("/.well-known/oauth-authorization-server")
    async def metadata() -> dict[str, Any]:
        return server.metadata()

    @app.get("/authorize")
    async def authorize(request: Request) -> Response:
        return server.authorize(request.query_params)

    @app.post("/token")
    async def token(request: Request) -> Response:
        status, body = server.token(await _form(request), request.headers.get("authorization", ""))
        return JSONResponse(body, status)

    @app.post("/revoke")
    async def revoke(request: Request) -> Response:
        return Response(status_code=server.revoke(await _form(request)))

    @app.post("/device")
    async def device(request: Request) -> Response:
        server.requests.append(await _form(request))
        page = f"{server.url}/activate"
        return JSONResponse({"device_code": "d-1", "user_code": "WDJB", "verification_uri": page, "interval": 0.01})

    @app.get("/things")
    async def things(request: Request) -> Response:
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        return JSONResponse([1]) if token in server.access else JSONResponse({"token": token}, 401)

    return app


async def _form(request: Request) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs((await request.body()).decode()).items()}


@asynccontextmanager
async def running(server: AuthorizationServer) -> AsyncIterator[AuthorizationServer]:
    """Run the server on a free loopback port."""
    async with Served(application(server)) as served:
        server.url = served.url
        yield server
