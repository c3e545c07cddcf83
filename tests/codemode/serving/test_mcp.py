"""The MCP face, through the official SDK's client: over stdio in a process of its own, and in this one."""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from mcp import Client, StdioServerParameters, stdio_client

from codemode import CodeMode, tool
from codemode.serving import mcp
from codemode.serving.mcp import McpFace
from codemode.settings import Settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from mcp_types import CallToolResult

    from tests.conftest import Gym

COMMAND = str(Path(sys.executable).parent / "codemode")
ERAS = ("auto", "legacy")


@asynccontextmanager
async def over_stdio(gym: Gym, era: str) -> AsyncIterator[Client]:
    """A client of `codemode mcp` in a process of its own."""
    arguments = ["mcp", "--source", str(gym.document), "--base-url", gym.url, "--name", "gym", "--bearer-env", "TOKEN"]
    variables = {"TOKEN": "a-token-for-tests", "PATH": os.environ["PATH"], "HOME": str(gym.token_file.parent)}  # noqa: TID251
    server = StdioServerParameters(command=COMMAND, args=arguments, env=variables)
    async with Client(stdio_client(server), mode=era, read_timeout_seconds=60) as connected:
        yield connected


def text(result: CallToolResult) -> str:
    (content,) = result.content
    assert content.type == "text"
    return content.text


@pytest.mark.parametrize("era", ERAS)
async def test_a_client_over_stdio_searches_and_executes(gym: Gym, era: str) -> None:
    async with over_stdio(gym, era) as client:
        await two_tools_are_listed_in_the_same_bytes_each_time(client)
        await search_answers_signatures(client)
        await execute_answers_the_result_as_text_and_as_data(client)
        for name, arguments, said in MISTAKES:
            assert said in text(await client.call_tool(name, arguments))


async def two_tools_are_listed_in_the_same_bytes_each_time(client: Client) -> None:
    first, second = await client.list_tools(), await client.list_tools()
    assert [one.name for one in first.tools] == ["search", "execute"]
    assert [one.model_dump_json() for one in first.tools] == [one.model_dump_json() for one in second.tools]
    assert "gym" in (first.tools[0].description or "")


async def search_answers_signatures(client: Client) -> None:
    for queries in ("freeze a membership", ["freeze a membership", "who came today"]):
        found = await client.call_tool("search", {"queries": queries})
        assert "gym.memberships.freeze_membership(*, clientId: int" in text(found)
        assert not found.is_error


async def execute_answers_the_result_as_text_and_as_data(client: Client) -> None:
    ended = await client.call_tool(
        "execute", {"code": "print('hi')\ngym.clients.get_clients_list(limit=3)['total'] > 3"}
    )
    assert text(ended) == "true\nprinted:\nhi"
    assert ended.structured_content["status"] == "completed"
    assert [call["state"] for call in ended.structured_content["calls"]] == ["committed"]
    assert not ended.is_error


#: What a model does wrong, and what it is told.
MISTAKES: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("execute", {"code": "gym.clients.get_client_list()"}, "nearest: gym.clients.get_clients_list"),
    ("execute", {"code": "1/0"}, "ZeroDivisionError: division by zero (line 1)"),
    ("execute", {"code": "gym.core.get_gym_info()\n1/0"}, "calls made: gym.core.get_gym_info committed"),
    ("execute", {"program": "1"}, "code: Field required"),
    ("search", {"queries": []}, "queries: "),
    ("search", {"queries": ["x"], "namespace": "gim"}, "gym"),
    ("gym.clients.get_clients_list", {}, "execute calls them"),
)


class Counter:
    """A tool that stays until it is let go, and says when it was reached."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()
        self.released = asyncio.Event()

    async def wait(self) -> str:
        """Wait."""
        self.reached.set()
        await self.released.wait()
        return "done"


@asynccontextmanager
async def face(tmp_path: Path, counter: Counter) -> AsyncIterator[tuple[Client, CodeMode]]:
    settings = Settings(state_folder=tmp_path / "state", cache_folder=tmp_path / "cache")
    async with (
        CodeMode.from_settings(settings, functions={"slow": counter}) as service,
        Client(McpFace(service).server) as connected,
    ):
        yield connected, service


async def test_progress_is_reported_while_a_program_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mcp, "PROGRESS_S", 0.01)
    counter = Counter()
    heard: list[tuple[float, str | None]] = []

    async def listen(progress: float, total: float | None, message: str | None) -> None:
        assert total == 30
        heard.append((progress, message))
        if message and "slow.wait unknown" in message:
            counter.released.set()

    async with face(tmp_path, counter) as (connected, _):
        ended = await connected.call_tool("execute", {"code": "slow.wait()"}, progress_callback=listen)
    assert text(ended) == '"done"'
    assert heard == sorted(heard)
    assert any(message == "0 calls ended; slow.wait unknown" for _, message in heard)


async def test_a_call_that_is_cancelled_ends_its_program(tmp_path: Path) -> None:
    counter = Counter()
    async with face(tmp_path, counter) as (connected, service):
        call = asyncio.create_task(connected.call_tool("execute", {"code": "slow.wait()\nslow.wait()"}))
        await counter.reached.wait()
        counter.reached.clear()
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        counter.released.set()
        assert (await service.execute("1 + 1")).value == 2
        assert not counter.reached.is_set()


@tool(effect="read")
def large(characters: int) -> str:
    """A long text."""
    return "x" * characters


async def test_a_result_that_no_model_would_read_is_cut_with_advice(tmp_path: Path) -> None:
    settings = Settings(state_folder=tmp_path / "state", cache_folder=tmp_path / "cache")
    async with (
        CodeMode.from_settings(settings, functions={"some": [large]}) as service,
        Client(McpFace(service).server) as connected,
    ):
        ended = await connected.call_tool("execute", {"code": "some.large(characters=100_000)"})
    assert text(ended).endswith("more characters: return less of it)")
    assert len(text(ended)) < 21_000
    assert ended.structured_content["value"] is None
