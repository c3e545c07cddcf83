"""One key does not use up the sessions of MCP that there are for all."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import httpx2
import pytest

from codemode import CodeMode
from codemode.gateway.caller import Caller
from codemode.serving.application.app import create_app
from codemode.serving.auth.callers import Callers
from codemode.serving.auth.keys import KeyFile
from codemode.serving.mcp.sessions import IDLE_S, McpSessions

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

ANN, BOB = ({"Authorization": f"Bearer {key}"} for key in ("ann", "bob"))
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}
PING = {"jsonrpc": "2.0", "id": 2, "method": "ping"}


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def ping() -> str:
    """Ping."""
    return "pong"


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock of servers that let each key open two sessions."""
    clock = Clock()
    monkeypatch.setattr("codemode.serving.mcp.http.McpSessions", lambda: McpSessions(most=2, clock=clock))
    return clock


@asynccontextmanager
async def served(tmp_path: Path) -> AsyncIterator[httpx2.AsyncClient]:
    async with CodeMode.from_functions(x=[ping]) as service:
        known = {"ann": Caller("ann"), "bob": Caller("bob")}
        app = create_app(service, Callers(known, KeyFile(tmp_path / "keys.json")))
        transport = httpx2.ASGITransport(app)
        accept = {"Accept": "application/json, text/event-stream"}
        async with (
            app.router.lifespan_context(app),
            httpx2.AsyncClient(transport=transport, base_url="http://testserver", headers=accept) as client,
        ):
            yield client


async def opened(client: httpx2.AsyncClient, key: dict[str, str]) -> httpx2.Response:
    return await client.post("/mcp", json=HELLO, headers=key)


@pytest.mark.usefixtures("clock")
async def test_a_key_that_has_them_all_is_told_what_to_do_and_others_are_served(tmp_path: Path) -> None:
    async with served(tmp_path) as client:
        first, second = [await opened(client, ANN) for _ in range(2)]
        refused = await opened(client, ANN)
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "60")
        assert refused.json()["detail"] == (
            "2 MCP sessions of this key are open: end unused ones (DELETE with their Mcp-Session-Id) or wait; "
            "a session closes after 30 minutes without a request; try again in 60 s"
        )
        assert (await opened(client, BOB)).status_code == 200
        own = {**ANN, "Mcp-Session-Id": second.headers["mcp-session-id"]}
        assert (await client.post("/mcp", json=PING, headers=own)).status_code == 200
        own["Mcp-Session-Id"] = first.headers["mcp-session-id"]
        assert (await client.delete("/mcp", headers=own)).status_code == 200
        assert (await opened(client, ANN)).status_code == 200
        assert (await opened(client, ANN)).status_code == 429


async def test_what_is_closed_for_idleness_gives_its_place_back(tmp_path: Path, clock: Clock) -> None:
    async with served(tmp_path) as client:
        first = await opened(client, ANN)
        await opened(client, ANN)
        clock.now += IDLE_S - 1
        used = {**ANN, "Mcp-Session-Id": first.headers["mcp-session-id"]}
        assert (await client.post("/mcp", json=PING, headers=used)).status_code == 200
        assert (await opened(client, ANN)).status_code == 429
        clock.now += 2
        assert (await opened(client, ANN)).status_code == 200
        assert (await opened(client, ANN)).status_code == 429


@pytest.mark.usefixtures("clock")
async def test_what_opens_no_session_takes_no_place(tmp_path: Path) -> None:
    async with served(tmp_path) as client:
        for _ in range(3):
            assert (await client.post("/mcp", content=b"{", headers=ANN)).status_code == 400
            assert (await client.get("/mcp", headers=ANN)).status_code == 400
        assert [(await opened(client, ANN)).status_code for _ in range(3)] == [200, 200, 429]
