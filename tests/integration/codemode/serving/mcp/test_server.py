"""The MCP face, through the official SDK's client: over stdio in a process of its own, and in this one."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from mcp import Client, StdioServerParameters, stdio_client
from mcp_types import EmptyResult, SetLevelRequest, SetLevelRequestParams

from codemode import CodeMode, tool
from codemode.errors import ConfigurationError
from codemode.features.continuations.continuations import Continuations
from codemode.gateway.caller import Caller
from codemode.serving.mcp import progress as reports
from codemode.serving.mcp.server import McpServer
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
        "execute", {"code": "print('hi')\ngym.clients.get_clients_list(limit=1)['total'] > 1"}
    )
    assert text(ended) == "printed:\nhi\nresult: true"
    assert ended.structured_content["status"] == "completed"
    assert ended.structured_content["text"] == "hi"
    made = [{"tool": "gym.clients.get_clients_list", "state": "read", "count": 1}]
    assert ended.structured_content["calls"] == made
    assert not ended.is_error


#: What a model does wrong, and what it is told.
MISTAKES: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("execute", {"code": "gym.clients.get_client_list()"}, "nearest: gym.clients.get_clients_list"),
    ("execute", {"code": "1/0"}, "ZeroDivisionError: division by zero (line 1)"),
    ("execute", {"code": "gym.core.get_gym_info()\n1/0"}, "calls made: gym.core.get_gym_info read"),
    ("execute", {"program": "1"}, "program: unknown argument; valid: code, resume_from"),
    ("search", {"queries": []}, "queries: "),
    ("search", {"queries": ["x"], "namespace": "gim"}, "gym"),
    ("gym.clients.get_list_of_clients", {}, "there is no tool 'gym.clients.get_list_of_clients'; closest: gym"),
)


#: What a client hears of one call, by the level that it asks for.
LOGGED = [
    (era, level, states)
    for era in ERAS
    for level, states in ((None, []), ("debug", ["sent", "read"]), ("info", ["read"]), ("warning", []))
]


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
        Client(McpServer(service).server) as connected,
    ):
        yield connected, service


async def test_progress_is_reported_while_a_program_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reports, "PROGRESS_S", 0.01)
    counter = Counter()
    heard: list[tuple[float, str | None]] = []

    async def listen(progress: float, total: float | None, message: str | None) -> None:
        assert total == 30
        heard.append((progress, message))
        if message and "slow.wait is running" in message:
            counter.released.set()

    async with face(tmp_path, counter) as (connected, _):
        ended = await connected.call_tool("execute", {"code": "slow.wait()"}, progress_callback=listen)
    assert text(ended) == '"done"'
    assert heard == sorted(heard)
    assert any(message == "0 calls ended; slow.wait is running" for _, message in heard)


@pytest.mark.parametrize(("era", "level", "states"), LOGGED)
async def test_calls_are_logged_at_the_level_that_a_client_asks_for(
    tmp_path: Path, era: str, level: Any, states: list[str]
) -> None:
    heard: list[Any] = []

    async def listen(params: Any) -> None:
        heard.append(params)

    settings = Settings(state_folder=tmp_path / "state", cache_folder=tmp_path / "cache")
    async with (
        CodeMode.from_settings(settings, functions={"shop": [price_of]}) as service,
        Client(McpServer(service).server, mode=era, logging_callback=listen, log_level=level) as connected,
    ):
        assert connected.server_capabilities.logging is not None
        if era == "legacy" and level is not None:
            request = SetLevelRequest(params=SetLevelRequestParams(level=level))
            await connected.session.send_request(request, EmptyResult)
        await connected.call_tool("execute", {"code": "shop.price_of(name='secret thing')"})
    assert [one.data["state"] for one in heard] == states
    assert "secret thing" not in json.dumps([one.data for one in heard])


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


async def test_a_large_result_is_shortened_and_the_next_program_loads_the_whole(tmp_path: Path) -> None:
    settings = Settings(state_folder=tmp_path / "state", cache_folder=tmp_path / "cache")
    async with (
        CodeMode.from_settings(settings, functions={"some": [large]}) as service,
        Client(McpServer(service).server) as connected,
    ):
        ended = await connected.call_tool("execute", {"code": "[some.large(characters=100_000), 7]"})
        handle = ended.structured_content["whole"]
        again = await connected.call_tool("execute", {"code": f"len(load({handle!r})[0])"})
    shown, told, note = text(ended).split("\n")
    assert note.startswith("note: `last` is this result")
    assert json.loads(shown) == ended.structured_content["value"]
    assert json.loads(shown)[0].startswith("xxx")
    assert told.startswith("shortened: []: ")
    assert told.endswith(f" of 100,000 characters. load({handle!r}) in the next program is the whole result")
    assert len(text(ended)) < 21_000
    assert text(again) == "100000"


async def test_what_a_client_gets_as_data_is_no_longer_than_the_text(tmp_path: Path) -> None:
    settings = Settings(state_folder=tmp_path / "state", cache_folder=tmp_path / "cache")
    async with (
        CodeMode.from_settings(settings, functions={"some": [large]}) as service,
        Client(McpServer(service).server) as connected,
    ):
        ended = await connected.call_tool("execute", {"code": "len([some.large(characters=n) for n in range(200)])"})
        assert ended.structured_content["value"] == 200
        assert ended.structured_content["calls"] == [{"tool": "some.large", "state": "read", "count": 200}]
        assert len(json.dumps(ended.structured_content)) < 400
        failed = await connected.call_tool("execute", {"code": "some.large(characters=1)\n1 / 0"})
        assert failed.structured_content["failure"]["type"] == "ZeroDivisionError"
        assert "calls made: some.large read" in failed.structured_content["text"]


@tool(effect="read")
def price_of(name: str, pieces: int = 1) -> dict[str, int | str]:
    """What some pieces of a thing cost."""
    return {"name": name, "price": 3 * pieces}


async def test_pinned_tools_stand_beside_the_two_and_are_called_as_programs_are(tmp_path: Path) -> None:
    settings = Settings(state_folder=tmp_path / "state", cache_folder=tmp_path / "cache", pins=("shop.price_of",))
    async with (
        CodeMode.from_settings(settings, functions={"shop": [price_of, large]}) as service,
        Client(McpServer(service).server) as connected,
    ):
        listed = (await connected.list_tools()).tools
        assert [one.name for one in listed] == ["search", "execute", "shop-price_of"]
        assert listed[2].input_schema["required"] == ["name"]
        ended = await connected.call_tool("shop-price_of", {"name": 'it\'s "one"\\n', "pieces": 2})
        assert ended.structured_content["value"] == {"name": 'it\'s "one"\\n', "price": 6}
        assert [call["tool"] for call in ended.structured_content["calls"]] == ["shop.price_of"]
        wrong = await connected.call_tool("shop-price_of", {"nam": "bolt"})
        assert wrong.is_error
        assert "name" in text(wrong)
        assert "there is no tool 'shop-small'" in text(await connected.call_tool("shop-small", {}))


async def test_a_pin_that_is_no_tool_is_told_with_the_nearest(tmp_path: Path) -> None:
    settings = Settings(state_folder=tmp_path / "state", cache_folder=tmp_path / "cache", pins=("shop.price",))
    with pytest.raises(ConfigurationError, match=r"pins\.0: there is no tool .*; did you mean 'shop.price_of'"):
        async with CodeMode.from_settings(settings, functions={"shop": [price_of]}):
            pass


async def test_who_may_not_use_a_tool_has_no_pin_of_it(tmp_path: Path) -> None:
    denied = {"roles": ["guest"], "rules": [{"roles": ["guest"], "tools": ["shop.*"], "decision": "deny"}]}
    folders = {"state_folder": tmp_path / "state", "cache_folder": tmp_path / "cache"}
    settings = Settings.model_validate({"pins": ["shop.price_of"], "policy": denied, **folders})
    async with CodeMode.from_settings(settings, functions={"shop": [price_of], "other": [large]}) as service:
        guest = Caller(id="guest", role="guest")
        assert [one["function"]["name"] for one in await service.definitions(guest)] == ["search", "execute"]
        assert not (await service.tools(guest).call("shop-price_of", {"name": "bolt"})).ok
        assert len(await service.definitions()) == 3


async def test_definitions_stay_as_they_are_while_a_session_lasts(tmp_path: Path) -> None:
    settings = Settings(state_folder=tmp_path / "state", cache_folder=tmp_path / "cache")
    async with CodeMode.from_settings(settings, functions={"shop": [price_of]}) as service:
        face = McpServer(service)
        async with Client(face.server) as connected:
            before = (await connected.list_tools()).model_dump_json()
            service.functions["more"] = [large]
            await service.reload()
            assert "more" in service.catalog.namespaces
            assert (await connected.list_tools()).model_dump_json() == before


async def test_a_paused_result_carries_its_continuation_beside_what_the_model_reads(tmp_path: Path) -> None:
    @tool(effect="destructive")
    def drop(number: int) -> int:
        """Drop an order."""
        return number

    (tmp_path / "key").write_text("a secret of more than 32 characters", encoding="utf-8")
    settings = Settings.model_validate({"continuations": {"key": {"file": tmp_path / "key"}}})
    async with CodeMode.from_settings(settings, functions={"shop": [drop]}) as service:
        async with Client(McpServer(service).server) as client:
            paused = await client.call_tool("execute", {"code": "shop.drop(number=7)"})
        continuation = (paused.meta or {})["codemode/continuation"]
        (waiting,) = await service.part(Continuations).pending(continuation, Caller("ann", "approver"))
    assert waiting.arguments == {"number": 7}
    assert continuation not in text(paused) + json.dumps(paused.structured_content)
