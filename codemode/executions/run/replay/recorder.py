"""The recorder of a run with a journal: each call is journalled before it is sent, each answer before its delivery."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from codemode.executions.run.ends import doubted, error_fields, facts_of, page_text, restored_entry, service_answers
from codemode.executions.run.failures import for_program
from codemode.executions.run.replay.dependencies import account_mark, definition_digest
from codemode.executions.run.replay.inner_recording import InnerRecording, began_entry, inner_run
from codemode.executions.run.replay.program_recording import ProgramRecording
from codemode.executions.types.record import SavedProgramStart
from codemode.executions.types.records import JournalEntry
from codemode.gateway.call import CallState
from codemode.transports.questions import InputRequired

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codemode.catalog.saved import SavedProgram
    from codemode.executions.run.context import RunContext
    from codemode.executions.run.inner_run import InnerRun, Stop
    from codemode.executions.run.replay.decisions import Decisions
    from codemode.executions.run.replay.writer import JournalWriter
    from codemode.executions.types.record import End, RecordedCall
    from codemode.gateway.call import JudgedCall, ToolCall, ToolOutcome
    from sandbox import Delivery


class JournalRecorder:
    """The `codemode.executions.run.recorder.Recorder` of a run with a journal.

    `program` is the recording of the program itself: what the sandbox is told of it, and tells.
    """

    def __init__(self, run: RunContext, decisions: Decisions, writer: JournalWriter) -> None:
        self.program = ProgramRecording(run, self, decisions, writer)
        self._run = run
        self._decisions = decisions
        self._recording = decisions.recording
        self._record = decisions.recording.record
        self._comparison = decisions.comparison
        self._writer = writer
        self._counted: set[str] = set()
        self._ends: dict[str, dict[str, Any]] = {}

    def recall(self, call: ToolCall) -> RecordedCall | None:
        """See `Recorder`. A page of a list is registered here, since the program knows of the list only."""
        if "/" in call.path:
            return self._comparison.identify_page(call.path, call.tool, call.arguments)
        return self._record.calls.get(call.path)

    def restore(self, recorded: RecordedCall) -> None:
        """See `Recorder`. The call counts for the policy as it did when it was made."""
        if recorded.is_query:
            return
        self._run.ledger.restore(restored_entry(recorded, self._record.effect(recorded.path)))
        if recorded.decision == "allow" and recorded.path not in self._counted:
            self._counted.add(recorded.path)
            self._run.gateway.recount(recorded.tool, self._run.caller, self._run.tally)

    def has_begun(self, path: str) -> bool:
        """See `Recorder`."""
        return self._record.has_begun(path)

    def answers(self, path: str) -> Mapping[str, Any]:
        """See `Recorder`."""
        return service_answers(self._recording.answered.values(), path)

    async def start(self, judged: JudgedCall, key: str) -> None:
        """See `Recorder`."""
        path = judged.call.path
        number, tool, digest = self._comparison.identity(path)
        entry = self._run.ledger.entry(path)
        assert judged.tool is not None  # noqa: S101 - a call without a tool has an error, and is not sent
        data = {
            "call": number,
            "tool": tool,
            "digest": digest,
            "arguments": entry.arguments,
            "effect": judged.tool.effect,
            "decision": entry.decision,
            "rule": entry.rule,
            "schema": definition_digest(self._run.catalog.get(judged.tool.id)),  # the call may have another effect
            "key": key,
            "approval": self._run.floor.answered.get(path, ""),
            "start_s": round(self._run.ledger.elapsed_s(), 6),
        }
        if judged.account is not None:
            data |= {"account": entry.account, "mark": account_mark(judged, self._recording.journal.digest)}
        await self._writer.append([JournalEntry("started", path, data)])

    async def confirm(self) -> None:
        """Renew the lease. The call may have waited long, and another server may have taken over the execution."""
        await self._writer.append(())

    def checked(self, path: str, outcome: ToolOutcome) -> ToolOutcome:
        """See `Recorder`."""
        return doubted(outcome) if path in self._decisions.doubtful else outcome

    async def end(self, judged: JudgedCall, outcome: ToolOutcome) -> None:
        """Record the end of a page. Ends of other calls are recorded when they are delivered to the program."""
        path, error = judged.call.path, outcome.error
        if isinstance(error, InputRequired):
            await self._decisions.pause_for_service(judged, error)
        if "/" in path:
            await self._append_end(path, outcome)

    async def left(self, judged: JudgedCall, outcome: ToolOutcome) -> None:
        """See `Recorder`. A service that asks a person gets no answer any more: its call stays without an end."""
        if not isinstance(outcome.error, InputRequired):
            await self._append_end(judged.call.path, outcome)

    async def _append_end(self, path: str, outcome: ToolOutcome) -> None:
        error = outcome.error
        answer = error_fields(for_program(error)) if error is not None else page_text(outcome.value)
        await self._writer.append([self.ended(path, answer, is_error=error is not None)])

    async def settle(self, judged: JudgedCall, end: End) -> None:
        """See `Recorder`."""
        path = judged.call.path
        effect = judged.tool.effect if judged.tool is not None else ""
        self._ends[path] = {**self._facts(path), "effect": effect}
        if "/" in path:
            await self._writer.append([self.ended(path, end.answer, is_error=end.is_error)])

    async def begin(self, judged: JudgedCall, program: SavedProgram, stop: Stop) -> InnerRun:
        """Record the start of a saved program, and return its run: as recorded if it began before."""
        path, ledger = judged.call.path, self._run.ledger
        began, entry = self._record.began.get(path), ledger.entry(path)
        if began is None:
            began = SavedProgramStart(program.code, time.time_ns() // 1000, entry.effect)
            await self._writer.append([began_entry(began, program, entry)])
        ledger.restore(entry._replace(effect=began.effect))  # the program may be another by now
        recording = InnerRecording(self.program, path, self._record.inner_deliveries.get(path, ()), stop)
        return inner_run(began, recording, self._recording.request.seed, path)

    def ended(self, path: str, answer: bytes, *, is_error: bool) -> JournalEntry:
        """Return the entry of the end of a call that the program does not hear of now."""
        return JournalEntry("ended", path, self._end(path, is_error=is_error), answer)

    def delivered(self, delivery: Delivery, within: str) -> JournalEntry:
        """Return the entry of a message to the program, or to the saved program `within`."""
        data: dict[str, Any] = {"call": delivery.call, "now": delivery.now, "marks": list(delivery.marks)}
        data |= {"within": within} if within else {}
        if not delivery.call:
            return JournalEntry("delivered", data=data)
        path = self._comparison.path(within, delivery.call)
        data |= self._end(path, is_error=delivery.is_error)
        return JournalEntry("delivered", path, data, delivery.answer)

    def _end(self, path: str, *, is_error: bool) -> dict[str, Any]:
        _, tool, digest = self._comparison.identity(path)
        facts = self._ends.pop(path, None) or self._facts(path)
        return {"tool": tool, "digest": digest, "error": is_error, **facts}

    def _facts(self, path: str) -> dict[str, Any]:
        """Return the ledger's fields of an ended call. Queries of the program only have a state."""
        ledger = self._run.ledger
        if path not in ledger:
            return {"state": CallState.COMMITTED}
        return facts_of(ledger.entry(path), is_recorded=path in self._run.started)
