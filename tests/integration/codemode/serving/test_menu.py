"""Menus over HTTP and on the command line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
import yaml
from typer.testing import CliRunner

from api_specs.gym.document import PATH as GYM
from codemode.gateway.caller import Caller
from codemode.service import CodeMode
from codemode.serving.application.app import create_app
from codemode.serving.auth.callers import Callers
from codemode.serving.auth.keys import KeyFile
from codemode.serving.cli.main import app
from codemode.settings import load_settings
from tests.integration.codemode.serving.http.described import DescribedTransport

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.conftest import Gym

MENU = yaml.safe_load(GYM.with_name("menu.yaml").read_text(encoding="utf-8"))
KEY = {"Authorization": "Bearer a-key"}


@pytest.fixture
async def client(gym: Gym, tmp_path: Path) -> AsyncIterator[httpx2.AsyncClient]:
    async with CodeMode.from_settings(gym.settings(menu=MENU)) as service:
        callers = Callers({"a-key": Caller("a-key")}, KeyFile(tmp_path / "keys.json"))
        transport = DescribedTransport(create_app(service, callers))
        async with httpx2.AsyncClient(transport=transport, base_url="http://testserver", timeout=200) as client:
            yield client


async def post(client: httpx2.AsyncClient, **body: Any) -> Any:
    answer = await client.post("/v1/menu", json=body, headers=KEY)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_a_menu_over_http(client: httpx2.AsyncClient) -> None:
    history = [{"role": "user", "content": "show me all active clients"}, {"role": "assistant", "content": "…"}]
    menu = await post(client, message="freeze the first one", history=history)
    assert len(menu["tools"]) == 32
    assert menu["tools"][0]["function"]["name"] == "gym-core-change_theme"
    assert menu["summary"].startswith("32/137 tools | activated: clients(keyword:1.00), memberships(keyword:1.00)")
    assert menu["offered"][8]["why"] == "clients: keyword 'client'"
    assert menu["cost"]["tools"] == 32
    assert menu["cost"]["all_tools"] == 137
    assert 0 < menu["cost"]["tokens"] < menu["cost"]["all_tokens"]
    assert menu["answers"] == []


async def test_calls_of_meta_tools_are_answered_over_http_and_their_tools_stay(client: httpx2.AsyncClient) -> None:
    first = await post(client, message="what is pending salary?", meta_tools=True)
    assert [tool["function"]["name"] for tool in first["tools"]][:2] == ["request_more_tools", "request_tool"]
    arguments = json.dumps({"categories": ["revenue"], "reason": "totals"})
    call = {"id": "c1", "type": "function", "function": {"name": "request_more_tools", "arguments": arguments}}
    history = [
        {"role": "user", "content": "what is pending salary?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
    ]
    other = {"id": "c2", "type": "function", "function": {"name": "gym-salary-get_salary_stats", "arguments": "{}"}}
    second = await post(client, history=history[:1], meta_tools=True, calls=[call, other])
    (answer, not_meta) = second["answers"]
    assert answer["text"].startswith("Loaded 2 tools: ")
    assert not_meta is None
    assert len(second["tools"]) == len(first["tools"]) + 2
    third = await post(client, history=history, meta_tools=True)
    assert third["tools"] == second["tools"]


async def test_a_wrong_request_is_told(client: httpx2.AsyncClient) -> None:
    answer = await client.post("/v1/menu", json={"history": "hi"}, headers=KEY)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["at"] == "body.history"
    assert (await client.post("/v1/menu", json={"message": "hi"})).status_code == 401


@pytest.fixture
def config(tmp_path: Path) -> str:
    source = {"location": str(GYM), "base_url": "http://127.0.0.1:9", "credentials": [{"kind": "none"}]}
    folders = {"state_folder": str(tmp_path / "state"), "cache_folder": str(tmp_path / "cache")}
    file = tmp_path / "codemode.yaml"
    menu = str(GYM.with_name("menu.yaml"))
    file.write_text(yaml.safe_dump({"sources": {"gym": source}, "menu": menu, **folders}), encoding="utf-8")
    return str(file)


def test_a_menu_on_the_command_line(config: str, tmp_path: Path) -> None:
    shown = CliRunner().invoke(app, ["menu", "who came today?", "--config", config])
    assert shown.exit_code == 0, shown.output
    lines = shown.stdout.splitlines()
    expected = "32/137 tools | activated: clients(keyword:1.00), attendance(keyword:1.00) | related: memberships"
    assert lines[0] == expected
    assert "tokens (estimate)" in lines[1]
    assert len(lines) == 34
    history = tmp_path / "history.json"
    history.write_text(json.dumps([{"role": "user", "content": "pending salary"}]), encoding="utf-8")
    options = ["--history", str(history), "--meta-tools", "--json", "--config", config]
    told = json.loads(CliRunner().invoke(app, ["menu", "and?", *options]).stdout)
    assert len(told["tools"]) == 21


def test_defaults_are_proposed_from_what_was_called(config: str, tmp_path: Path) -> None:
    assert CliRunner().invoke(app, ["measure", "menu", "--config", config]).exit_code == 1
    record = load_settings(config).learned() / "menu-usage.jsonl"
    record.parent.mkdir(parents=True, exist_ok=True)
    line = {"tool": "gym.surveys.get_surveys", "by": "not offered", "unmatched": True}
    record.write_text(f"{json.dumps(line)}\n" * 20, encoding="utf-8")
    shown = CliRunner().invoke(app, ["measure", "menu", "--config", config])
    assert shown.exit_code == 0, shown.output
    assert "0% now, 100% with the proposal" in shown.stdout
    assert "  defaults: [surveys]" in shown.stdout
    told = json.loads(CliRunner().invoke(app, ["measure", "menu", "--json", "--config", config]).stdout)
    assert told["core"] == ["gym.surveys.get_surveys"]


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("[", [], "is not JSON"),
        ("{}", [], "is not a JSON list of messages"),
        (None, [], "cannot read the history"),
        ("[]", ["--role", "boss"], "there is no role 'boss'; valid: default"),
    ],
)
def test_what_cannot_be_followed_is_said(
    config: str, tmp_path: Path, content: str | None, options: list[str], message: str
) -> None:
    history = tmp_path / "history.json"
    if content is not None:
        history.write_text(content, encoding="utf-8")
    ended = CliRunner().invoke(app, ["menu", "hi", "--history", str(history), "--config", config, *options])
    assert ended.exit_code == 2
    assert message in ended.stderr.replace("\n", "")
