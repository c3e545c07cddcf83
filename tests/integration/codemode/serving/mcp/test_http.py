"""The MCP face over HTTP: `codemode serve` in a process of its own, and clients with keys."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from mcp.shared.dispatcher import ProgressFnT
    from mcp_types import CallToolResult

    from tests.conftest import Gym

COMMAND = str(Path(sys.executable).parent / "codemode")
CONFIGURATION = """
sources:
  gym:
    location: {document}
    base_url: {url}
    credentials: [{{kind: bearer, token: {{file: {token}}}}}]
policy:
  roles: [reader]
  rules:
    - {{roles: [reader], effects: [write, destructive], decision: deny}}
server:
  port: 0
  keys:
    - {{env: KEY_OF_ANN}}
    - {{secret: {{env: KEY_OF_BOB}}, role: reader}}
state_folder: state
cache_folder: cache
"""
KEYS = {"KEY_OF_ANN": "ann-has-this-key", "KEY_OF_BOB": "bob-has-this-one"}


def text(result: CallToolResult) -> str:
    (content,) = result.content
    assert content.type == "text"
    return content.text


@pytest.fixture(scope="module")
def server(gym: Gym, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of `/mcp`."""
    folder = tmp_path_factory.mktemp("served")
    content = CONFIGURATION.format(document=gym.document, url=gym.url, token=gym.token_file)
    (folder / "codemode.yaml").write_text(content, encoding="utf-8")
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), **KEYS}  # noqa: TID251
    with subprocess.Popen(
        [COMMAND, "serve", "--config", "codemode.yaml"], cwd=folder, stderr=subprocess.PIPE, env=environment, text=True
    ) as process:
        assert process.stderr is not None
        said = ""
        while "http://" not in (line := process.stderr.readline()):
            assert line, said
            said += line
        yield line.rpartition(" ")[2].strip() + "/mcp"
        process.send_signal(signal.SIGTERM)
        assert process.wait() == 0, process.stderr.read()


@asynccontextmanager
async def client_of(address: str, key: str, era: str = "auto") -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {KEYS[key]}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=200) as http,
        Client(streamable_http_client(address, http_client=http), mode=era, read_timeout_seconds=60) as connected,
    ):
        yield connected


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_a_client_with_a_key_searches_and_executes(server: str, era: str) -> None:
    async with client_of(server, "KEY_OF_ANN", era) as client:
        assert [one.name for one in (await client.list_tools()).tools] == ["search", "execute"]
        found = await client.call_tool("search", {"queries": ["freeze a membership"]})
        assert "gym.memberships.freeze_membership(" in text(found)
        ended = await client.call_tool("execute", {"code": "gym.clients.get_clients_list(limit=1)['total'] > 0"})
        assert ended.structured_content["value"] is True


@pytest.mark.parametrize(("era", "again"), [("auto", True), ("legacy", False)])
async def test_a_session_is_told_the_conventions_of_an_api_once(server: str, era: str, again: bool) -> None:
    async with client_of(server, "KEY_OF_ANN", era) as client:
        answers = [
            text(await client.call_tool("search", {"queries": [query]}))
            for query in ("freeze a membership", "list trainers")
        ]
    assert [answer.startswith("# gym: Money is in minor units") for answer in answers] == [True, again]


@pytest.mark.parametrize(("era", "result"), [("auto", "no conversation"), ("legacy", [1, "first"])])
async def test_the_programs_of_a_session_share_state(server: str, era: str, result: object) -> None:
    caught = "try:\n    x = [load('n'), load('last')]\nexcept ToolError as error:\n    x = 'no conversation'\nx"
    async with client_of(server, "KEY_OF_ANN", era) as client:
        store = "store('n', 1)\n'first'" if era == "legacy" else "'first'"
        await client.call_tool("execute", {"code": store})
        assert (await client.call_tool("execute", {"code": caught})).structured_content["value"] == result


def named(conversation: str) -> Any:
    return {"codemode/conversation": conversation}


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_a_client_names_the_conversation_of_a_call(server: str, era: str) -> None:
    chat = named(f"chat of {era}")
    async with client_of(server, "KEY_OF_ANN", era) as client:
        await client.call_tool("execute", {"code": "store('n', 1)\n'first'"}, meta=chat)
    async with client_of(server, "KEY_OF_ANN", era) as client:
        shared = await client.call_tool("execute", {"code": "[load('n'), last]"}, meta=chat)
        invalid = await client.call_tool("execute", {"code": "1"}, meta=named("x" * 129))
    async with client_of(server, "KEY_OF_BOB", era) as client:
        others = await client.call_tool("execute", {"code": "load('n')"}, meta=chat)
    assert shared.structured_content["value"] == [1, "first"]
    assert "expected 1 to 128 visible characters" in text(invalid)
    assert "has no stored value 'n'" in text(others)


