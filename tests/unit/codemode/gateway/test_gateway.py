from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from codemode.catalog.catalog import Catalog
from codemode.catalog.field_selection import FieldSelection
from codemode.catalog.observed import ObservedShapes
from codemode.catalog.tool import Effect
from codemode.errors import (
    AnswerInvalid,
    ArgumentsInvalid,
    CallError,
    EndUnknown,
    JournalUnavailable,
    ToolNotFound,
    UpstreamError,
    UpstreamTimeout,
    UpstreamUnreachable,
)
from codemode.gateway.call import CallState, ToolCall
from codemode.gateway.caller import Caller
from codemode.gateway.gateway import Gateway
from codemode.gateway.policy import AccessPolicy
from codemode.settings import PolicySettings
from codemode.testing import RecordingTransport, make_tool
from codemode.transports.base import CallContext
from codemode.transports.content import Content, ContentStore

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codemode.catalog.tool import Tool

TOOL = make_tool("gym.clients.get", {"id": {"type": "integer"}}, required=("id",), aliases=("getClient",))


def gateway(answer: Any) -> tuple[Gateway, RecordingTransport]:
    def respond(_: Tool, __: Mapping[str, Any]) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    transport = RecordingTransport(respond)
    return Gateway(Catalog((TOOL,)), {"fake": transport}), transport


def call(tool: str = "gym.clients.get", **arguments: Any) -> ToolCall:
    return ToolCall("ex_1", "1", tool, arguments)


async def test_a_valid_call_is_sent_once_and_answered() -> None:
    door, transport = gateway({"name": "Ada"})
    outcome = await door.call(call(id=7))
    assert (outcome.state, outcome.value, outcome.error) == (CallState.READ, {"name": "Ada"}, None)
    assert transport.sent == [("gym.clients.get", {"id": 7})]


async def test_an_exact_alias_is_resolved_to_the_tool() -> None:
    door, transport = gateway(1)
    assert (await door.call(call("gym.getClient", id=7))).tool == "gym.clients.get"
    assert transport.sent == [("gym.clients.get", {"id": 7})]


@pytest.mark.parametrize(
    ("request_", "error"),
    [(call("gym.clients.gett", id=7), ToolNotFound), (call(id="seven"), ArgumentsInvalid), (call(), ArgumentsInvalid)],
)
async def test_what_cannot_be_right_is_not_sent(request_: ToolCall, error: type[Exception]) -> None:
    door, transport = gateway(1)
    outcome = await door.call(request_)
    assert outcome.state is CallState.FAILED
    assert isinstance(outcome.error, error)
    assert transport.sent == []


@pytest.mark.parametrize(
    ("error", "state"),
    [
        (UpstreamError("no", status=409), CallState.FAILED),
        (UpstreamTimeout("no answer in 1 s"), CallState.FAILED),
        (UpstreamUnreachable("refused"), CallState.NOT_STARTED),
    ],
)
async def test_what_the_other_side_did_is_told_apart(error: CallError, state: CallState) -> None:
    door, _ = gateway(error)
    outcome = await door.call(call(id=7))
    assert (outcome.state, outcome.error) == (state, error)


async def test_a_timeout_before_the_call_was_sent_means_that_it_did_not_start() -> None:
    error = UpstreamTimeout("no turn in 1 s")

    class Busy(RecordingTransport):
        async def call(self, tool: Tool, arguments: Mapping[str, Any], context: CallContext) -> Any:
            raise error

    outcome = await Gateway(Catalog((TOOL,)), {"fake": Busy(lambda *_: None)}).call(call(id=7))
    assert (outcome.state, outcome.error) == (CallState.NOT_STARTED, error)


async def test_the_transport_receives_the_hooks_of_the_program_and_the_identity_of_the_caller() -> None:
    received: list[CallContext] = []
    sent: list[str] = []

    class Working(RecordingTransport):
        async def call(self, tool: Tool, arguments: Mapping[str, Any], context: CallContext) -> Any:
            received.append(context)
            context.on_progress("half")
            return await super().call(tool, arguments, context)

    async def before_send() -> None:
        sent.append("now")

    caller = Caller("ann").bringing({"token": "of-ann"})
    door = Gateway(Catalog((TOOL,)), {"fake": Working(lambda *_: 1)})
    given = CallContext("bob", idempotency_key="k1", before_send=before_send, on_progress=sent.append)
    await door.send(door.judge(replace(call(id=7), caller=caller)), given)
    (context,) = received
    assert (context.owner, context.credentials.get("token"), context.idempotency_key) == ("ann", "of-ann", "k1")
    assert sent == ["half", "now"]


