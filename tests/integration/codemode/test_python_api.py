"""The Python API as an application uses it: one source without a file, blocking calls, and a mounted application."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from fastapi import FastAPI

import codemode
from codemode import (
    CodeMode,
    ConfigurationError,
    CustomSource,
    ExecutionFailed,
    SecretReference,
    SyncCodeMode,
    Tool,
)
from codemode.catalog.tool import Effect
from codemode.errors import WrongArgument
from codemode.settings import Settings, SourceSettings
from codemode.sources.source import SourceContext
from codemode.testing.served import Served
from codemode.transports.base import CallContext

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from tests.conftest import Gym

SERVER = "tests/unit/codemode/sources/example_server.py"


def of_gym(gym: Gym) -> CodeMode:
    return CodeMode.from_openapi(
        gym.document, base_url=gym.url, name="gym", bearer=SecretReference(file=gym.token_file)
    )


async def test_one_document_needs_no_file(gym: Gym, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    cm = await of_gym(gym).start()
    try:
        assert "gym.clients" in repr(await cm.search("list the clients"))
        outcome = (await cm.execute("len(gym.clients.get_clients_list(name='John'))")).raise_for_status()
    finally:
        await cm.aclose()
    assert repr(outcome).startswith(f"<ExecutionOutcome {outcome.id} completed value=")
    picture = outcome._repr_html_()
    assert "<svg" in picture
    assert "gym.clients.get_clients_list" in picture


async def test_a_program_that_fails_raises_on_request() -> None:
    async with CodeMode.from_functions(shop=[len]) as cm:
        outcome = await cm.execute("1 / 0")
    with pytest.raises(ExecutionFailed, match=r"did not complete \(failed\): division by zero") as caught:
        outcome.raise_for_status()
    assert caught.value.outcome is outcome
    assert "ZeroDivisionError" in repr(outcome)


async def test_a_picture_holds_no_markup_of_the_program() -> None:
    async with CodeMode.from_functions(shop=[len]) as cm:
        outcome = await cm.execute("print('<script>alert(1)</script>\\u202e'); '<img src=x>'")
    picture = outcome._repr_html_()
    assert "<script" not in picture
    assert "<img" not in picture
    assert "\u202e" not in picture


def test_calls_block_without_an_event_loop(gym: Gym, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    cm = SyncCodeMode(of_gym(gym))
    with pytest.raises(RuntimeError, match=r"call start\(\)"):
        cm.execute("1")
    with cm:
        assert cm.search("list the clients").total > 0
        assert cm.execute("1 + 1").value == 2
        assert "gym.salary  # 6 tools" in cm.describe("gym")
        assert [each["function"]["name"] for each in cm.definitions()] == ["search", "execute"]
    cm.close()


async def test_calls_block_beside_a_running_event_loop() -> None:
    with SyncCodeMode(CodeMode.from_functions(shop=[len])) as cm:
        assert cm.execute("2 + 2").value == 4


def test_a_source_that_cannot_be_read_ends_the_start() -> None:
    cm = SyncCodeMode(CodeMode(Settings.model_validate({"sources": {"a": {"location": "no.json"}}}), strict=True))
    with pytest.raises(codemode.SourceError):
        cm.start()
    cm.close()


async def test_the_application_is_mounted_in_another(gym: Gym, tmp_path: Path) -> None:
    settings = gym.settings(server={"keys": [{"file": str(tmp_path / "key")}]}, state_folder=str(tmp_path / "state"))
    (tmp_path / "key").write_text("a-key-of-the-server-0123456789", encoding="utf-8")
    server = codemode.app(settings)
    api = FastAPI(lifespan=server.lifespan)
    api.mount("/codemode", server)
    async with Served(api, has_lifespan=True) as place, httpx2.AsyncClient(base_url=place.url) as client:
        headers = {"Authorization": "Bearer a-key-of-the-server-0123456789"}
        assert (await client.get("/codemode/livez")).status_code == 200
        assert (await client.post("/codemode/v1/execute", json={"code": "1"})).status_code == 401
        ran = await client.post("/codemode/v1/execute", json={"code": "1 + 1"}, headers=headers)
        assert ran.json()["value"] == 2
        assert (await server.service.execute("3")).value == 3


async def test_the_application_says_that_it_was_not_started(gym: Gym, tmp_path: Path) -> None:
    server = codemode.app(gym.settings(state_folder=str(tmp_path)), allow_anybody=True)
    api = FastAPI()
    api.mount("/codemode", server)
    async with Served(api, has_lifespan=True) as place, httpx2.AsyncClient(base_url=place.url) as client:
        answer = await client.get("/codemode/livez")
    assert answer.status_code == 503
    assert "lifespan=server.lifespan" in answer.json()["detail"]


async def test_the_application_runs_alone(gym: Gym, tmp_path: Path) -> None:
    server = codemode.app(gym.settings(state_folder=str(tmp_path)), allow_anybody=True)
    async with Served(server, has_lifespan=True) as place, httpx2.AsyncClient(base_url=place.url) as client:
        assert (await client.post("/v1/execute", json={"code": "5"})).json()["value"] == 5


def test_an_application_without_keys_is_rejected(gym: Gym, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="allow_anybody"):
        codemode.app(gym.settings(state_folder=str(tmp_path)))


async def test_an_mcp_server_needs_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    offered = [{"name": "add", "inputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}}}]
    (tmp_path / "offered.json").write_text(json.dumps(offered), encoding="utf-8")
    async with CodeMode.from_mcp([sys.executable, SERVER, str(tmp_path / "offered.json")], name="example") as cm:
        assert cm.sources["example"].failure is None
        assert [tool.id for tool in cm.catalog] == ["example.add"]


class Weather(CustomSource):
    async def tools(self) -> Iterable[Tool]:
        city = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
        return [self.tool("forecast", summary="Forecast the weather", parameters=city, effect="read")]

    async def call(self, tool: Tool, arguments: Mapping[str, Any], context: CallContext) -> Any:
        await context.before_send()
        return {"city": arguments["city"], "degrees": self.settings.options.get("degrees", 20)}


async def test_a_custom_source_is_one_class() -> None:
    settings = SourceSettings.model_construct(kind="weather", options={"degrees": 7})
    surface, transport = await Weather.load("sky", settings, SourceContext())
    (tool,) = surface.tools
    assert (tool.id, tool.effect, tool.parameters[0].required) == ("sky.forecast", Effect.READ, True)
    assert await transport.call(tool, {"city": "Oslo"}, CallContext()) == {"city": "Oslo", "degrees": 7}
    with pytest.raises(codemode.CallError, match=r"sky\.forecast has no pages"):
        await transport.call_page(tool, {}, CallContext())
    await transport.aclose()


def test_functions_without_a_namespace_and_a_command_in_pieces_are_rejected() -> None:
    with pytest.raises(WrongArgument, match=r"^name the functions by their namespace: .*shop=\[find_order\]"):
        CodeMode.from_functions([len])
    with pytest.raises(WrongArgument, match=r'^pass the command as one list: .*\["npx", "-y", "server"\]'):
        CodeMode.from_mcp("npx", "server")


def test_files_are_kept_and_read_without_await() -> None:
    with SyncCodeMode(CodeMode.from_functions(text=[len])) as cm:
        reference = cm.keep_content(b"a,b", "text/csv")
        assert cm.content(reference).data == b"a,b"
