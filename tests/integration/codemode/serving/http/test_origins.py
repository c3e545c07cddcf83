"""Clients in pages of other origins, as a browser sends their requests."""

from __future__ import annotations

import re
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from pydantic import ValidationError

from codemode.gateway.caller import Caller
from codemode.service import CodeMode
from codemode.serving.application.app import create_app
from codemode.serving.auth.callers import Callers
from codemode.serving.auth.keys import KeyFile
from codemode.settings import Settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

CHAT = "https://chat.example.com"
KEY = {"Authorization": "Bearer a-key"}
ASKED = "authorization,content-type,mcp-protocol-version,mcp-session-id"
PREFLIGHT = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": ASKED}
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "page", "version": "1"}},
}


@asynccontextmanager
async def serving(folder: Path, *origins: str, has_keys: bool = True) -> AsyncIterator[httpx2.AsyncClient]:
    """Yield a client of a server that allows pages of these origins."""
    settings = Settings.model_validate({"state_folder": folder, "server": {"cors_origins": origins}})
    async with CodeMode.from_settings(settings, functions={"desk": [pong]}) as service:
        callers = Callers({"a-key": Caller("ann")} if has_keys else {}, KeyFile(folder / "keys.json"))
        app = create_app(service, callers)
        transport = httpx2.ASGITransport(app)
        async with (
            app.router.lifespan_context(app),
            httpx2.AsyncClient(transport=transport, base_url="http://localhost:8130", timeout=200) as client,
        ):
            yield client


def pong() -> str:
    """Return pong."""
    return "pong"


def shared(answer: httpx2.Response) -> dict[str, str]:
    """Return what the answer allows, by header."""
    return {name: value for name, value in answer.headers.items() if name.startswith("access-control-")}


@pytest.mark.parametrize("has_keys", [True, False])
async def test_a_page_of_an_allowed_origin_uses_the_mcp_endpoint(tmp_path: Path, has_keys: bool) -> None:
    async with serving(tmp_path, CHAT, has_keys=has_keys) as http:
        asked = await http.options("/mcp", headers={"Origin": CHAT, **PREFLIGHT})
        assert (asked.status_code, asked.headers["access-control-allow-origin"]) == (200, CHAT)
        allowed = asked.headers["access-control-allow-headers"].replace(" ", "").lower().split(",")
        assert set(ASKED.split(",")) <= set(allowed)
        assert "access-control-allow-credentials" not in asked.headers
        hello = await http.post("/mcp", json=HELLO, headers={"Origin": CHAT, **KEY})
        assert hello.status_code == 200
        assert hello.headers["access-control-allow-origin"] == CHAT
        assert "Mcp-Session-Id" in hello.headers["access-control-expose-headers"].split(", ")
        ended = await http.post("/v1/execute", json={"code": "desk.pong()"}, headers={"Origin": CHAT, **KEY})
        assert (ended.json()["value"], ended.headers["access-control-allow-origin"]) == ("pong", CHAT)


@pytest.mark.parametrize("origin", ["https://other.example", "http://chat.example.com", f"{CHAT}:444", "null"])
async def test_a_page_of_another_origin_is_refused(tmp_path: Path, origin: str) -> None:
    async with serving(tmp_path, CHAT) as http:
        asked = await http.options("/mcp", headers={"Origin": origin, **PREFLIGHT})
        answers: list[Any] = [asked, await http.post("/mcp", json=HELLO, headers={"Origin": origin, **KEY})]
    for answer in answers:
        assert (answer.status_code, answer.json()["code"], shared(answer)) == (403, "cross_site", {})
        assert "server.cors_origins" in answer.json()["detail"]


async def test_no_origin_is_allowed_by_default(tmp_path: Path) -> None:
    async with serving(tmp_path) as http:
        asked = await http.options("/mcp", headers={"Origin": CHAT, **PREFLIGHT})
        ended = await http.post("/v1/execute", json={"code": "1"}, headers={"Origin": CHAT, **KEY})
    assert (asked.status_code, shared(asked), shared(ended)) == (403, {}, {})


async def test_an_allowed_page_needs_a_key_and_can_read_that_it_does(tmp_path: Path) -> None:
    async with serving(tmp_path, CHAT) as http:
        answer = await http.post("/mcp", json=HELLO, headers={"Origin": CHAT})
    assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (401, CHAT)


@pytest.mark.parametrize("path", ["/console/login", "/console/logout"])
async def test_an_allowed_page_does_not_reach_the_console(tmp_path: Path, path: str) -> None:
    async with serving(tmp_path, CHAT, has_keys=False) as http:
        answer = await http.post(path, data={}, headers={"Origin": CHAT})
    assert (answer.status_code, shared(answer)) == (403, {})


@pytest.mark.parametrize(
    ("origin", "message"),
    [
        ("*", "name each origin"),
        ("https://chat.example.com/", "without a path, such as https://chat.example.com"),
        ("chat.example.com", "scheme://host"),
    ],
)
def test_an_origin_that_no_browser_sends_is_rejected(origin: str, message: str) -> None:
    with pytest.raises(ValidationError, match=re.escape(message)):
        Settings.model_validate({"server": {"cors_origins": [origin]}})
