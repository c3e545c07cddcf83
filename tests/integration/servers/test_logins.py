"""Logins at five issuers that Authlib runs, each of which gets its clients in another way, for APIs and MCP servers."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
import uvicorn
from mcp.server import MCPServer
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

from codemode.service import CodeMode
from codemode.settings import load_settings
from codemode.testing.served import Served
from codemode.transports.oauth.client_document import client_document
from tests.command_line import SCRIPT, codemode, script_environment
from tests.integration.servers.issuer import issuer
from tests.integration.servers.running import program, running
from tests.ports import free_port

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from starlette.requests import Request
    from starlette.types import ASGIApp, Receive, Scope, Send

    from tests.integration.servers.running import Running

#: How the command is told of a client, where the issuer registers none.
_OF_HAND = ("--redirect-port", "{port}", "--client-id", "robot", "--client-secret-env", "ROBOT_SECRET")


@asynccontextmanager
async def mcp_server(issuer_url: str) -> AsyncIterator[str]:
    """Run an MCP server that asks the issuer about its tokens, and takes those for its own address only."""

    class Verifier:
        async def verify_token(self, token: str) -> AccessToken | None:
            async with httpx2.AsyncClient(trust_env=False) as client:
                facts = (await client.post(f"{issuer_url}/introspect", data={"token": token})).json()
            if not facts["active"]:
                return None
            return AccessToken(
                token=token, client_id=facts["client_id"], scopes=facts["scope"].split(), resource=facts["aud"]
            )

    class Later:
        app: ASGIApp

        async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
            await self.app(scope, receive, send)

    later = Later()
    async with Served(later) as served:
        named = {"issuer_url": issuer_url, "resource_server_url": f"{served.url}/mcp"}
        auth = AuthSettings.model_validate({**named, "required_scopes": ["orders"], "validate_token_resource": True})
        server = MCPServer("shop", auth=auth, token_verifier=Verifier())

        @server.tool()
        def list_orders() -> dict[str, Any]:
            """List the orders, and who asks."""
            token = get_access_token()
            assert token is not None
            return {"orders": [7], "resource": token.resource}

        later.app = server.streamable_http_app()
        async with server.session_manager.run():
            yield f"{served.url}/mcp"


@asynccontextmanager
async def published_document(folder: Path) -> AsyncIterator[tuple[str, Path]]:
    """Serve the client metadata document of codemode by https. Yields its public address and the authority."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed: make servers")
    key, certificate, port = folder / "key.pem", folder / "ca.pem", free_port()
    names = ("-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1")
    new = ("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", str(key), "-out", str(certificate))
    await asyncio.to_thread(subprocess.run, [*new, *names, "-days", "2"], check=True, capture_output=True)
    address = f"https://127.0.0.1:{port}"

    async def document(_: Request) -> JSONResponse:
        return JSONResponse(client_document(address))

    app = Starlette(routes=[Route("/oauth/client.json", document)])
    config = uvicorn.Config(
        app, port=port, log_config=None, lifespan="off", ssl_keyfile=str(key), ssl_certfile=str(certificate)
    )
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve())
    try:
        yield address, certificate
    finally:
        server.should_exit = True
        await serving


def _write(folder: Path, source: dict[str, Any], **more: Any) -> None:
    content = {"sources": {"shop": source}, "state_folder": str(folder / "state"), **more}
    content["cache_folder"] = str(folder / "cache")
    (folder / "codemode.yaml").write_text(json.dumps(content), encoding="utf-8")