async def test_a_client_sees_what_the_role_of_its_key_may_use(server: str) -> None:
    async with client_of(server, "KEY_OF_BOB") as client:
        found = await client.call_tool("search", {"queries": ["freeze a membership"]})
        assert "freeze_membership" not in text(found)
        ended = await client.call_tool("execute", {"code": "gym.memberships.freeze_membership(clientId=1)"})
        assert ended.is_error
        assert "there is no tool" in text(ended)


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_two_clients_at_once_see_and_end_their_own_programs_alone(server: str, era: str) -> None:
    begun = {key: asyncio.Event() for key in KEYS}
    told: dict[str, list[str]] = {key: [] for key in KEYS}

    def heard(key: str) -> ProgressFnT:
        async def told_of(progress: float, total: float | None, message: str | None) -> None:
            told[key].append(message or "")
            begun[key].set()

        return told_of

    async def execute(client: Client, key: str, code: str) -> CallToolResult:
        return await client.call_tool("execute", {"code": code}, progress_callback=heard(key))

    ann, bob = KEYS
    async with client_of(server, ann, era) as first, client_of(server, bob, era) as second:
        endless = asyncio.create_task(execute(first, ann, "gym.core.get_gym_info()\nwhile True: pass"))
        await begun[ann].wait()
        listed = "gym.clients.get_clients_list(limit=1)['total'] > 0"
        ended = await asyncio.gather(*(execute(second, bob, listed) for _ in range(8)))
        assert all(one.structured_content["value"] is True for one in ended)
        endless.cancel()
        with suppress(asyncio.CancelledError):
            await endless
        assert (await execute(second, bob, listed)).structured_content["value"] is True
        (done,) = {one.structured_content["id"] for one in ended[:1]}
        repaired = await first.call_tool("execute", {"code": listed, "resume_from": done})
        assert repaired.is_error
        assert "there is no execution" in text(repaired)
    assert not any("get_clients_list" in line for line in told[ann])
    assert not any("get_gym_info" in line for line in told[bob])


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer nobody"}])
async def test_nobody_is_served_without_a_key(server: str, headers: dict[str, str]) -> None:
    async with httpx2.AsyncClient(headers=headers) as http:
        answer = await http.post(server, json={"jsonrpc": "2.0", "id": 1, "method": "ping"})
        assert (answer.status_code, answer.json()["code"]) == (401, "unauthorized")


async def test_the_session_of_another_key_does_not_exist(server: str) -> None:
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
    }
    accept = {"Accept": "application/json, text/event-stream"}
    async with httpx2.AsyncClient(headers=accept) as http:
        opened = await http.post(server, json=hello, headers={"Authorization": f"Bearer {KEYS['KEY_OF_ANN']}"})
        session = {"Mcp-Session-Id": opened.headers["mcp-session-id"]}
        ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
        answers = [
            await http.post(server, json=ping, headers={"Authorization": f"Bearer {key}", **session})
            for key in KEYS.values()
        ]
        assert [answer.status_code for answer in answers] == [200, 404]


HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}


def answer_of(answer: httpx2.Response) -> Any:
    """Return the one JSON-RPC answer of a response, and check that it has the form that it names."""
    if answer.headers["content-type"].startswith("text/event-stream"):
        found = [json.loads(line[5:]) for line in answer.text.splitlines() if line.startswith("data: {")]
        return next(one for one in found if "method" not in one)
    assert answer.headers["content-type"] == "application/json"
    return answer.json()


@pytest.mark.parametrize(
    ("accept", "form"),
    [
        (None, "application/json"),
        ("*/*", "application/json"),
        ("application/json", "application/json"),
        ("application/json;charset=utf-8", "application/json"),
        ("text/event-stream", "text/event-stream"),
        ("text/html", "application/json"),
        ("application/json, text/event-stream", "text/event-stream"),
    ],
)
async def test_a_client_that_accepts_one_form_is_answered_in_it(server: str, accept: str | None, form: str) -> None:
    headers = {"Authorization": f"Bearer {KEYS['KEY_OF_ANN']}"}
    async with httpx2.AsyncClient(headers=headers, timeout=200) as http:
        del http.headers["accept"]
        if accept is not None:
            http.headers["accept"] = accept
        hello = await http.post(server, json=HELLO)
        assert answer_of(hello)["result"]["serverInfo"]["name"] == "codemode"
        http.headers["mcp-session-id"] = hello.headers["mcp-session-id"]
        noted = await http.post(server, json={"jsonrpc": "2.0", "method": "notifications/initialized"})
        assert noted.status_code == 202
        code = f"import time\ntime.sleep(1.2)\n'the end of {accept}'"
        call = {"name": "execute", "arguments": {"code": code}, "_meta": {"progressToken": "p"}}
        ended = await http.post(server, json={"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call})
        assert ended.headers["content-type"].startswith(form)
        assert answer_of(ended)["result"]["content"][0]["text"] == f'"the end of {accept}"'


async def test_a_page_that_opens_the_endpoint_is_not_kept_waiting_for_events(server: str) -> None:
    headers = {"Authorization": f"Bearer {KEYS['KEY_OF_ANN']}", "Accept": "text/html"}
    async with httpx2.AsyncClient(headers=headers) as http:
        assert (await http.get(server)).status_code == 406
