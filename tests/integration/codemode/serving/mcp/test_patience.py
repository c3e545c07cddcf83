"""A program that takes longer than a client waits goes on, and the client hears how to get its result."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest
from mcp import Client

from codemode import CodeMode, tool
from codemode.serving.mcp.server import McpServer
from codemode.settings import Settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

ERAS = ("auto", "legacy")


class Gate:
    """A tool that answers once it is opened."""

    def __init__(self) -> None:
        self.opened, self.reached = asyncio.Event(), asyncio.Event()
        self.calls = 0


@asynccontextmanager
async def behind_a_gate(folder: Path, **sections: Any) -> AsyncIterator[tuple[CodeMode, Gate]]:
    gate = Gate()

    @tool(effect="write")
    async def wait() -> str:
        """Wait for the gate."""
        gate.calls += 1
        gate.reached.set()
        await gate.opened.wait()
        return "open"

    data = {"state_folder": folder / "state", "cache_folder": folder / "cache", **sections}
    async with CodeMode.from_settings(Settings.model_validate(data), functions={"gate": [wait]}) as service:
        yield service, gate


def text(result: Any) -> str:
    return str(result.content[0].text)


@pytest.mark.parametrize("era", ERAS)
async def test_a_client_that_waited_long_enough_is_told_how_to_wait_on(tmp_path: Path, era: str) -> None:
    async with (
        behind_a_gate(tmp_path, server={"answer_within_s": 0.2}) as (service, gate),
        Client(McpServer(service).server, mode=era) as client,
    ):
        first = await client.call_tool("execute", {"code": "gate.wait()"})
        execution = first.structured_content["id"]
        assert (first.is_error, first.structured_content["status"]) == (False, "running")
        assert f"wait for it with execute(code='', resume_from='{execution}')" in text(first)
        again = await client.call_tool("execute", {"code": "", "resume_from": execution})
        assert again.structured_content["status"] == "running", "another wait ends as the first did"
        gate.opened.set()
        ended = await client.call_tool("execute", {"code": "", "resume_from": execution})
        assert (ended.structured_content["id"], ended.structured_content["value"]) == (execution, "open")
        assert gate.calls == 1


async def test_the_same_program_sent_again_waits_for_the_one_that_runs(tmp_path: Path) -> None:
    async with (
        behind_a_gate(tmp_path, server={"answer_within_s": 0.2}) as (service, gate),
        Client(McpServer(service).server) as client,
    ):
        first = await client.call_tool("execute", {"code": "gate.wait()"})
        execution = first.structured_content["id"]
        gate.opened.set()
        again = await client.call_tool("execute", {"code": "gate.wait()", "resume_from": execution})
        assert (again.structured_content["id"], again.structured_content["value"]) == (execution, "open")
        assert gate.calls == 1


async def test_without_a_limit_the_answer_is_the_end(tmp_path: Path) -> None:
    async with (
        behind_a_gate(tmp_path, server={"answer_within_s": None}) as (service, gate),
        Client(McpServer(service).server) as client,
    ):
        calling = asyncio.create_task(client.call_tool("execute", {"code": "gate.wait()"}))
        await gate.reached.wait()
        gate.opened.set()
        assert (await calling).structured_content["value"] == "open"


@pytest.mark.parametrize("url", ["", "https://codemode.example.com/"])
async def test_a_call_that_waits_says_where_a_person_decides(tmp_path: Path, url: str) -> None:
    sections = {"server": {"public_url": url}, "policy": {"default": {"write": "ask"}}}
    async with behind_a_gate(tmp_path, **sections) as (service, _), Client(McpServer(service).server) as client:
        paused = await client.call_tool("execute", {"code": "gate.wait()"})
        (call,) = await service.executions.approvals(service.tools().caller, paused.structured_content["id"])
        said = text(paused)
        assert f"`codemode approvals approve {call.id}`" in said
        assert (f"https://codemode.example.com/console/approvals/{call.id}" in said) is bool(url)
        assert "approvals.in_client: single_user" in said
        assert f"`codemode approvals approve {call.id}`" in paused.structured_content["text"]