async def _log_in(folder: Path, *arguments: str) -> tuple[int, str]:
    """Run `codemode auth login shop`, and visit the page that it names. Return its exit code and all that it said."""
    process = await asyncio.create_subprocess_exec(
        *(SCRIPT, "auth", "login", "shop", "--no-browser", *arguments),
        cwd=folder,
        env={**script_environment(folder), "ROBOT_SECRET": "s3cret-of-robot"},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    assert process.stdout is not None
    said = ""
    while line := (await process.stdout.readline()).decode():
        said += line
        if line.startswith("open "):
            async with httpx2.AsyncClient(follow_redirects=True, trust_env=False) as client:
                answer = await client.get(line.removeprefix("open ").strip())
            assert answer.status_code == 200, answer.text
    return await process.wait(), said


async def _seen(server: Running) -> dict[str, Any]:
    async with httpx2.AsyncClient(trust_env=False) as client:
        seen: dict[str, Any] = (await client.get(f"{server.url}/seen")).json()
        return seen


async def _expire(server: Running) -> None:
    async with httpx2.AsyncClient(trust_env=False) as client:
        await client.post(f"{server.url}/expire")


@asynccontextmanager
async def _service(folder: Path) -> AsyncIterator[CodeMode]:
    async with CodeMode.from_settings(load_settings(folder / "codemode.yaml")) as service:
        yield service


#: A server of FastMCP that is its own authorization server.
FASTMCP = """
import sys
from fastmcp import FastMCP
from fastmcp.server.auth.providers.in_memory import InMemoryOAuthProvider
from mcp.server.auth.settings import ClientRegistrationOptions, RevocationOptions

port = int(sys.argv[1])
registration = ClientRegistrationOptions(enabled=True, valid_scopes=["orders"], default_scopes=["orders"])
server = FastMCP("shop", auth=InMemoryOAuthProvider(
    base_url=f"http://127.0.0.1:{port}",
    client_registration_options=registration,
    revocation_options=RevocationOptions(enabled=True),
    required_scopes=["orders"],
))

@server.tool
def list_orders() -> list[int]:
    "List the orders."
    return [7]

server.run(transport="http", host="127.0.0.1", port=port)
"""


async def test_a_server_of_fastmcp_is_logged_in_to_and_out_of(tmp_path: Path) -> None:
    port = free_port()
    (tmp_path / "server.py").write_text(FASTMCP, encoding="utf-8")
    command = [program("mcp-clients", "python"), "server.py", str(port)]
    with running(
        command, f"http://127.0.0.1:{port}", tmp_path, ready="/.well-known/oauth-authorization-server"
    ) as server:
        _write(tmp_path, {"kind": "mcp", "location": f"{server.url}/mcp"})
        code, said = await _log_in(tmp_path)
        assert (code, said.splitlines()[-1]) == (0, "logged in to shop"), said
        async with _service(tmp_path) as service:
            assert (await service.execute("shop.list_orders()")).value == {"result": [7]}
        out = await asyncio.to_thread(codemode, "auth", "logout", "shop", folder=tmp_path)
        assert out.stderr == "logged out of shop: tokens revoked\n"


async def test_settings_of_kind_oauth2_work_for_an_mcp_server_and_its_tokens_are_bound_to_it(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("s3cret-of-robot")
    with issuer(tmp_path, "by_hand") as server:
        async with mcp_server(server.url) as url:
            credential = {
                "kind": "oauth2",
                "issuer": server.url,
                "client_id": "robot",
                "client_secret": {"file": str(tmp_path / "secret")},
                "secret_in_body": True,
                "scopes": ["orders"],
            }
            _write(tmp_path, {"kind": "mcp", "location": url, "credentials": [credential]})
            async with _service(tmp_path) as service:
                outcome = await service.execute("shop.list_orders()")
                assert outcome.failure is None, outcome.failure
                await _expire(server)
                assert (await service.execute("shop.list_orders()")).ok
            assert set((await _seen(server))["resources"]) == {url}  # RFC 8707

            login = {**credential, "flow": "authorization_code"}
            _write(tmp_path, {"kind": "mcp", "location": url, "credentials": [login]})
            code, said = await _log_in(tmp_path)
            assert (code, said.splitlines()[-1]) == (0, "logged in to shop"), said
            async with _service(tmp_path) as service:
                assert (await service.execute("shop.list_orders()")).ok


REGISTRATIONS = ["dcr", "confidential", "by_hand", "device"]


@pytest.mark.parametrize("registration", REGISTRATIONS)
@pytest.mark.parametrize("kind", ["mcp", "openapi"])
async def test_a_login_works_however_the_issuer_gets_its_clients(tmp_path: Path, registration: str, kind: str) -> None:
    with issuer(tmp_path, registration) as server:
        async with mcp_server(server.url) as url:
            source = {"kind": "mcp", "location": url} if kind == "mcp" else {"location": f"{server.url}/openapi.json"}
            _write(tmp_path, source)
            options = [one.format(port=free_port()) for one in _OF_HAND] if registration == "by_hand" else []
            code, said = await _log_in(tmp_path, *options)
            assert (code, said.splitlines()[-1]) == (0, "logged in to shop"), said
            async with _service(tmp_path) as service:
                outcome = await service.execute("shop.list_orders()")
                assert outcome.failure is None, outcome.failure
                await _expire(server)
                assert (await service.execute("shop.list_orders()")).ok
        seen = await _seen(server)
        assert len(seen["renewals"]) == 1
        assert set(seen["resources"]) == ({url} if kind == "mcp" else {""})
        methods = {one.get("token_endpoint_auth_method") for one in seen["clients"].values()}
        expected = {"confidential": "client_secret_basic", "by_hand": "client_secret_post"}.get(registration, "none")
        assert methods == {expected}
        assert not any(secret in said for secret in seen["secrets"])


@pytest.mark.parametrize("strict", [False, True])
async def test_a_client_is_known_by_its_document_where_the_issuer_reads_those(tmp_path: Path, strict: bool) -> None:
    async with published_document(tmp_path) as (address, authority):
        with issuer(tmp_path, "cimd", ca_file=str(authority), strict_redirects=strict) as server:
            async with mcp_server(server.url) as url:
                source = {"kind": "mcp", "location": url, "ca_file": str(authority)}
                _write(tmp_path, source, server={"public_url": address})
                code, said = await _log_in(tmp_path)
                assert (code, said.splitlines()[-1]) == (0, "logged in to shop"), said
                async with _service(tmp_path) as service:
                    assert (await service.execute("shop.list_orders()")).ok
            assert (await _seen(server))["client_ids"] == [f"{address}/oauth/client.json"]


async def test_a_document_that_nobody_publishes_is_not_named_to_the_issuer(tmp_path: Path) -> None:
    with issuer(tmp_path, "cimd") as server:
        async with mcp_server(server.url) as url:
            _write(
                tmp_path, {"kind": "mcp", "location": url}, server={"public_url": f"https://127.0.0.1:{free_port()}"}
            )
            code, said = await _log_in(tmp_path)
        assert code == 2
        assert f"the issuer {server.url} of shop registers no clients by itself" in said
        assert "ID is its identifier, or the https address of its metadata document" in said


async def test_an_answer_that_names_another_issuer_is_not_taken(tmp_path: Path) -> None:
    with issuer(tmp_path, "dcr", iss="https://evil.example") as server:
        _write(tmp_path, {"location": f"{server.url}/openapi.json"})
        code, said = await _log_in(tmp_path)
        assert (code, said.splitlines()[-1]) == (2, "the answer came from a different issuer; the login failed")
        assert (await _seen(server))["secrets"] == []


@pytest.mark.parametrize("grace", [True, False])
async def test_a_rotated_token_whose_answer_is_lost_costs_no_login_where_the_issuer_has_patience(
    tmp_path: Path, grace: bool
) -> None:
    with issuer(tmp_path, "dcr", lose=1, grace=grace) as server:
        _write(tmp_path, {"location": f"{server.url}/openapi.json"})
        await _log_in(tmp_path)
        await _expire(server)
        async with _service(tmp_path) as service:
            outcome = await service.execute("shop.list_orders()")
        assert outcome.ok is grace
        if not grace:
            assert "the operator must log in" in str(outcome.failure)
        seen = await _seen(server)
        assert len(set(seen["renewals"])) == 1
        assert not any(secret in str(outcome) for secret in seen["secrets"])
