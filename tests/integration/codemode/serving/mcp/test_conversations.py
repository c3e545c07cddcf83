"""Modes over MCP: by the client's name, its role, and what a request asks for."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp_types import Implementation

from codemode import CodeMode, Settings, tool
from codemode.errors import ConfigurationError
from codemode.gateway.caller import Caller
from codemode.serving.application.app import create_app
from codemode.serving.auth.callers import Callers
from codemode.serving.auth.keys import KeyFile
from codemode.serving.mcp.greeting import MIXED_INSTRUCTIONS
from codemode.serving.mcp.server import McpServer

if TYPE_CHECKING:
    from pathlib import Path

CODE = ["search", "execute"]
NATIVE = ["shop-cancel_order", "shop-get_order"]
META = ["request_more_tools", "request_tool"]


@tool(effect="read")
def get_order(number: int) -> int:
    """Return an order."""
    return number


@tool(effect="write")
def cancel_order(number: int) -> str:
    """Cancel an order."""
    return f"cancelled {number}"


MODES = [
    {"roles": "kiosk", "mode": "native", "enforced": True},
    {"clients": "Cursor*", "mode": "hybrid"},
    {"clients": "quiet", "mode": "off"},
    {"clients": "small*", "mode": "menu"},
]


def service(tmp_path: Path, **sections: Any) -> CodeMode:
    folders = {"state_folder": tmp_path / "state", "cache_folder": tmp_path / "cache"}
    content = {"modes": MODES, "policy": {"roles": ["kiosk"]}, "menu": {"core": ["shop.get_order"]}}
    settings = Settings.model_validate({**content, **folders, **sections})
    return CodeMode.from_settings(settings, functions={"shop": [get_order, cancel_order]})


def client(service: CodeMode, name: str, role: str = "default", era: str = "auto") -> Client:
    face = McpServer(service, caller_of=lambda _: Caller("ann", role))
    return Client(face.server, client_info=Implementation(name=name, version="1"), mode=era)


async def names(client: Client, mode: str = "") -> list[str]:
    meta: Any = {"codemode/mode": mode} if mode else None
    return [one.name for one in (await client.list_tools(meta=meta)).tools]


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_the_name_of_the_client_decides(tmp_path: Path, era: str) -> None:
    async with service(tmp_path) as shop:
        for name, listed in {
            "claude": CODE,
            "cursor-vscode": [*CODE, *META, "shop-get_order"],
            "quiet": [],
            "small-model": [*META, "shop-get_order"],
        }.items():
            async with client(shop, name, era=era) as connected:
                assert await names(connected) == listed, name


async def test_a_call_follows_the_mode(tmp_path: Path) -> None:
    async with service(tmp_path) as shop:
        async with client(shop, "cursor") as both:
            assert not (await both.call_tool("execute", {"code": "shop.get_order(number=1)"})).is_error
            assert not (await both.call_tool("shop-get_order", {"number": 1})).is_error
            assert not (await both.call_tool("search", {"queries": ["order"]})).is_error
        async with client(shop, "quiet") as off:
            assert "the mode is off" in str(await off.call_tool("execute", {"code": "1"}))
        async with client(shop, "any", role="kiosk") as native:
            assert await names(native) == NATIVE
            assert (await native.call_tool("shop-cancel_order", {"number": 7})).structured_content["value"] == (
                "cancelled 7"
            )
            assert "there is no tool" in str(await native.call_tool("execute", {"code": "1"}))


async def test_a_request_may_ask_for_another_mode_that_is_not_enforced(tmp_path: Path) -> None:
    async with service(tmp_path) as shop:
        async with client(shop, "claude") as connected:
            assert await names(connected, "native") == NATIVE
            assert await names(connected, "off") == []
            assert await names(connected) == CODE
            with pytest.raises(MCPError, match="there is no mode 'natve'"):
                await names(connected, "natve")
        async with client(shop, "claude", role="kiosk") as connected:
            with pytest.raises(MCPError, match="enforces native"):
                await names(connected, "code")
            meta: Any = {"codemode/mode": "code"}
            rejected = await connected.call_tool("execute", {"code": "1"}, meta=meta)
            assert rejected.is_error


async def test_native_has_a_limit(tmp_path: Path) -> None:
    async with service(tmp_path, native_tools=1) as shop, client(shop, "any", role="kiosk") as connected:
        with pytest.raises(MCPError, match="the mode native would list 2 tools"):
            await names(connected)


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_mixed_modes_keep_tasks_and_announce_that_the_list_may_change(tmp_path: Path, era: str) -> None:
    async with service(tmp_path) as shop, client(shop, "cursor", era=era) as connected:
        assert connected.server_capabilities.model_dump()["tools"]["list_changed"]
        assert connected.instructions == MIXED_INSTRUCTIONS


async def test_the_address_a_header_and_the_user_agent_over_http(tmp_path: Path) -> None:
    async with service(tmp_path) as shop:
        app = create_app(shop, Callers({"key": Caller("ann")}, KeyFile(tmp_path / "keys.json")))
        http = partial(httpx2.AsyncClient, transport=httpx2.ASGITransport(app), base_url="http://testserver")
        async with app.router.lifespan_context(app):
            for address, headers, listed in (
                ("/mcp", {}, CODE),
                ("/mcp?mode=native", {}, NATIVE),
                ("/mcp", {"Codemode-Mode": "off"}, []),
                ("/mcp", {"User-Agent": "Cursor/1.0"}, [*CODE, *META, "shop-get_order"]),
            ):
                async with http(headers={"Authorization": "Bearer key", **headers}) as connection:
                    transport = streamable_http_client(f"http://testserver{address}", http_client=connection)
                    async with Client(transport) as connected:
                        assert await names(connected) == listed, (address, headers)


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_the_mode_may_depend_on_the_number_of_tools_and_their_sources(tmp_path: Path, era: str) -> None:
    modes = [{"roles": "kiosk", "most_tools": 1, "mode": "native"}, {"sources": "shop", "mode": "menu"}]
    rules = [{"tools": "shop.cancel_order", "roles": "kiosk", "decision": "deny"}]
    policy = {"roles": ["kiosk"], "rules": rules}
    async with service(tmp_path, modes=modes, policy=policy) as opened:
        async with client(opened, "x", "kiosk", era) as few:
            assert [one.name for one in (await few.list_tools()).tools] == ["shop-get_order"]
        async with client(opened, "x", era=era) as other:
            assert {one.name for one in (await other.list_tools()).tools} >= set(META)
    with pytest.raises(ConfigurationError, match="there is no source 'shp'; did you mean 'shop'"):
        await service(tmp_path, modes=[{"sources": "shp", "mode": "menu"}]).start()
