"""Approvals in the MCP client: multi round-trip requests since 2026-07-28, `elicitation/create` in sessions."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest
from mcp import Client, MCPError
from mcp_types import ElicitResult, InputRequiredResult

from codemode import CodeMode, tool
from codemode.gateway.caller import LOCAL, Caller
from codemode.serving.mcp.server import McpServer
from codemode.settings import Settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from mcp_types import CallToolResult

ERAS = ("auto", "legacy")
PAID: list[int] = []


@tool(effect="destructive")
def pay(amount: int, to: str = "ann") -> int:
    """Pay an amount."""
    PAID.append(amount)
    return amount


@pytest.fixture(autouse=True)
def _nothing_paid() -> None:
    PAID.clear()


@asynccontextmanager
async def service_of(tmp_path: Path, in_client: str, **more: Any) -> AsyncIterator[CodeMode]:
    folders = {"state_folder": tmp_path / "state", "cache_folder": tmp_path / "cache"}
    settings = Settings.model_validate({"approvals": {"in_client": in_client, **more}, **folders})
    async with CodeMode.from_settings(settings, functions={"bank": [pay]}) as service:
        yield service


class Person:
    """The person at a client: gives these answers in turn, and keeps what she was asked."""

    def __init__(self, *answers: ElicitResult) -> None:
        self.asked: list[Any] = []
        self._answers = list(answers)

    async def __call__(self, context: Any, params: Any) -> ElicitResult:
        self.asked.append(params)
        return self._answers.pop(0)


def says(decision: str, **more: str) -> ElicitResult:
    return ElicitResult(action="accept", content={"decision": decision, **more})


def at(service: CodeMode, era: str, person: Person | None, caller: Callable[[Any], Caller] = lambda _: LOCAL) -> Client:
    return Client(McpServer(service, caller_of=caller).server, mode=era, elicitation_callback=person)


def text(result: CallToolResult) -> str:
    (content,) = result.content
    assert content.type == "text"
    return content.text


@pytest.mark.parametrize("era", ERAS)
async def test_the_single_user_approves_in_the_client_and_the_program_continues(tmp_path: Path, era: str) -> None:
    person = Person(says("approve"), says("approve"))
    async with service_of(tmp_path, "single_user") as service, at(service, era, person) as client:
        ended = await client.call_tool("execute", {"code": "[bank.pay(amount=1), bank.pay(amount=2, to='\\u202ebob')]"})
    assert ended.structured_content["value"] == [1, 2]
    assert PAID == [1, 2]
    assert "Approve bank.pay?" in person.asked[0].message
    assert "amount = 1" in person.asked[0].message
    assert "\u202e" not in person.asked[1].message
    assert person.asked[0].requested_schema["required"] == ["decision"]


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("answer", [says("reject", reason="too much"), ElicitResult(action="decline")])
async def test_a_rejected_call_fails_in_the_program(tmp_path: Path, era: str, answer: ElicitResult) -> None:
    async with service_of(tmp_path, "single_user") as service, at(service, era, Person(answer)) as client:
        ended = await client.call_tool("execute", {"code": "bank.pay(amount=1)"})
    assert ended.is_error
    assert "a person rejected bank.pay" in text(ended)
    assert PAID == []


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("answer", [ElicitResult(action="cancel"), says("perhaps")])
async def test_a_question_that_is_not_answered_stays_in_the_inbox(
    tmp_path: Path, era: str, answer: ElicitResult
) -> None:
    person = Person(answer)
    async with service_of(tmp_path, "single_user") as service, at(service, era, person) as client:
        ended = await client.call_tool("execute", {"code": "bank.pay(amount=1)"})
        assert ended.structured_content["status"] == "paused"
        assert len(person.asked) == 1
        approver = Caller("ann", "approver")
        assert [call.tool for call in await service.executions.approvals(approver)] == ["bank.pay"]


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("in_client", ["off", "approver"])
async def test_who_started_an_execution_is_not_asked_by_default(tmp_path: Path, era: str, in_client: str) -> None:
    async with service_of(tmp_path, in_client) as service, at(service, era, Person()) as client:
        ended = await client.call_tool("execute", {"code": "bank.pay(amount=1)"})
        assert ended.structured_content["status"] == "paused"


@pytest.mark.parametrize("era", ERAS)
async def test_an_approver_who_continues_the_execution_of_another_is_asked(tmp_path: Path, era: str) -> None:
    async with service_of(tmp_path, "approver") as service:
        paused = await service.execute("bank.pay(amount=7)")
        person = Person(says("approve"))
        async with at(service, era, person, lambda _: Caller("ann", "approver")) as client:
            ended = await client.call_tool("execute", {"resume_from": paused.id})
        assert ended.structured_content["value"] == 7
        assert len(person.asked) == 1
        (decided,) = [entry for entry in await service.executions._journal.read(paused.id) if entry.kind == "decided"]
        assert decided.data["by"] == "ann"


@pytest.mark.parametrize("era", ERAS)
async def test_a_client_without_elicitation_is_not_asked(tmp_path: Path, era: str) -> None:
    async with service_of(tmp_path, "single_user") as service, at(service, era, None) as client:
        ended = await client.call_tool("execute", {"code": "bank.pay(amount=1)"})
        assert ended.structured_content["status"] == "paused"


@pytest.mark.parametrize("era", ERAS)
async def test_a_key_without_the_role_does_not_decide_in_its_own_client(tmp_path: Path, era: str) -> None:
    key = Caller("key-of-a-model", "default")
    async with service_of(tmp_path, "single_user") as service, at(service, era, Person(), lambda _: key) as client:
        ended = await client.call_tool("execute", {"code": "bank.pay(amount=1)"})
        assert ended.structured_content["status"] == "paused"


async def question_of(client: Client, code: str) -> InputRequiredResult:
    asked = await client.session.call_tool("execute", {"code": code}, allow_input_required=True)
    assert isinstance(asked, InputRequiredResult)
    return asked


async def answered(client: Client, asked: InputRequiredResult, code: str, **changes: Any) -> Any:
    given = {
        "input_responses": dict.fromkeys(asked.input_requests or {}, says("approve")),
        "request_state": asked.request_state,
        **changes,
    }
    return await client.session.call_tool("execute", {"code": code}, allow_input_required=True, **given)


async def test_a_state_is_valid_for_its_request_and_caller_and_only_once(tmp_path: Path) -> None:
    callers = [LOCAL]
    code, other = "bank.pay(amount=1)", "bank.pay(amount=9)"
    async with (
        service_of(tmp_path, "single_user") as service,
        at(service, "auto", Person(), lambda _: callers[-1]) as client,
    ):
        asked = await question_of(client, code)
        assert "ex_" not in (asked.request_state or "")
        with pytest.raises(MCPError, match="Invalid or expired requestState"):
            await answered(client, asked, other)
        with pytest.raises(MCPError, match="Invalid or expired requestState"):
            await answered(client, asked, code, request_state=f"{asked.request_state}A")
        callers.append(Caller("somebody-else", "approver"))
        with pytest.raises(MCPError, match="Invalid or expired requestState"):
            await answered(client, asked, code)
        callers.pop()
        assert PAID == []
        assert (await answered(client, asked, code)).structured_content["value"] == 1
        assert (await answered(client, asked, code)).structured_content["value"] == 1
    assert PAID == [1]


async def test_an_answer_about_another_call_decides_nothing(tmp_path: Path) -> None:
    code, other = "bank.pay(amount=1)", "bank.pay(amount=9)"
    async with service_of(tmp_path, "single_user") as service, at(service, "auto", Person()) as client:
        first, second = await question_of(client, code), await question_of(client, other)
        theirs = dict.fromkeys(second.input_requests or {}, says("approve"))
        again = await answered(client, first, code, input_responses=theirs)
        assert isinstance(again, InputRequiredResult)
        assert again.input_requests == first.input_requests
    assert PAID == []


async def test_a_question_is_void_after_its_time(tmp_path: Path) -> None:
    code = "bank.pay(amount=1)"
    async with service_of(tmp_path, "single_user", wait_s=1e-9) as service, at(service, "auto", Person()) as client:
        asked = await question_of(client, code)
        with pytest.raises(MCPError, match="Invalid or expired requestState"):
            await answered(client, asked, code)
    assert PAID == []
