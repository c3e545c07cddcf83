"""MCP servers that ask a person in the middle of a call, in both eras of their protocol and of our client's."""

from __future__ import annotations

import json
import sys
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from mcp import Client
from mcp_types import ElicitResult

from codemode import CodeMode
from codemode.errors import ApprovalForbidden, ApprovalRefused
from codemode.executions.types.records import Decision
from codemode.gateway.caller import LOCAL, Caller
from codemode.serving.mcp.server import McpServer
from codemode.settings import Settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

SERVER = Path(__file__).parents[4] / "unit" / "codemode" / "sources" / "asking_server.py"
ERAS = pytest.mark.parametrize("upstream", [(), ("legacy",)], ids=["modern", "legacy"])
OTHER = Caller("somebody-else")


@asynccontextmanager
async def tickets(folder: Path, upstream: tuple[str, ...], **more: Any) -> AsyncIterator[CodeMode]:
    """The service with the server as `tickets`."""
    source = {"command": [sys.executable, str(SERVER), str(folder / "done"), *upstream], "timeout_s": 60}
    given = {"sources": {"tickets": source}, "state_folder": folder / "state", "cache_folder": folder / "cache"}
    async with CodeMode.from_settings(Settings.model_validate({**given, **more})) as service:
        yield service


def done(folder: Path) -> list[Any]:
    file = folder / "done"
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []


@ERAS
@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_a_question_reaches_the_client_and_the_call_is_made_once(
    tmp_path: Path, upstream: tuple[str, ...], era: str
) -> None:
    asked = []

    async def person(context: Any, params: Any) -> ElicitResult:
        asked.append(params)
        return ElicitResult(action="accept", content={"project": "roof"})

    async with (
        tickets(tmp_path, upstream) as service,
        Client(McpServer(service).server, mode=era, elicitation_callback=person) as client,
    ):
        ended = await client.call_tool("execute", {"code": "tickets.file(title='leak')"})
    expected = {"title": "leak", "action": "accept", "project": "roof"}
    assert ended.structured_content["value"] == expected
    assert done(tmp_path) == [expected]
    assert asked[0].message == "tickets.file asks: Which project?"
    assert asked[0].requested_schema["required"] == ["project"]


@ERAS
async def test_a_question_waits_in_the_inbox_and_its_owner_answers(tmp_path: Path, upstream: tuple[str, ...]) -> None:
    async with tickets(tmp_path, upstream) as service:
        ended = await service.execute("[tickets.file(title=title) for title in ('leak', 'crack')]")
        for number in (1, 2):
            assert (ended.status, len(done(tmp_path))) == ("paused", number - 1)
            (call,) = await service.executions.approvals(LOCAL, ended.id)
            assert (call.kind, call.reason) == ("input", "its service asks: Which project?")
            assert ended.failure is not None
            assert ended.failure.message.startswith("its service asks: Which project?")
            assert call.asks is not None
            assert call.asks["mode"] == "form"
            answer = Decision(call.id, call.digest, "answered", "", value={"project": "roof"})
            with pytest.raises(ApprovalForbidden):
                await service.executions.decide([answer], OTHER)
            with pytest.raises(ApprovalRefused, match="the valid answers are answered, declined"):
                await service.executions.decide(
                    [Decision(call.id, call.digest, "approved", "")], Caller("ann", "approver")
                )
            await service.executions.decide([answer], LOCAL)
            await service.executions.resume(ended.id, LOCAL)
            stored = await service.executions.wait(ended.id, LOCAL, 60)
            ended = type(ended).from_json({**(stored.outcome or {}), "status": stored.status})
    assert [one["title"] for one in ended.value] == ["leak", "crack"]
    assert len(done(tmp_path)) == 2


@ERAS
async def test_a_declined_question_is_declined_to_the_server(tmp_path: Path, upstream: tuple[str, ...]) -> None:
    async def person(context: Any, params: Any) -> ElicitResult:
        return ElicitResult(action="decline")

    async with (
        tickets(tmp_path, upstream) as service,
        Client(McpServer(service).server, elicitation_callback=person) as client,
    ):
        ended = await client.call_tool("execute", {"code": "tickets.file(title='leak')"})
    assert ended.structured_content["value"] == {"title": "leak", "action": "decline"}


@ERAS
async def test_a_link_is_passed_on_as_a_link(tmp_path: Path, upstream: tuple[str, ...]) -> None:
    asked = []

    async def person(context: Any, params: Any) -> ElicitResult:
        asked.append(params)
        return ElicitResult(action="accept")

    async with (
        tickets(tmp_path, upstream) as service,
        Client(McpServer(service).server, elicitation_callback=person) as client,
    ):
        ended = await client.call_tool("execute", {"code": "tickets.file_with_login(title='leak')"})
    assert ended.structured_content["value"] == {"title": "leak", "action": "accept"}
    assert (asked[0].mode, asked[0].url) == ("url", "https://login.example.org/start")


@ERAS
async def test_without_a_journal_the_program_gets_a_clear_error(tmp_path: Path, upstream: tuple[str, ...]) -> None:
    async with tickets(tmp_path, upstream, journal={"enabled": False}) as service:
        ended = await service.execute("tickets.file(title='leak')")
    assert ended.failure is not None
    assert "tickets asks a person" in ended.failure.message
    assert "(set journal.enabled: true): Which project?" in ended.failure.message
    assert done(tmp_path) == []
