"""The extension `io.modelcontextprotocol/tasks`, through the official SDK's client."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest
from mcp import Client, MCPError

from codemode import CodeMode, tool
from codemode.gateway.caller import LOCAL, Caller
from codemode.serving.mcp import tasks
from codemode.serving.mcp.server import McpServer
from codemode.settings import Settings
from tests.integration.codemode.serving.mcp.task_client import Tasks, ask, ended

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    import mcp_types


class Gate:
    """A tool that stays until it is let go."""

    def __init__(self) -> None:
        self.is_open = asyncio.Event()
        self.is_reached = asyncio.Event()

    async def wait(self) -> str:
        """Wait until it is open."""
        self.is_reached.set()
        await self.is_open.wait()
        return "open"


@tool(effect="destructive")
def pay(amount: int) -> int:
    """Pay an amount."""
    return amount


@asynccontextmanager
async def serving(tmp_path: Path, gate: Gate, **settings: Any) -> AsyncIterator[CodeMode]:
    folders = {"state_folder": tmp_path / "state", "cache_folder": tmp_path / "cache"}
    given = Settings.model_validate({**settings, **folders})
    async with CodeMode.from_settings(given, functions={"gate": gate, "bank": [pay]}) as service:
        yield service


def client_of(
    service: CodeMode,
    *,
    declared: Tasks | None = None,
    caller: Callable[[Any], Caller] = lambda _: LOCAL,
    can_fill_in: bool = False,
) -> Client:
    async def nobody(context: Any, params: Any) -> mcp_types.ElicitResult:
        raise AssertionError

    return Client(
        McpServer(service, caller_of=caller).server,
        extensions=[declared] if declared else None,
        elicitation_callback=nobody if can_fill_in else None,
    )


async def begun(client: Client, declared: Tasks, code: str) -> str:
    """The task of a program that does not end at once."""
    await client.call_tool("execute", {"code": code})
    return declared.created[-1].task_id


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "AS_TASK_AFTER_S", 0.0)


async def test_a_program_that_takes_long_becomes_a_task_with_the_result_of_its_call(tmp_path: Path) -> None:
    gate, declared = Gate(), Tasks()
    async with serving(tmp_path, gate) as service, client_of(service, declared=declared) as client:
        task = await begun(client, declared, "gate.wait()")
        assert (declared.created[0].status, declared.created[0].poll_interval_ms) == ("working", 1000)
        assert (declared.created[0].ttl_ms or 0) >= service.settings.journal.keep_s * 1000
        assert (await ask(client, "tasks/get", taskId=task))["status"] == "working"
        gate.is_open.set()
        state = await ended(client, task)
        assert (state["status"], state["resultType"]) == ("completed", "complete")
        assert state["result"]["structuredContent"]["value"] == "open"
        assert await ask(client, "tasks/cancel", taskId=task)  # an end is an end
        assert (await ask(client, "tasks/get", taskId=task))["status"] == "completed"


async def test_what_ends_soon_is_no_task_and_an_error_of_a_program_is_a_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, declared = Gate(), Tasks()
    monkeypatch.setattr(tasks, "AS_TASK_AFTER_S", 60.0)
    async with serving(tmp_path, gate) as service, client_of(service, declared=declared) as client:
        assert (await client.call_tool("execute", {"code": "1 + 1"})).structured_content["value"] == 2
        dry = await client.call_tool("execute", {"code": "bank.pay(amount=1)", "dry_run": True})
        assert len(dry.structured_content["planned"]) == 1
        assert declared.created == []
        monkeypatch.setattr(tasks, "AS_TASK_AFTER_S", 0.0)
        task = await begun(client, declared, "gate.wait()\n1 / 0")
        gate.is_open.set()
        state = await ended(client, task)
        assert (state["status"], state["result"]["isError"]) == ("completed", True)


async def test_a_request_that_is_cancelled_before_it_becomes_a_task_ends_its_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "AS_TASK_AFTER_S", 60.0)
    gate = Gate()
    async with serving(tmp_path, gate) as service, client_of(service, declared=Tasks()) as client:
        call = asyncio.create_task(client.call_tool("execute", {"code": "gate.wait()"}))
        await gate.is_reached.wait()
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        (stored,) = await service.executions.list(LOCAL)
        assert (await service.executions.wait(stored.request.id, LOCAL, 60)).status == "cancelled"


async def test_a_cancelled_task_is_cancelled(tmp_path: Path) -> None:
    gate, declared = Gate(), Tasks()
    async with serving(tmp_path, gate) as service, client_of(service, declared=declared) as client:
        task = await begun(client, declared, "gate.wait()")
        assert (await ask(client, "tasks/cancel", taskId=task))["resultType"] == "complete"
        assert (await ended(client, task))["status"] == "cancelled"


async def test_a_task_waits_for_an_approver_elsewhere_and_then_continues(tmp_path: Path) -> None:
    declared = Tasks()
    async with serving(tmp_path, Gate()) as service, client_of(service, declared=declared) as client:
        task = await begun(client, declared, "bank.pay(amount=3)")
        while (state := await ask(client, "tasks/get", taskId=task))["pollIntervalMs"] == 1000:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        assert (state["status"], state["pollIntervalMs"]) == ("working", 5000)
        assert "decisions on ap_" in state["statusMessage"]
        approver = Caller("ann", "approver")
        await service.executions.decide([approval(await service.executions.approvals(approver))], approver)
        assert (await ended(client, task))["result"]["structuredContent"]["value"] == 3


def approval(pending: Any) -> Any:
    from codemode.executions.types.records import Decision

    (call,) = pending
    return Decision(call.id, call.digest, "approved", "")


async def test_the_single_user_answers_the_questions_of_a_task(tmp_path: Path) -> None:
    gate, declared = Gate(), Tasks()
    async with (
        serving(tmp_path, gate, approvals={"in_client": "single_user"}) as service,
        client_of(service, declared=declared, can_fill_in=True) as client,
    ):
        task = await begun(client, declared, "gate.wait()\n[bank.pay(amount=3), bank.pay(amount=4)]")
        gate.is_open.set()
        for amount in (3, 4):
            state = await ended(client, task)
            assert state["status"] == "input_required"
            ((key, request),) = state["inputRequests"].items()
            assert f"amount = {amount}" in request["params"]["message"]
            answers = {"unknown": {"action": "cancel"}, key: {"action": "accept", "content": {"decision": "approve"}}}
            acknowledged = await ask(client, "tasks/update", taskId=task, inputResponses=answers)
            assert set(acknowledged) == {"resultType", "_meta"}
        assert (await ended(client, task))["result"]["structuredContent"]["value"] == [3, 4]


async def test_a_cancelled_question_of_a_task_is_left_to_the_inbox(tmp_path: Path) -> None:
    gate, declared = Gate(), Tasks()
    async with (
        serving(tmp_path, gate, approvals={"in_client": "single_user"}) as service,
        client_of(service, declared=declared, can_fill_in=True) as client,
    ):
        task = await begun(client, declared, "gate.wait()\nbank.pay(amount=3)")
        gate.is_open.set()
        ((key, _),) = (await ended(client, task))["inputRequests"].items()
        await ask(client, "tasks/update", taskId=task, inputResponses={key: {"action": "cancel"}})
        assert (await ask(client, "tasks/get", taskId=task))["status"] == "working"
        assert len(await service.executions.approvals(Caller("ann", "approver"))) == 1


async def test_a_task_is_not_there_for_others_and_for_clients_without_the_extension(tmp_path: Path) -> None:
    gate, declared = Gate(), Tasks()
    async with serving(tmp_path, gate) as service:
        async with client_of(service, declared=declared) as client:
            assert client.server_capabilities.extensions == {tasks.EXTENSION: {}}
            assert client.server_capabilities.tasks is None
            task = await begun(client, declared, "gate.wait()")
            for method in ("tasks/list", "tasks/result"):
                with pytest.raises(MCPError, match="Method not found"):
                    await ask(client, method, taskId=task)
        approver = Caller("ann", "approver")
        async with client_of(service, declared=Tasks(), caller=lambda _: approver) as other:
            for method in ("tasks/get", "tasks/cancel"):
                with pytest.raises(MCPError, match="there is no execution") as missing:
                    await ask(other, method, taskId=task)
                assert missing.value.code == -32602
        async with client_of(service) as plain:
            with pytest.raises(MCPError) as undeclared:
                await ask(plain, "tasks/get", taskId=task)
            assert undeclared.value.code == -32021
            assert undeclared.value.data == {"requiredCapabilities": {"extensions": {tasks.EXTENSION: {}}}}
            gate.is_open.set()
            assert (await plain.call_tool("execute", {"code": "gate.wait()"})).structured_content["value"] == "open"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"code": "1 + 1", "sessionId": "s"}, "note: ignored unknown arguments: sessionId"),
        ({"code": "bank.pay(amount=1)", "dryRun": "true"}, "planned, not sent"),
        ({"code": "# nothing"}, "give code, a Python program"),
        ({"code": "1", "dry_rum": True}, 'execute takes code: execute({"code": "1"})'),
    ],
)
async def test_clients_with_tasks_are_answered_as_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: dict[str, Any], said: str
) -> None:
    monkeypatch.setattr(tasks, "AS_TASK_AFTER_S", 30.0)
    async with serving(tmp_path, Gate()) as service:
        for declared in (None, Tasks()):
            async with client_of(service, declared=declared) as client:
                (block,) = (await client.call_tool("execute", arguments)).content
            assert said in block.text  # type: ignore[union-attr]
