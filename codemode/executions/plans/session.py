"""The calls of a program that runs under an approved plan.

A write, or a call that needs a person, is approved if the plan lists it. Any other one pauses the execution, even if
the policy allows it. The policy's denials stay denials, and reads that the policy allows need no plan.
"""

from __future__ import annotations

import json
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from codemode.catalog.tool import Effect
from codemode.errors import ApprovalRequired
from codemode.executions.plans.matching import MadeCall, PlanMatching
from codemode.executions.run.replay.dependencies import meaning
from codemode.executions.run.replay.ends import value_of
from codemode.executions.run.replay.recorded_session import RecordedSession
from codemode.executions.types.plan import PLAN, ApprovedPlan
from codemode.executions.types.record import End
from codemode.gateway.call import CallState
from codemode.gateway.policy import Decision, Ruling
from codemode.text.times import has_passed, rfc3339

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codemode.catalog.tool import Tool
    from codemode.executions.run.replay.recording import ExecutionRecording
    from codemode.executions.types.record import RecordedCall
    from codemode.executions.types.records import PendingCall, QuestionKind
    from codemode.gateway.call import JudgedCall, ToolOutcome
    from codemode.gateway.caller import Caller
    from codemode.gateway.gateway import Gateway


class PlanSession(RecordedSession):
    """Answers the calls of a program, and approves those that its plan lists."""

    def __init__(self, recording: ExecutionRecording, gateway: Gateway, caller: Caller, **more: Any) -> None:
        super().__init__(recording, gateway, caller, **more)
        self._under = ApprovedPlan.from_json(recording.given.settings[PLAN])
        self.plan = self._under.id
        self._planned: dict[str, Mapping[str, Any] | None] = {}  # what the plan lists where a call differs, by path
        self._matching = PlanMatching(self._under.calls, self._under.reads)
        for call in sorted(recording.record.calls.values(), key=lambda call: call.sequence):
            self._recall_made(call)

    def _recall_made(self, call: RecordedCall) -> None:
        """Remove a recorded call from the list, and take its answer."""
        plan, _, label = call.approval.partition(" ")
        if plan == self.plan:
            self._matching.restore(call.path, label)
        elif call.effect == Effect.READ and call.tool in self._gateway.catalog:
            self._matching.take_read(self._made(call.path, self._gateway.catalog.get(call.tool), call.arguments))
        if call.end is not None and not call.end.is_error:
            self._matching.answered(call.path, value_of(call.end, is_page="/" in call.path))

    async def _decided(self, judged: JudgedCall, recorded: RecordedCall | None) -> JudgedCall | End:
        """See `RecordedSession`."""
        may_be_sent = judged.state in (CallState.NOT_STARTED, CallState.PENDING)
        if recorded is None and judged.tool is not None and may_be_sent:
            judged = self._under_plan(judged, judged.tool)
        decided = await super()._decided(judged, recorded)
        if isinstance(decided, End) and not decided.is_error:
            self._matching.answered(judged.call.path, json.loads(decided.answer))
        return decided

    def _under_plan(self, judged: JudgedCall, tool: Tool) -> JudgedCall:
        path = judged.call.path
        made = self._made(path, tool, self.ledger.entry(path).arguments)
        if tool.effect is Effect.READ and judged.state is CallState.NOT_STARTED:
            self._matching.take_read(made)
            return judged
        if has_passed(self._under.expires_us, time.time_ns() // 1000):
            expired = f"the plan expired at {rfc3339(self._under.expires_us)}"
            return self._amended(_asked(judged, tool, expired, self.plan))
        listed = self._matching.take(made)
        if listed is None:
            reason, self._planned[path] = self._matching.difference(made)
            return self._amended(_asked(judged, tool, reason, self.plan))
        self._approve(path, f"{self.plan} {listed.label}")
        rule = judged.ruling.rule if judged.ruling else ""
        return self._amended(judged.allowed(f"{rule}, approved by {self._under.by} in {self.plan}"))

    def _question(self, judged: JudgedCall, kind: QuestionKind, attempt: int) -> PendingCall:
        """See `RecordedSession`."""
        question = super()._question(judged, kind, attempt)
        return replace(question, planned=self._planned.get(question.path)) if kind == "approval" else question

    def _made(self, path: str, tool: Tool, arguments: Any) -> MadeCall:
        recorded = self._record.calls.get(path)
        digest = recorded.digest if recorded is not None else self._identities[path][2]
        definition = self._journal.digest(meaning(tool, self._gateway, self._journal.digest))
        return MadeCall(path, tool.id, arguments, digest, definition)

    async def _answered(self, judged: JudgedCall, outcome: ToolOutcome) -> ToolOutcome:
        """See `CallSession`."""
        outcome = await super()._answered(judged, outcome)
        if outcome.error is None:
            self._matching.answered(judged.call.path, outcome.value)
        return outcome


def _asked(judged: JudgedCall, tool: Tool, difference: str, plan: str) -> JudgedCall:
    """Return a call as one that a person must approve, because the plan does not list it."""
    ruling = judged.ruling
    is_asked = ruling is not None and ruling.decision is Decision.ASK
    rule = ruling.rule if ruling is not None and is_asked else plan
    reason = f"{difference}; {ruling.reason}" if ruling is not None and is_asked and ruling.reason else difference
    asked = Ruling(Decision.ASK, rule, reason)
    return replace(judged, ruling=asked, error=ApprovalRequired(tool.id, rule, reason))
