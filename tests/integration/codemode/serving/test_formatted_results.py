"""Plugins word the results that a model reads, over MCP and in the agent loop."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from mcp import Client

from codemode import CodeMode, ExecutionOutcome, Plugin
from codemode.gateway.caller import LOCAL
from codemode.model.definitions import Offer
from codemode.serving.agent.toolbox import Toolbox
from codemode.serving.mcp.server import McpServer
from codemode.settings import AgentSettings, Settings

if TYPE_CHECKING:
    from pathlib import Path

SECRET = "hunter2-in-a-message"


def price(pieces: int) -> int:
    """Return a price."""
    return 3 * pieces


class Polite(Plugin):
    def format_result(self, outcome: ExecutionOutcome, text: str) -> str:
        return f"{text}\nThank you for {len(outcome.calls)} calls."


class Broken(Plugin):
    def format_result(self, outcome: ExecutionOutcome, text: str) -> str:
        raise ValueError(SECRET)


class Speechless(Plugin):
    def format_result(self, outcome: ExecutionOutcome, text: str) -> str:
        return None  # type: ignore[return-value]


def service(folder: Path, *plugins: Plugin) -> CodeMode:
    return CodeMode.from_settings(Settings(state_folder=folder), functions={"shop": [price]}, plugins=plugins)


async def test_a_client_gets_the_formatted_text_in_the_place_of_the_value(tmp_path: Path) -> None:
    async with service(tmp_path, Polite()) as cm, Client(McpServer(cm).server) as client:
        ended = await client.call_tool("execute", {"code": "40 + 2"})
    (content,) = ended.content
    assert content.type == "text"
    assert content.text == "42\nThank you for 0 calls."
    assert ended.structured_content["text"] == content.text
    assert ended.structured_content.keys() == {"id", "status", "text"}


@pytest.mark.parametrize("plugin", [Broken(), Speechless()])
async def test_a_formatter_that_fails_changes_nothing(
    tmp_path: Path, plugin: Plugin, caplog: pytest.LogCaptureFixture
) -> None:
    async with service(tmp_path, plugin) as cm, Client(McpServer(cm).server) as client:
        ended = await client.call_tool("execute", {"code": "40 + 2"})
    assert ended.structured_content["value"] == 42
    assert SECRET not in caplog.text


async def test_the_agent_reads_the_formatted_text(tmp_path: Path) -> None:
    async with service(tmp_path, Polite()) as cm:
        answered = await Toolbox(cm, AgentSettings(), LOCAL, {}).call("execute", {"code": "40 + 2"}, Offer())
    assert answered.text == "42\nThank you for 0 calls."
