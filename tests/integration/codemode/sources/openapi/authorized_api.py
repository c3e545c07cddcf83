"""An API behind OAuth whose document FastAPI writes, and the authorization server of the MCP SDK, on loopback."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI, HTTPException, Request, Security
from fastapi.security import OAuth2AuthorizationCodeBearer, OpenIdConnect, SecurityScopes
from graphql import build_schema, graphql_sync
from mcp.server.auth.routes import create_auth_routes
from mcp.server.auth.settings import ClientRegistrationOptions, RevocationOptions
from pydantic import AnyHttpUrl, ConfigDict, TypeAdapter
from starlette.applications import Starlette

from codemode.testing.served import Served
from tests.integration.codemode.sources.mcp.authorized_server import LosingAnswers, Provider

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@dataclass
class ApiSite:
    """A running API whose document is at `document`, and whose tokens come from `issuer`."""

    url: str
    issuer: str
    provider: Provider

    @property
    def document(self) -> str:
        return f"{self.url}/openapi.json"


@contextlib.asynccontextmanager
async def authorized_api(declares: str = "oauth2", *, publishes: bool = False) -> AsyncIterator[ApiSite]:
    """Run an API whose document `declares` an `oauth2` scheme, `openIdConnect`, or nothing.

    With `publishes`, it has protected resource metadata (RFC 9728).
    """
    provider = Provider()
    tokens_app = Starlette()
    async with Served(LosingAnswers(tokens_app, provider)) as issuer:
        tokens_app.router.routes += create_auth_routes(
            provider,
            TypeAdapter(AnyHttpUrl, config=ConfigDict(url_preserve_empty_path=True)).validate_python(issuer.url),
            client_registration_options=ClientRegistrationOptions(enabled=True, valid_scopes=["read", "write"]),
            revocation_options=RevocationOptions(enabled=True),
        )
        app = FastAPI(title="Bank")
        async with Served(app) as served:
            _serve_graphql(app, provider, served.url)
            _serve(app, provider, _scheme(declares, issuer.url), served.url)
            if publishes:
                _publish(app, served.url, issuer.url)
            yield ApiSite(served.url, issuer.url, provider)


def _scheme(declares: str, issuer: str) -> Any:
    match declares:
        case "oauth2":
            scopes = {"read": "Read", "write": "Write", "admin": "Everything"}
            urls = {"authorizationUrl": f"{issuer}/authorize", "tokenUrl": f"{issuer}/token"}
            return OAuth2AuthorizationCodeBearer(**urls, scopes=scopes, auto_error=False)
        case "openIdConnect":
            url = f"{issuer}/.well-known/oauth-authorization-server"
            return OpenIdConnect(openIdConnectUrl=url, auto_error=False)
    return lambda: None


def _serve(app: FastAPI, provider: Provider, scheme: Any, url: str) -> None:
    def check(wanted: SecurityScopes, request: Request, _: Any = Security(scheme)) -> str:  # noqa: B008
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        known = provider.access.get(token)
        named = f'resource_metadata="{url}/.well-known/oauth-protected-resource"'
        if known is None:
            raise HTTPException(401, "log in", {"WWW-Authenticate": f'Bearer {named}, error="invalid_token"'})
        if not set(wanted.scopes) <= set(known.scopes):
            lacks = f'Bearer error="insufficient_scope", scope="{wanted.scope_str}"'
            raise HTTPException(403, "more scopes", {"WWW-Authenticate": lacks})
        return token

    @app.get("/whoami", operation_id="whoami")
    def whoami(token: str = Security(check, scopes=["read"])) -> dict[str, Any]:
        known = provider.access[token]
        return {"scopes": known.scopes, "resource": known.resource, "token": token}

    @app.get("/private.json", include_in_schema=False)
    def private(_: str = Security(check, scopes=["read"])) -> dict[str, Any]:
        return app.openapi()

    @app.post("/raise", operation_id="raise_limit")
    def raise_limit(scope: str, token: str = Security(check, scopes=["read"])) -> str:
        known = provider.access[token]
        if scope not in known.scopes:
            lacks = f'Bearer error="insufficient_scope", scope="{scope}"'
            raise HTTPException(403, "more scopes", {"WWW-Authenticate": lacks})
        return "raised"


def _serve_graphql(app: FastAPI, provider: Provider, url: str) -> None:
    schema = build_schema("type Query { balance: Int }")

    @app.post("/graphql", include_in_schema=False)
    async def graphql(request: Request) -> Any:
        if request.headers.get("authorization", "").removeprefix("Bearer ") not in provider.access:
            named = f'Bearer resource_metadata="{url}/.well-known/oauth-protected-resource"'
            raise HTTPException(401, "log in", {"WWW-Authenticate": named})
        asked = await request.json()
        return graphql_sync(schema, asked["query"], {"balance": 7}, variable_values=asked.get("variables")).formatted


def _publish(app: FastAPI, url: str, issuer: str) -> None:
    @app.get("/.well-known/oauth-protected-resource", include_in_schema=False)
    def metadata() -> dict[str, Any]:
        return {"resource": url, "authorization_servers": [issuer], "scopes_supported": ["read"]}
