"""A read-only caller over HTTP and MCP: reads are answered, and a write says why it was not sent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx2
import pytest
from mcp import Client

from codemode import CodeMode, tool
from codemode.gateway.caller import Caller
from codemode.serving.application.app import create_app
from codemode.serving.auth.callers import Callers
from codemode.serving.auth.keys import KeyFile
from codemode.serving.mcp.server import McpServer
from codemode.settings import Settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

READER = Caller("reader", read_only=True)
WRITES = "shop.note(text=f'{shop.count()} notes')"
REFUSAL = "shop.note is not a read, and only reads are allowed here (read_only); nothing was sent: use a key without"


class Shop:
    """Notes that are written down."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    @tool(effect="write")
    def note(self, text: str) -> int:
        """Write a note."""
        self.notes.append(text)
        return len(self.notes)

    @tool(effect="read")
    def count(self) -> int:
        """Count the notes."""
        return len(self.notes)


@pytest.fixture
def shop() -> Shop:
    return Shop()


@pytest.fixture
async def service(shop: Shop, tmp_path: Path) -> AsyncIterator[CodeMode]:
    settings = Settings.model_validate({"state_folder": tmp_path / "state", "cache_folder": tmp_path / "cache"})
    async with CodeMode.from_settings(settings, functions={"shop": [shop.note, shop.count]}) as service:
        yield service


async def test_a_write_with_a_read_only_key_over_http(service: CodeMode, shop: Shop, tmp_path: Path) -> None:
    callers = Callers({"reads": READER, "writes": Caller("writer")}, KeyFile(tmp_path / "keys.json"))
    transport = httpx2.ASGITransport(create_app(service, callers))
    async with httpx2.AsyncClient(transport=transport, base_url="http://testserver") as client:

        async def execute(key: str) -> dict[str, object]:
            headers = {"Authorization": f"Bearer {key}"}
            answer = await client.post("/v1/execute", json={"code": WRITES}, headers=headers)
            return answer.json()  # type: ignore[no-any-return]

        refused, allowed = await execute("reads"), await execute("writes")
    assert REFUSAL in str(refused["failure"])
    assert [(call["state"], call["rule"]) for call in refused["calls"]] == [  # type: ignore[attr-defined]
        ("read", "default for read"),
        ("denied", "read_only"),
    ]
    assert allowed["value"] == 1
    assert shop.notes == ["0 notes"]


async def test_a_write_of_a_read_only_client_over_mcp(service: CodeMode, shop: Shop) -> None:
    async with Client(McpServer(service, caller_of=lambda _: READER).server) as client:
        found = await client.call_tool("search", {"queries": "write a note"})
        refused = await client.call_tool("execute", {"code": WRITES})
    assert "shop.note(" in str(found.content)
    assert REFUSAL in str(refused.content)
    assert shop.notes == []
