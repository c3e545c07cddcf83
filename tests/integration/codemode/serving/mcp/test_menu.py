"""Menus as MCP, through the official SDK's client in both eras, over stdio and in this process."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mcp_types
import pytest
import yaml
from mcp import Client, StdioServerParameters, stdio_client
from mcp.client.subscriptions import ToolsListChanged

from codemode import CodeMode, Settings, tool
from codemode.serving.mcp.server import McpServer

if TYPE_CHECKING:
    from mcp_types import CallToolResult

    from tests.conftest import Gym

COMMAND = str(Path(sys.executable).parent / "codemode")
MENU = {
    "core": ["shop.open"],
    "defaults": ["orders"],
    "categories": {
        "orders": {"keywords": ["order"]},
        "invoices": {"keywords": ["invoice"], "instructions": "Amounts are in cents."},
    },
}
META = ["request_more_tools", "request_tool"]


@tool(effect="read")
def open() -> bool:  # noqa: A001 -- a shop opens
    """Whether the shop is open."""
    return True


@tool(effect="destructive")
def cancel_order(number: int) -> str:
    """Cancel an order."""
    return f"cancelled {number}"


def print_invoice(number: int) -> str:
    """Print an invoice."""
    return f"invoice {number}"


def service(tmp_path: Path) -> CodeMode:
    folders = {"state_folder": tmp_path / "state", "cache_folder": tmp_path / "cache"}
    policy = {"default": {"destructive": "allow"}}
    content = {"menu": MENU, "server": {"mcp": "menu"}, "policy": policy, **folders}
    shop = {"open": open, "orders": [cancel_order], "invoices": [print_invoice]}
    return CodeMode.from_settings(Settings.model_validate(content), functions={"shop": shop})


def text(result: CallToolResult) -> str:
    (content,) = result.content
    assert content.type == "text"
    return content.text


async def names(client: Client) -> list[str]:
    return [one.name for one in (await client.list_tools()).tools]


MORE = {"categories": ["invoices"], "reason": "to print one"}
LOADED = "Loaded 1 tool: shop-invoices-print_invoice.\n\ninvoices: Amounts are in cents."


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_tools_are_listed_called_and_loaded(tmp_path: Path, era: Any) -> None:
    told = asyncio.Event()

    async def listen(message: Any) -> None:
        if isinstance(message, mcp_types.ToolListChangedNotification):
            told.set()

    async with service(tmp_path) as shop, Client(McpServer(shop).server, mode=era, message_handler=listen) as client:
        assert await names(client) == [*META, "shop-open", "shop-orders-cancel_order"]
        listed = {one.name: one.model_dump(mode="json") for one in (await client.list_tools()).tools}
        assert listed["shop-open"]["annotations"]["read_only_hint"]
        assert listed["shop-orders-cancel_order"]["annotations"]["destructive_hint"]
        assert listed["shop-orders-cancel_order"]["input_schema"]["required"] == ["number"]
        assert text(await client.call_tool("shop-orders-cancel_order", {"number": 7})) == '"cancelled 7"'
        assert client.server_capabilities.model_dump()["tools"]["list_changed"]
        if era == "auto":
            async with client.listen(tools_list_changed=True) as changes:
                assert text(await client.call_tool("request_more_tools", MORE)) == LOADED
                assert isinstance(await anext(changes), ToolsListChanged)
        else:
            assert text(await client.call_tool("request_more_tools", MORE)) == LOADED
            await asyncio.wait_for(told.wait(), 30)
        assert (await names(client))[-1] == "shop-invoices-print_invoice"
        assert text(await client.call_tool("shop-invoices-print_invoice", {"number": 7})) == '"invoice 7"'


async def test_what_is_not_listed_runs_and_what_there_is_not_is_told(tmp_path: Path) -> None:
    async with service(tmp_path) as shop, Client(McpServer(shop).server) as client:
        assert text(await client.call_tool("shop-invoices-print_invoice", {"number": 7})) == '"invoice 7"'
        assert len(await names(client)) == 4
        wrong = await client.call_tool("search", {"queries": ["x"]})
        assert wrong.is_error
        assert text(wrong).startswith("there is no tool 'search'")
        assert text(await client.call_tool("request_more_tools", {"categories": ["fax"]})).startswith(
            "No new tools added: there is no category 'fax'"
        )


@pytest.mark.parametrize("option", [True, False])
async def test_over_stdio_by_the_option_or_the_configuration(gym: Gym, tmp_path: Path, option: bool) -> None:
    source = {
        "location": str(gym.document),
        "base_url": gym.url,
        "credentials": [{"kind": "bearer", "token": {"file": str(gym.token_file)}}],
    }
    menu = str(Path(gym.document).with_name("menu.yaml"))
    content = {"sources": {"gym": source}, "menu": menu, "server": {} if option else {"mcp": "menu"}}
    (tmp_path / "codemode.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
    variables = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}  # noqa: TID251
    arguments = ["mcp", "--config", "codemode.yaml", *(["--menu"] if option else [])]
    server = StdioServerParameters(command=COMMAND, args=arguments, env=variables, cwd=tmp_path)
    async with Client(stdio_client(server), read_timeout_seconds=60) as client:
        listed = await names(client)
        assert len(listed) == 46  # the 44 of a greeting, and the meta-tools
        assert listed[:2] == META
        found = await client.call_tool("gym-core-get_gym_info", {})
        assert not found.is_error
        assert found.structured_content["status"] == "completed"
