"""The stage of the flow rules in a run: it hears what the program reads, and judges what it sends."""

from __future__ import annotations

import asyncio
import json
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from codemode.errors import ApprovalRequired
from codemode.executions.run.ends import value_of
from codemode.executions.run.stage import Stage
from codemode.features.flow.marks import fields, words
from codemode.features.flow.memory import Remembered
from codemode.features.flow.reading import Answer, Reading
from codemode.features.flow.rules import FlowCall
from codemode.gateway.call import CallState
from codemode.gateway.policy import Decision, Ruling
from codemode.settings.flow import EXTRACT
from sandbox import JsonText

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codemode.executions.run.stage import Staging
    from codemode.executions.types.outcome import ExecutionOutcome
    from codemode.executions.types.record import End, RecordedCall
    from codemode.features.flow.marks import Marks
    from codemode.features.flow.memory import Memory
    from codemode.features.flow.rules import FlowRules
    from codemode.gateway.call import JudgedCall

#: The recorded setting that says what was known of the conversation when the program was written.
FLOW = "flow"

#: The function of a conversation whose values earlier programs left.
_LOAD = "load"

_OPEN = (CallState.NOT_STARTED, CallState.PENDING)


class FlowStage(Stage):
    """Judges the calls of one run by where their arguments come from."""

    def __init__(self, staging: Staging, marks: Marks, rules: FlowRules, memory: Memory) -> None:
        self._run = staging.run
        self._marks = marks
        self._rules = rules
        self._memory = memory
        self._remembered: Remembered | None = None
        recording = staging.decisions.recording if staging.decisions else None
        at_start = recording.request.settings.get(FLOW) if recording else None
        self._at_start = Remembered(**at_start) if at_start is not None else None
        self._conversation = staging.assignment.conversation
        self._own = [staging.assignment.code, *(text for _, text in fields(staging.assignment.inputs))]
        self._reading = Reading(marks)
        self._recorded = list(recording.record.calls.values()) if recording else []
        self._labels = marks.labels
        self._beginning = asyncio.Lock()

    async def _begin(self) -> None:
        """Read again what the program has read before its process ended, or before it paused."""
        async with self._beginning:
            if self._recorded:
                self._marks.take(await self._memory.labels())
            for call in sorted(self._recorded, key=lambda call: call.ended_us or call.sequence):
                self._recall(call)
            self._recorded = []

    async def _keep_labels(self) -> None:
        if self._marks.labels is not self._labels:
            self._labels = self._marks.labels
            await self._memory.keep_labels(self._labels)

    def _recall(self, call: RecordedCall) -> None:
        """Read again what the program has read before."""
        if call.end is None:
            return
        if call.is_query:
            if not call.end.is_error:
                self.told(call.tool, value_of(call.end, is_page=False))
        elif call.tool in self._run.catalog:
            value = json.loads(call.end.answer) if call.end.is_error else value_of(call.end, is_page=call.is_page)
            self._reading.sent(dict(call.arguments))
            self._read(call.path, call.tool, value, call.arguments)

    def _read(self, path: str, tool: str, value: Any, arguments: Mapping[str, Any]) -> None:
        of = str(arguments.get("text", "")) if tool == EXTRACT else None
        self._reading.add(Answer(path, self._run.catalog.get(tool), value, of=of, arguments=arguments))

    async def decide(self, judged: JudgedCall, recorded: RecordedCall | None) -> JudgedCall | End:
        """See `codemode.executions.run.stage.Stage`."""
        await self._begin()
        tool = judged.tool
        if recorded is not None or tool is None or judged.state not in _OPEN:
            return judged
        self._reading.sent(judged.arguments)
        rules = self._rules.concerning(tool, judged.call.caller.role)
        if not rules:
            return judged
        await self._keep_labels()
        shown = (await self._known()).shown
        if not shown and not self._reading.has_marked:
            return judged
        call = FlowCall(tool, judged.arguments, judged.call.caller.role, shown)
        ruling = await self._rules.ruling(call, rules, self._reading)
        return judged if ruling is None else self._run.amend(_ruled(judged, ruling))

    def labelled(self, path: str, label: Mapping[str, Any]) -> None:
        """See `codemode.executions.run.stage.Stage`."""
        tool = self._run.ledger.entry(path).tool
        if tool in self._run.catalog:
            self._marks.restrict(self._run.catalog.get(tool), label)

    def answered(self, path: str, value: Any) -> None:
        """See `codemode.executions.run.stage.Stage`."""
        entry = self._run.ledger.entry(path)
        if entry.tool in self._run.catalog:
            self._read(path, entry.tool, value, entry.arguments)

    def failed(self, path: str, message: str) -> None:
        """See `codemode.executions.run.stage.Stage`."""
        self.answered(path, message)

    def told(self, function: str, value: Any) -> None:
        """See `codemode.executions.run.stage.Stage`."""
        if function == _LOAD:
            self._reading.add(Answer("", None, value, is_left=not self._reading.has_marked))

    async def ended(self, outcome: ExecutionOutcome) -> None:
        """See `codemode.executions.run.stage.Stage`."""
        await self._begin()
        await self._keep_labels()
        if not self._reading.has_marked:
            return
        known = await self._known()
        read = await self._reading.has_untrusted()
        shown = known.shown or await self._shown(outcome)
        new = Remembered(shown, known.read or (read.what if read else ""))
        if new != known:
            await self._memory.remember(self._run.caller.id, self._conversation, new)

    async def _known(self) -> Remembered:
        """Return what is known of the conversation. A program whose author has read nothing of outsiders is trusted."""
        if self._remembered is None:
            known = self._at_start or await self._memory.recall(self._run.caller.id, self._conversation)
            self._remembered = known
            self._reading.trust(() if known.shown else self._own)
            if not known.read:
                self._reading.trust_what_was_left()
        return self._remembered

    async def _shown(self, outcome: ExecutionOutcome) -> str:
        """Return what outsiders wrote of all that a model is shown of an outcome, "" for nothing."""
        origin = await self._reading.untrusted(await asyncio.to_thread(_told, outcome))
        return str(origin) if origin is not None else ""


def _told(outcome: ExecutionOutcome) -> str:
    """Return all texts of an outcome that a model may be shown, one behind the other: words may come one by one."""
    result = outcome.result
    parts: list[Any] = [json.loads(result.data) if isinstance(result, JsonText) else result, outcome.output]
    parts += [asdict(outcome.failure)] if outcome.failure else []
    parts += [one.arguments for one in outcome.pending]
    parts += [one.arguments for one in outcome.planned]
    parts += [] if outcome.ok else [[call.preview, call.error] for call in outcome.calls]
    return "\n".join((*words(parts), *outcome.notes))


def _ruled(judged: JudgedCall, ruling: Ruling) -> JudgedCall:
    """Return a call with a decision, unless its own is stricter."""
    tool = judged.tool.id if judged.tool else judged.call.tool
    if ruling.decision is Decision.DENY:
        return judged.denied(ruling.rule, ruling.reason)
    own = judged.ruling
    if own is not None and own.decision is Decision.ASK:
        reason = f"{own.reason}; {ruling.reason}" if own.reason else ruling.reason
        ruling = Ruling(Decision.ASK, f"{own.rule}, {ruling.rule}", reason)
    ruling = replace(ruling, alone=True)
    return replace(judged, ruling=ruling, error=ApprovalRequired(tool, ruling.rule, ruling.reason))
