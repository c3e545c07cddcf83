"""An MCP server behind OAuth, and its authorization server, both of the MCP SDK, on loopback ports of their own."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mcp.server import MCPServer
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    RefreshToken,
    TokenError,
    construct_redirect_uri,
)
from mcp.server.auth.routes import create_auth_routes
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions, RevocationOptions
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from pydantic import AnyHttpUrl, ConfigDict, TypeAdapter
from starlette.applications import Starlette
from starlette.responses import JSONResponse

from codemode.testing.served import Served

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.types import ASGIApp, Receive, Scope, Send


def _set() -> asyncio.Event:
    event = asyncio.Event()
    event.set()
    return event


@dataclass
class Provider:
    """An authorization server's memory. The person agrees at once. Refresh tokens are valid for one use.

    `lose` is the number of answers of the token endpoint that get lost on their way, `grace` whether a spent refresh
    token is still good until its successor is used, and `issuer_in_answer` what the answer of a login names. The answer
    to a renewal waits for `hold`.
    """

    life_s: int = 3600
    lose: int = 0
    grace: bool = False
    issuer_in_answer: str = ""
    clients: dict[str, OAuthClientInformationFull] = field(default_factory=dict)
    codes: dict[str, AuthorizationCode] = field(default_factory=dict)
    access: dict[str, AccessToken] = field(default_factory=dict)
    refresh: dict[str, RefreshToken] = field(default_factory=dict)
    spent: dict[str, RefreshToken] = field(default_factory=dict)
    asked: list[AuthorizationParams] = field(default_factory=list)
    renewals: list[str] = field(default_factory=list)
    is_renewing: asyncio.Event = field(default_factory=asyncio.Event)
    hold: asyncio.Event = field(default_factory=_set)

    @property
    def secrets(self) -> list[str]:
        return [*self.access, *self.refresh, *self.spent, *(one.client_secret or "-" for one in self.clients.values())]

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        return self.clients.get(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        self.clients[client_info.client_id] = client_info

    async def authorize(self, client: OAuthClientInformationFull, params: AuthorizationParams) -> str:
        self.asked.append(params)
        code = AuthorizationCode(
            code=secrets.token_urlsafe(24),
            scopes=params.scopes or [],
            expires_at=time.time() + 60,
            client_id=client.client_id,
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
            resource=params.resource,
        )
        self.codes[code.code] = code
        answer = {"code": code.code, "state": params.state, "iss": self.issuer_in_answer or None}
        return construct_redirect_uri(str(params.redirect_uri), **answer)

    async def load_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: str
    ) -> AuthorizationCode | None:
        return self.codes.get(authorization_code)

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: AuthorizationCode
    ) -> OAuthToken:
        code = self.codes.pop(authorization_code.code)
        return self._issued(client, code.scopes, code.resource)

    async def load_refresh_token(self, client: OAuthClientInformationFull, refresh_token: str) -> RefreshToken | None:
        self.renewals.append(refresh_token)
        return self.refresh.get(refresh_token) or (self.spent.get(refresh_token) if self.grace else None)

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        if self.refresh.pop(refresh_token.token, None) is not None:
            self.spent[refresh_token.token] = refresh_token
        self.is_renewing.set()
        await self.hold.wait()
        return self._issued(client, refresh_token.scopes, refresh_token.resource)

    async def load_access_token(self, token: str) -> AccessToken | None:
        return self.access.get(token)

    async def verify_token(self, token: str) -> AccessToken | None:
        return self.access.get(token)

    async def revoke_token(self, token: AccessToken | RefreshToken) -> None:
        self.access.pop(token.token, None)
        self.refresh.pop(token.token, None)

    async def exchange_identity_assertion(self, client: OAuthClientInformationFull, params: Any) -> OAuthToken:
        raise TokenError("unsupported_grant_type")

    def expire(self) -> None:
        """Let all access tokens expire now, as a service does that ends sessions."""
        self.access.clear()

    def _issued(self, client: OAuthClientInformationFull, scopes: list[str], resource: str | None) -> OAuthToken:
        access, refresh = f"access-{secrets.token_hex(12)}", f"refresh-{secrets.token_hex(12)}"
        common: Any = {"client_id": client.client_id, "scopes": scopes, "resource": resource}
        self.access[access] = AccessToken(token=access, expires_at=int(time.time()) + self.life_s, **common)
        self.refresh[refresh] = RefreshToken(token=refresh, **common)
        return OAuthToken(
            access_token=access, refresh_token=refresh, expires_in=self.life_s, scope=" ".join(scopes) or None
        )


class LosingAnswers:
    """Answers 502 instead of the token endpoint, after the work is done, as a proxy does that lost its upstream."""

    def __init__(self, app: ASGIApp, provider: Provider) -> None:
        self._app = app
        self._provider = provider

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] != "/token" or not self._provider.lose:
            await self._app(scope, receive, send)
            return

        async def unsent(_: Any) -> None:
            pass

        self._provider.lose -= 1
        await self._app(scope, receive, unsent)
        await JSONResponse({}, 502)(scope, receive, send)


class ScopedTools:
    """Answers 403 to calls of the tool `pay` by tokens without the scope `write` (RFC 6750, 3.1)."""

    def __init__(self, app: ASGIApp, provider: Provider) -> None:
        self._app = app
        self._provider = provider

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        message = await receive()
        headers = dict(scope["headers"])
        token = self._provider.access.get(headers.get(b"authorization", b"").decode().removeprefix("Bearer "))
        if b'"pay"' in message["body"] and token is not None and "write" not in token.scopes:
            challenge = 'Bearer error="insufficient_scope", scope="write"'
            await JSONResponse({}, 403, {"WWW-Authenticate": challenge})(scope, receive, send)
            return
        waiting = [message]

        async def again() -> Any:
            return waiting.pop() if waiting else await receive()

        await self._app(scope, again, send)


@dataclass
class Site:
    """A running MCP server at `url`, whose tokens come from `issuer`."""

    url: str
    issuer: str
    provider: Provider


@contextlib.asynccontextmanager
async def authorized_site(provider: Provider | None = None, **registration: Any) -> AsyncIterator[Site]:
    """Run an MCP server with the tools `whoami` and `pay`, and its authorization server."""
    provider = provider or Provider()
    tokens_app = Starlette()
    losing = LosingAnswers(tokens_app, provider)
    async with Served(losing) as issuer:
        options = ClientRegistrationOptions(**{"enabled": True, "valid_scopes": ["read", "write"], **registration})
        tokens_app.router.routes += create_auth_routes(
            provider,
            TypeAdapter(AnyHttpUrl, config=ConfigDict(url_preserve_empty_path=True)).validate_python(issuer.url),
            client_registration_options=options,
            revocation_options=RevocationOptions(enabled=True),
        )
        later = _Later()
        async with Served(later, has_lifespan=False) as served:
            url = f"{served.url}/mcp"
            server = _server(provider, url, issuer.url)
            app = server.streamable_http_app()
            later.app = ScopedTools(app, provider)
            async with server.session_manager.run():
                yield Site(url, issuer.url, provider)


class _Later:
    """An application that is made after its address is known."""

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.app(scope, receive, send)


def _server(provider: Provider, url: str, issuer: str) -> MCPServer:
    named = {"issuer_url": issuer, "resource_server_url": url}  # as texts, they keep their empty path
    auth = AuthSettings.model_validate({**named, "required_scopes": ["read"], "validate_token_resource": True})
    server = MCPServer("bank", auth=auth, token_verifier=provider)

    @server.tool()
    def whoami() -> dict[str, Any]:
        """Return who calls, and the token, as careless servers do."""
        token = get_access_token()
        assert token is not None
        return {"client": token.client_id, "scopes": token.scopes, "token": token.token}

    @server.tool()
    def pay(amount: int) -> str:
        """Pay an amount."""
        return f"paid {amount}"

    return server
