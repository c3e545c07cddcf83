"""What an approved plan adds to the run of its program.

A write, or a call that needs a person, is approved if the plan lists it. Any other one pauses the execution, even if
the policy allows it. The policy's denials stay denials, and reads that the policy allows need no plan.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from codemode.catalog.tool import Effect
from codemode.errors import ApprovalRequired
from codemode.executions.run.ends import value_of
from codemode.executions.run.replay.dependencies import account_mark, meaning
from codemode.executions.run.stage import Stage
from codemode.executions.types.plan import PLAN, ApprovedPlan
from codemode.features.plans.matching import MadeCall, PlanMatching
from codemode.gateway.call import CallState
from codemode.gateway.policy import Decision, Ruling
from codemode.text.times import has_passed, rfc3339

if TYPE_CHECKING:
    from codemode.catalog.tool import Tool
    from codemode.executions.run.replay.decisions import Decisions
    from codemode.executions.run.stage import Staging
    from codemode.executions.types.record import RecordedCall
    from codemode.gateway.call import JudgedCall


class PlanStage(Stage):
    """Approves the calls of a program that its plan lists."""

    def __init__(self, plan: ApprovedPlan, decisions: Decisions) -> None:
        self._plan = plan
        self._run = decisions.run
        self._decisions = decisions
        self._record = decisions.recording.record
        self._digest = decisions.recording.journal.digest
        self._matching = PlanMatching(plan.calls, plan.reads)
        for call in sorted(self._record.calls.values(), key=lambda call: call.sequence):
            self._recall(call)

    def _recall(self, call: RecordedCall) -> None:
        """Remove a recorded call from the list, and take its answer."""
        plan, _, label = call.approval.partition(" ")
        if plan == self._plan.id:
            self._matching.restore(call.path, label)
        elif call.effect == Effect.READ and call.tool in self._run.catalog:
            self._matching.take_read(self._made(call.path, self._run.catalog.get(call.tool), call.arguments, call.mark))
        if call.end is not None and not call.end.is_error:
            self._matching.answered(call.path, value_of(call.end, is_page="/" in call.path))

    async def decide(self, judged: JudgedCall, recorded: RecordedCall | None) -> JudgedCall:
        """See `Stage`."""
        may_be_sent = judged.state in (CallState.NOT_STARTED, CallState.PENDING)
        if recorded is not None or judged.tool is None or not may_be_sent:
            return judged
        path, tool = judged.call.path, judged.tool
        mark = account_mark(judged, self._digest)
        made = self._made(path, tool, self._run.ledger.entry(path).arguments, mark)
        if tool.effect is Effect.READ and judged.state is CallState.NOT_STARTED:
            self._matching.take_read(made)
            return judged
        if has_passed(self._plan.expires_us, time.time_ns() // 1000):
            expired = f"the plan expired at {rfc3339(self._plan.expires_us)}"
            return self._run.amend(_asked(judged, tool, expired, self._plan.id))
        listed = self._matching.take(made)
        if listed is None:
            reason, self._decisions.planned[path] = self._matching.difference(made)
            return self._run.amend(_asked(judged, tool, reason, self._plan.id))
        self._run.floor.answered[path] = f"{self._plan.id} {listed.label}"
        rule = judged.ruling.rule if judged.ruling else ""
        return self._run.amend(judged.allowed(f"{rule}, approved by {self._plan.by} in {self._plan.id}"))

    def answered(self, path: str, value: Any) -> None:
        """See `Stage`."""
        self._matching.answered(path, value)

    def _made(self, path: str, tool: Tool, arguments: Any, mark: str) -> MadeCall:
        recorded = self._record.calls.get(path)
        digest = recorded.digest if recorded is not None else self._decisions.comparison.identity(path).digest
        definition = self._digest(meaning(tool, self._run.gateway, self._digest, mark))
        return MadeCall(path, tool.id, arguments, digest, definition)


def plan_stage(staging: Staging) -> PlanStage | None:
    """Return what the plan of an execution adds to its run, None if it runs under none."""
    decisions = staging.decisions
    plan = decisions.recording.request.settings.get(PLAN) if decisions is not None else None
    return PlanStage(ApprovedPlan.from_json(plan), decisions) if decisions is not None and plan is not None else None


def _asked(judged: JudgedCall, tool: Tool, difference: str, plan: str) -> JudgedCall:
    """Return a call as one that a person must approve, because the plan does not list it."""
    ruling = judged.ruling
    is_asked = ruling is not None and ruling.decision is Decision.ASK
    rule = ruling.rule if ruling is not None and is_asked else plan
    reason = f"{difference}; {ruling.reason}" if ruling is not None and is_asked and ruling.reason else difference
    asked = Ruling(Decision.ASK, rule, reason)
    return replace(judged, ruling=asked, error=ApprovalRequired(tool.id, rule, reason))