async def test_what_the_program_is_not_told_the_operator_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    door, _ = gateway(UpstreamUnreachable("gym at http://10.0.0.1:80 cannot be reached", source="gym"))
    for number in (7, 8):
        await door.call(call(id=number))
    assert caplog.messages == ["gym at http://10.0.0.1:80 cannot be reached"]


@pytest.mark.parametrize(
    ("error", "of_write", "of_read"),
    [
        (UpstreamError("busy", status=503), CallState.FAILED, CallState.FAILED),
        (UpstreamTimeout("no answer in 1 s"), CallState.UNKNOWN, CallState.FAILED),
        (EndUnknown("the connection closed"), CallState.UNKNOWN, CallState.FAILED),
        (UpstreamError("nothing came from behind", status=502), CallState.UNKNOWN, CallState.FAILED),
        (UpstreamError("nothing came from behind in time", status=504), CallState.UNKNOWN, CallState.FAILED),
        (AnswerInvalid("a page where JSON is declared", status=201), CallState.COMMITTED, CallState.FAILED),
    ],
)
async def test_of_a_write_it_is_known_whether_it_was_done(
    error: CallError, of_write: CallState, of_read: CallState
) -> None:
    def respond(_: Tool, __: Mapping[str, Any]) -> Any:
        raise error

    tools = (make_tool("gym.get"), make_tool("gym.post", effect=Effect.WRITE))
    door = Gateway(Catalog(tools), {"fake": RecordingTransport(respond)})
    assert ((await door.call(call("gym.post"))).state, (await door.call(call("gym.get"))).state) == (of_write, of_read)


async def test_content_is_given_back_to_its_owner_alone() -> None:
    contents = ContentStore()
    take = make_tool("files.take", {"content": {"type": "object"}})
    give = make_tool("files.give")

    class Files(RecordingTransport):
        async def call(self, tool: Tool, arguments: Mapping[str, Any], context: CallContext) -> Any:
            if tool is give:
                return contents.put(Content(b"secret"), context.owner)
            return contents.get(arguments["content"], context.owner).data.decode()

    door = Gateway(Catalog((take, give)), {"fake": Files(lambda *_: None)})
    ann, bob = Caller("ann"), Caller("bob")
    kept = (await door.call(ToolCall("ex", "1", "files.give", {}, caller=ann))).value
    mine, others = [
        await door.call(ToolCall("ex", "1", "files.take", {"content": kept}, caller=caller)) for caller in (ann, bob)
    ]
    assert (mine.state, mine.value) == (CallState.READ, "secret")
    assert others.state is CallState.FAILED
    assert "no longer stored, or never was" in str(others.error)


async def test_an_approval_by_a_plugin_counts_for_quotas() -> None:
    asks = {"rules": [{"name": "reads", "tools": "*", "decision": "ask", "low_risk": True}]}
    policy = AccessPolicy(PolicySettings.model_validate({**asks, "quotas": [{"tools": "*", "calls": 1}]}))
    door = Gateway(Catalog((TOOL,)), {"fake": RecordingTransport(lambda *_: 1)}, policy=policy)
    first = door.judge(call(id=7))
    again = replace(first, call=replace(first.call, path="2"))
    assert (first.state, first.ruling.low_risk if first.ruling else None) == (CallState.PENDING, True)
    assert (await door.send(door.approve(first, "plugin a"))).state is CallState.READ
    refused = await door.send(door.approve(again, "plugin a"))
    assert refused.state is CallState.DENIED
    assert "quota 1: at most 1 calls" in str(refused.error)


async def test_a_plugin_cannot_approve_a_write_where_only_reads_are_sent() -> None:
    tool = make_tool("gym.clients.drop", {"id": {"type": "integer"}}, effect=Effect.DESTRUCTIVE)
    transport = RecordingTransport(lambda *_: 1)
    reason = JournalUnavailable("the journal is unavailable")
    door = Gateway(Catalog((tool,)), {"fake": transport}).only_reading(reason)
    pending = door.judge(call("gym.clients.drop", id=7))
    assert pending.state is CallState.PENDING
    assert (await door.send(door.approve(pending, "plugin a"))).error is reason
    assert transport.sent == []


async def test_fields_that_are_not_selected_reach_neither_programs_nor_observed_schemas() -> None:
    shapes = ObservedShapes()
    tool = TOOL.changed(selection=FieldSelection(("name",)))
    transport = RecordingTransport(lambda _, __: {"name": "Ada", "phone": "+49"})
    door = Gateway(Catalog((tool,)), {"fake": transport}, shapes)
    assert (await door.call(call(id=7))).value == {"name": "Ada"}
    schema = door.result_schema(tool, Caller("local"))
    assert schema is None or list(schema.properties()) == ["name"]
