"""Plugins around the calls of real programs, recorded and unrecorded, and in a replay."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from codemode import Approved, CallAnswer, CodeMode, Plugin, PluginCall, Rejected
from codemode.errors import ExecutionChanged
from codemode.executions.life.programs import Request
from codemode.executions.types.records import Decision
from tests.integration.codemode.executions.upstream import APPROVER, OWNER, Place, place

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

ASK = {"rules": [{"name": "drops", "tools": "up.x.drop", "decision": "ask", "low_risk": True}]}

DROP = """
try:
    answer = up.x.drop(n=1)['count']
except ToolRejected as error:
    answer = error.reason
answer
"""


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[Place]:
    async with place(tmp_path) as found:
        yield found


class Recorder(Plugin):
    """Refuses calls with the numbers in `refused`, and marks and keeps all others."""

    name = "recorder"

    def __init__(self, *refused: int) -> None:
        super().__init__()
        self.refused = refused
        self.before: list[str] = []
        self.after: list[str] = []

    async def before_call(self, call: PluginCall) -> str | None:
        self.before.append(f"{call.tool} {call.path}")
        return "an unlucky number" if call.arguments.get("n") in self.refused else None

    async def after_call(self, call: PluginCall, answer: CallAnswer) -> CallAnswer | None:
        self.after.append(f"{call.tool} {answer.state}")
        return replace(answer, value={**answer.value, "marked": True}) if answer.value else None


def service(here: Place, *plugins: Plugin, **sections: Any) -> CodeMode:
    return CodeMode.from_settings(here.settings(**sections), plugins=plugins)


@pytest.mark.parametrize("recorded", [True, False])
async def test_a_refused_call_is_denied_and_never_sent(here: Place, *, recorded: bool) -> None:
    audit = here.folder / "audit.jsonl"
    sections = {"journal": {"enabled": recorded}, "observe": {"audit_file": str(audit)}}
    plugin = Recorder(13)
    async with service(here, plugin, **sections) as cm:
        outcome = await cm.execute(
            "try:\n    up.x.post(n=13)\nexcept Exception as e:\n    r = str(e)\n[r, up.x.get(n=1)]"
        )
    message, answer = outcome.value
    assert "is not allowed with these arguments by plugin recorder: an unlucky number; nothing was sent" in message
    assert answer == {"n": "1", "count": 1, "marked": True}
    assert here.upstream.seen == ["GET /get?n=1"]
    denied, read = outcome.calls
    assert (str(denied.state), denied.decision, denied.rule) == ("denied", "deny", "plugin recorder")
    assert str(read.state) == "read"
    assert plugin.after == ["up.x.get read"]
    lines = [json.loads(line) for line in audit.read_text(encoding="utf-8").splitlines()]
    assert [(line["decision"], line["rule"], line["state"]) for line in lines if line.get("tool") == "up.x.post"] == [
        ("deny", "plugin recorder", "denied")
    ]


async def test_a_call_that_the_policy_denies_reaches_no_plugin(here: Place) -> None:
    plugin = Recorder()
    denied = {"rules": [{"tools": "up.x.get", "where": {"n": 1}, "decision": "deny"}]}
    async with service(here, plugin, policy=denied) as cm:
        await cm.execute("up.x.get(n=1)")
        await cm.execute("up.x.get(n='one')")
    assert plugin.before == []


async def test_a_refused_call_consumes_no_place_in_the_queue(here: Place) -> None:
    program = "import asyncio\nawait asyncio.gather(*[up.x.get(n=n) for n in (13, 13, 13, 1)], return_exceptions=True)"
    async with service(here, Recorder(13), limits={"calls_in_flight": 1}) as cm:
        outcome = await cm.execute(f"{program}\n5")
    assert [str(call.state) for call in outcome.calls] == ["denied"] * 3 + ["read"]


async def test_each_page_of_a_list_is_a_call(here: Place) -> None:
    class Even(Plugin):
        async def after_call(self, call: PluginCall, answer: CallAnswer) -> CallAnswer:
            items = [item for item in answer.value["items"] if item % 2 == 0]
            return replace(answer, value={**answer.value, "items": items})

    async with service(here, Even(), journal={"enabled": True}) as cm:
        outcome = await cm.execute("up.x.list.items()")
    assert outcome.value == [0, 2, 4]
    assert [call.tool for call in outcome.calls] == ["up.x.list"] * len(here.upstream.seen)
    assert len(outcome.calls) > 1


async def test_a_replay_asks_no_plugin_again(here: Place) -> None:
    program = "a = up.x.get(n=1)\ntry:\n    up.x.get(n=13)\nexcept Exception as e:\n    b = type(e).__name__\n"
    program += "up.x.drop(n=2)\n[a, b]"
    async with service(here, Recorder(13)) as cm:
        paused = await cm.execute(program, caller=OWNER)
        assert paused.status == "paused"
    later = Recorder(1, 13)
    async with service(here, later) as cm:
        decisions = [Decision(call.id, call.digest, "approved", by="") for call in paused.pending]
        await cm.executions.decide(decisions, APPROVER)
        await cm.executions.resume(paused.id, OWNER)
        stored = await cm.executions.wait(paused.id, OWNER, 30)
    assert stored.status == "completed"
    assert stored.outcome["value"] == [{"n": "1", "count": 1, "marked": True}, "ToolError"]
    assert here.upstream.seen == ["GET /get?n=1", "DELETE /drop?n=2"]
    assert [call["state"] for call in stored.outcome["calls"]] == ["read", "denied", "committed"]
    assert [line.partition(" ")[0] for line in later.before] == ["up.x.drop"]


async def test_a_call_that_was_sent_before_a_crash_passes_no_plugin_again(here: Place) -> None:
    """A refusal would say that nothing was sent, and the dead server may have sent it."""
    held = here.upstream.hold("/get")
    async with service(here, Recorder()) as cm:
        execution = await cm.executions.start(Request("up.x.get(n=1)['n']"), OWNER)
        await here.upstream.wait_for(1)
        await cm.executions.aclose()
    held.set()
    later = Recorder(1)
    async with service(here, later) as cm:
        assert await cm.executions.recover() == (execution,)
        stored = await cm.executions.wait(execution, OWNER, 30)
    assert (stored.status, stored.outcome["value"]) == ("completed", "1")
    assert here.upstream.seen == ["GET /get?n=1"] * 2
    assert (later.before, later.after) == ([], ["up.x.get read"])


async def test_the_record_of_an_approval_outlives_a_crash(here: Place) -> None:
    held = here.upstream.hold("/drop")
    sections = {"policy": ASK, "source": {"idempotency_header": "Idempotency-Key"}}
    async with service(here, Clerk(Approved()), **sections) as cm:
        execution = await cm.executions.start(Request("up.x.drop(n=1)['n']"), OWNER)
        await here.upstream.wait_for(1)
        await cm.executions.aclose()
    held.set()
    later = Clerk(Rejected("too late"))
    async with service(here, later, **sections) as cm:
        assert await cm.executions.recover() == (execution,)
        stored = await cm.executions.wait(execution, OWNER, 30)
    assert (stored.status, later.asked) == ("completed", [])
    assert here.upstream.seen == ["DELETE /drop?n=1"] * 2
    (call,) = stored.outcome["calls"]
    assert (call["decision"], call["rule"]) == ("allow", "rule 1 (drops), approved by plugin clerk")


async def test_an_execution_is_not_continued_under_other_plugins(here: Place) -> None:
    async with service(here, Recorder()) as cm:
        paused = await cm.execute("up.x.drop(n=1)", caller=OWNER)
    async with service(here) as cm:
        decisions = [Decision(call.id, call.digest, "approved", by="") for call in paused.pending]
        await cm.executions.decide(decisions, APPROVER)
        with pytest.raises(ExecutionChanged, match="the list of plugins with versions was recorder and is now none"):
            await cm.executions.resume(paused.id, OWNER)
    assert here.upstream.seen == []


class Clerk(Plugin):
    """Answers every approval alike."""

    name = "clerk"

    def __init__(self, answer: Approved | Rejected | None) -> None:
        super().__init__()
        self.answer = answer
        self.asked: list[PluginCall] = []

    async def answer_approval(self, call: PluginCall) -> Approved | Rejected | None:
        self.asked.append(call)
        return self.answer


@pytest.mark.parametrize("recorded", [True, False])
async def test_a_plugin_approves_what_a_rule_marks_as_low_risk(here: Place, *, recorded: bool) -> None:
    audit = here.folder / "audit.jsonl"
    sections = {"journal": {"enabled": recorded}, "observe": {"audit_file": str(audit)}, "policy": ASK}
    clerk = Clerk(Approved())
    async with service(here, clerk, **sections) as cm:
        outcome = await cm.execute(DROP)
    assert outcome.value == 1
    assert here.upstream.seen == ["DELETE /drop?n=1"]
    (call,) = outcome.calls
    assert (call.decision, call.rule) == ("allow", "rule 1 (drops), approved by plugin clerk")
    assert [(one.rule, one.low_risk, one.arguments) for one in clerk.asked] == [("rule 1 (drops)", True, {"n": 1})]
    lines = [json.loads(line) for line in audit.read_text(encoding="utf-8").splitlines()]
    assert [(line["decision"], line["rule"], line["state"]) for line in lines if "tool" in line] == [
        ("ask", "rule 1 (drops)", "pending"),
        ("allow", "rule 1 (drops), approved by plugin clerk", "running"),
        ("allow", "rule 1 (drops), approved by plugin clerk", "committed"),
    ]


@pytest.mark.parametrize("recorded", [True, False])
async def test_a_plugin_rejects_any_pending_call(here: Place, *, recorded: bool) -> None:
    async with service(here, Clerk(Rejected("not at night")), journal={"enabled": recorded}) as cm:
        outcome = await cm.execute(DROP)
    assert outcome.value == "not at night"
    assert here.upstream.seen == []
    (call,) = outcome.calls
    assert str(call.state) == "rejected"
    assert call.error == "plugin clerk rejected up.x.drop: not at night; nothing was sent"


async def test_an_approval_without_the_mark_leaves_the_call_to_a_person(here: Place) -> None:
    clerk = Clerk(Approved())
    async with service(here, clerk) as cm:
        outcome = await cm.execute(DROP, caller=OWNER)
        assert outcome.status == "paused"
        assert here.upstream.seen == []
        decisions = [Decision(call.id, call.digest, "rejected", by="", note="never") for call in outcome.pending]
        await cm.executions.decide(decisions, APPROVER)
        await cm.executions.resume(outcome.id, OWNER)
        stored = await cm.executions.wait(outcome.id, OWNER, 30)
    assert stored.outcome["value"] == "never"
    assert len(clerk.asked) == 1


async def test_an_approved_call_may_still_be_refused(here: Place) -> None:
    async with service(here, Clerk(Approved()), Recorder(1), policy=ASK) as cm:
        outcome = await cm.execute("up.x.drop(n=1)")
    assert [(str(call.state), call.rule) for call in outcome.calls] == [("denied", "plugin recorder")]
    assert here.upstream.seen == []


class StuckBefore(Plugin):
    async def before_call(self, call: PluginCall) -> str | None:
        await asyncio.Event().wait()
        return None


class StuckAfter(Plugin):
    async def after_call(self, call: PluginCall, answer: CallAnswer) -> CallAnswer | None:
        await asyncio.Event().wait()
        return None


@pytest.mark.parametrize("recorded", [True, False])
@pytest.mark.parametrize(("plugin", "state", "sent"), [(StuckBefore, "not started", 0), (StuckAfter, "committed", 1)])
async def test_a_hook_that_hangs_ends_with_the_time_of_the_program(
    here: Place, plugin: type[Plugin], state: str, sent: int, *, recorded: bool
) -> None:
    async with service(here, plugin(), limits={"wall_s": 1.0}, journal={"enabled": recorded}) as cm:
        outcome = await cm.execute("up.x.post(n=1)")
    assert outcome.status == "timed_out"
    assert [str(call.state) for call in outcome.calls] == [state]
    assert len(here.upstream.seen) == sent


async def test_a_failure_after_a_call_is_a_note_of_the_outcome(here: Place) -> None:
    class Broken(Plugin):
        async def after_call(self, call: PluginCall, answer: CallAnswer) -> CallAnswer | None:
            raise RuntimeError("token=abc")

    async with service(here, Broken()) as cm:
        outcome = await cm.execute("up.x.get(n=1)['n']")
    assert outcome.value == "1"
    assert outcome.notes == ("plugin Broken failed after a call of up.x.get, so it did not change the answer",)
