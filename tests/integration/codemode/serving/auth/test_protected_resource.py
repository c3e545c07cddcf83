"""What hosted clients read before they log in, and the tokens that they come back with."""

from __future__ import annotations

import json
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import httpx2
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm
from mcp.shared.auth import OAuthClientMetadata, ProtectedResourceMetadata
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

from codemode.service import CodeMode
from codemode.serving.application.app import create_app
from codemode.serving.auth.callers import Callers
from codemode.settings import Settings
from codemode.testing.served import Served

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

PUBLIC = "https://codemode.example.com"
ISSUER = "https://login.example.com"
KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)


def pong() -> str:
    """Return pong."""
    return "pong"


async def _keys(_: Any) -> JSONResponse:
    key = {**RSAAlgorithm.to_jwk(KEY.public_key(), as_dict=True), "kid": "one", "alg": "RS256", "use": "sig"}
    return JSONResponse({"keys": [key]})


@asynccontextmanager
async def server(folder: Path, *, public_url: str = PUBLIC, **tokens: Any) -> AsyncIterator[httpx2.AsyncClient]:
    """Yield a client of a server that takes tokens of an issuer whose keys are served."""
    async with Served(Starlette(routes=[Route("/keys", _keys)])) as issuer:
        accepted = {
            "issuer": ISSUER,
            "audience": "codemode",
            "jwks_url": f"{issuer.url}/keys",
            "role_claim": "realm.groups",
            "roles": {"support-team": "support"},
            **tokens,
        }
        content = {
            "state_folder": folder,
            "server": {"tokens": accepted, "public_url": public_url},
            "policy": {"roles": ["default", "support"]},
        }
        settings = Settings.model_validate(content)
        async with CodeMode.from_settings(settings, functions={"desk": [pong]}) as service:
            app = create_app(service, Callers.of(settings))
            async with (
                app.router.lifespan_context(app),
                httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url=PUBLIC, timeout=200) as client,
            ):
                yield client


def token(**claims: Any) -> dict[str, str]:
    usual = {"iss": ISSUER, "aud": f"{PUBLIC}/mcp", "sub": "ann", "exp": time.time() + 3600}
    usual["realm"] = {"groups": ["everybody", "support-team"]}
    return {"Authorization": "Bearer " + jwt.encode({**usual, **claims}, KEY, "RS256", headers={"kid": "one"})}


async def test_a_client_finds_the_issuer_from_the_first_rejection(tmp_path: Path) -> None:
    async with server(tmp_path, scopes=["openid", "groups"]) as client:
        for path, part in (("/mcp", "/mcp"), ("/v1/tools", "/v1")):
            rejected = await client.request("POST" if part == "/mcp" else "GET", path)
            named = f"{PUBLIC}/.well-known/oauth-protected-resource{part}"
            challenge = f'Bearer resource_metadata="{named}", scope="openid groups"'
            assert (rejected.status_code, rejected.headers["www-authenticate"]) == (401, challenge)
            answer = await client.get(named, headers={"Origin": "https://inspector.example"})
            assert answer.headers["access-control-allow-origin"] == "*"
            metadata = ProtectedResourceMetadata.model_validate_json(answer.text)
            assert (str(metadata.resource), metadata.scopes_supported) == (f"{PUBLIC}{part}", ["openid", "groups"])
            assert [str(issuer) for issuer in metadata.authorization_servers] == [ISSUER]
        whole = await client.get("/.well-known/oauth-protected-resource")
        assert (whole.status_code, whole.json()["resource"]) == (200, PUBLIC)
        assert (await client.get("/.well-known/oauth-protected-resource/other")).status_code == 404


@pytest.mark.parametrize("audience", [f"{PUBLIC}/mcp", f"{PUBLIC}/v1", PUBLIC, "codemode", ["x", f"{PUBLIC}/mcp"]])
async def test_a_token_for_this_server_is_taken_and_its_group_is_a_role(tmp_path: Path, audience: Any) -> None:
    async with server(tmp_path) as client:
        answer = await client.post("/v1/execute", json={"code": "1 + 1"}, headers=token(aud=audience))
        assert (answer.status_code, answer.json()["value"]) == (200, 2)


@pytest.mark.parametrize(
    "claims",
    [{"aud": "https://other.example/mcp"}, {"aud": f"{PUBLIC}.evil/mcp"}, {"iss": "https://evil"}, {"realm": {}}],
)
async def test_a_token_for_another_server_is_rejected_as_invalid(tmp_path: Path, claims: dict[str, Any]) -> None:
    async with server(tmp_path) as client:
        answer = await client.get("/v1/tools", headers=token(**claims))
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"].startswith('Bearer error="invalid_token", resource_metadata="')


async def test_a_server_without_a_public_address_names_none(tmp_path: Path) -> None:
    async with server(tmp_path, public_url="") as client:
        rejected = await client.get("/v1/tools", headers={"Host": "evil.example"})
        assert (rejected.status_code, rejected.headers["www-authenticate"]) == (401, "Bearer")
        assert (await client.get("/.well-known/oauth-protected-resource")).status_code == 404
        assert (await client.get("/v1/tools", headers=token())).status_code == 401
        assert json.loads((await client.get("/v1/tools", headers=token(aud="codemode"))).text)


async def test_a_public_server_says_who_codemode_is_as_a_client_of_issuers(tmp_path: Path) -> None:
    async with server(tmp_path) as client:
        answer = await client.get("/oauth/client.json")
        assert answer.status_code == 200
        document = OAuthClientMetadata.model_validate(answer.json())
        assert answer.json()["client_id"] == f"{PUBLIC}/oauth/client.json"
        assert document.token_endpoint_auth_method == "none"
        assert [str(one) for one in document.redirect_uris or ()] == [
            "http://127.0.0.1/callback",
            "http://127.0.0.1:8400/callback",
            f"{PUBLIC}/console/accounts/callback",
        ]
    for address in ("", "http://codemode.corp"):
        async with server(tmp_path, public_url=address) as client:
            assert (await client.get("/oauth/client.json")).status_code == 404
