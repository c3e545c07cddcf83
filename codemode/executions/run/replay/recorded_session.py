"""The calls of a recorded program. Each call is journalled before it is sent, each answer before it is delivered.

In a replay, each call is compared with the record, and recorded calls are not made again. A call that was sent and has
no recorded end may have taken effect. Reads are sent again, and so are writes whose service accepts an idempotency key.
For any other call a person decides.
"""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import replace
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any, NoReturn

from codemode.catalog.tool import Effect
from codemode.errors import CodeModeError
from codemode.executions.plugins.hooks import NO_HOOKS
from codemode.executions.plugins.plugin import Rejected
from codemode.executions.run.call_session import CallSession
from codemode.executions.run.failures import for_program
from codemode.executions.run.replay.dependencies import call_facts, definition_digest
from codemode.executions.run.replay.ends import (
    decision_required,
    end_said,
    error_fields,
    facts_of,
    nondeterminism,
    not_made,
    page_text,
    rejection,
    resolved,
    restored_entry,
    send_answered,
    send_in_doubt,
    service_question,
    shown,
    stopped,
    value_of,
)
from codemode.executions.run.replay.grants import Grants
from codemode.executions.run.replay.inner_recording import InnerRecording, began_entry, inner_run
from codemode.executions.run.replay.questions import DIGITS, Questions
from codemode.executions.types.ledger import Ledger, LedgerEntry
from codemode.executions.types.record import Began, End
from codemode.executions.types.records import HAD_SECRETS, HELD_SECRETS, JournalEntry
from codemode.gateway.call import CallState
from codemode.gateway.redaction import Redaction
from codemode.transports.questions import InputRequired
from sandbox import Failure, ProgramStopped

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from codemode.catalog.saved import SavedProgram
    from codemode.executions.plugins.hooks import Hooks
    from codemode.executions.run.call_session import Send
    from codemode.executions.run.replay.recording import ExecutionRecording
    from codemode.executions.saved.inner_run import InnerRun, Stop
    from codemode.executions.types.record import RecordedCall
    from codemode.executions.types.records import PendingCall, QuestionKind
    from codemode.gateway.call import JudgedCall, ToolCall, ToolOutcome
    from codemode.gateway.caller import Caller
    from codemode.gateway.gateway import Gateway
    from sandbox import Call, Delivery


class RecordedSession(CallSession):
    """Answers the calls of a program, and is the `sandbox.Recording` of its run.

    `pending` lists the calls that need a decision before the program can continue. `broken` is the error that prevents
    recording. `other` is the failure of a program that differs from its record.
    """

    def __init__(
        self,
        recording: ExecutionRecording,
        gateway: Gateway,
        caller: Caller,
        *,
        calls_in_flight: int,
        watch: Callable[[LedgerEntry], None],
        hooks: Hooks = NO_HOOKS,
    ) -> None:
        self._journal = recording.journal
        ledger = Ledger(watch, mask=self._masked, elapsed_s=recording.elapsed_s)
        super().__init__(
            recording.lease.execution, gateway, caller, calls_in_flight=calls_in_flight, ledger=ledger, hooks=hooks
        )
        self.pending: list[PendingCall] = []
        self.broken: CodeModeError | None = None
        self.other: Failure | None = None
        self._recording = recording
        self._record = recording.record
        self._questions = Questions(self.execution, gateway, recording.journal.digest, recording.gap)
        if recording.gap:
            self.ledger.note(recording.gap)
        if recording.given.settings.get(HAD_SECRETS):
            self.ledger.note(HELD_SECRETS)
        self._grants = Grants(recording.answered, recording.record.calls.values())
        self._by_id = {call.call: call for call in recording.record.calls.values() if call.call}
        self._parts = recording.record.parts()
        self._counted: set[str] = set()
        self._printed_before = recording.record.printed
        self._unwritten: list[str] = []
        self._seen: set[str] = set()
        self._identities: dict[str, tuple[int, str, str]] = {}
        self._paths: dict[tuple[str, int], str] = {}  # by the saved program around the call, and its number there
        self._ends: dict[str, dict[str, Any]] = {}
        self._approvals: dict[str, str] = {}  # ids of approvals and plans, by the paths of the calls
        self._doubtful: set[str] = set()  # writes sent by an earlier server that may have taken effect

    # --- the recording of the sandbox --------------------------------------------------------------------------

    @property
    def recorded(self) -> Sequence[Delivery]:
        """The messages that the program was sent before."""
        return self._record.deliveries

    def replayed(self, call: Call, within: str = "") -> None:
        """Compare a call with the record. If its end is not recorded, the program awaits it again after the replay."""
        recorded = self.identify(call, within)
        if recorded is None:
            return
        for known in (recorded, *self._parts.get(recorded.path, ())):
            self._restore(known)

    def printed(self, text: str) -> None:
        """Keep output for followers. It is written together with the next entry."""
        again = min(self._printed_before, len(text))
        self._printed_before -= again
        if text[again:]:
            self._unwritten.append(text[again:])

    def live(self, within: str = "") -> None:
        """End the replay. Raises ProgramStopped if the program has made fewer calls than recorded."""
        missing = self.missing(within)
        if missing is not None:
            raise ProgramStopped(missing)

    def missing(self, within: str = "") -> Failure | None:
        """Return a failure that names the first recorded call that the program has not made.

        `within` is the path of a saved program, "" for the execution's own.
        """
        own = (call for call in self._record.calls.values() if call.within == within and not call.is_page)
        return not_made(own, self._seen)

    def recall(self) -> None:
        """Add the recorded calls to the ledger that the program did not reach again."""
        for path, call in self._record.calls.items():
            if path not in self.ledger:
                self._restore(call)

    async def deliver(
        self, deliveries: Sequence[Delivery], within: str = "", over: asyncio.Event | None = None
    ) -> bool:
        """Journal what is about to be sent to the program, or to the saved program `within`, which ends with `over`.

        While a person is asked, the program stands still. Answers are then recorded as ended, for a later resume.
        """
        await self.floor.unasked(over)
        if self.floor.is_over or (over and over.is_set()):
            ended = [self._undelivered(delivery, within) for delivery in deliveries]
            await self._append([entry for entry in ended if entry is not None])
            return False
        await self._append([self._delivered(each, within) for each in deliveries], at_once=not self.floor.is_busy)
        return True

    def over(self) -> None:
        """See `sandbox.Recording`."""
        self.floor.close()

    def _undelivered(self, delivery: Delivery, within: str) -> JournalEntry | None:
        """Return the entry for an answer that the program did not get, None if its call was not sent."""
        path = self._paths.get((within, delivery.call), "")
        return self._ended(path, delivery.answer, is_error=delivery.is_error) if path in self._started else None

    def _delivered(self, delivery: Delivery, within: str) -> JournalEntry:
        data: dict[str, Any] = {"call": delivery.call, "now": delivery.now, "marks": list(delivery.marks)}
        data |= {"within": within} if within else {}
        if not delivery.call:
            return JournalEntry("delivered", data=data)
        path = self._paths[within, delivery.call]
        _, tool, digest = self._identities[path]
        facts = self._ends.pop(path, None) or self._facts(path)
        data |= {"tool": tool, "digest": digest, "error": delivery.is_error, **facts}
        return JournalEntry("delivered", path, data, delivery.answer)

    def _facts(self, path: str) -> dict[str, Any]:
        """Return the ledger's fields of an ended call. Queries of the program only have a state."""
        if path not in self.ledger:
            return {"state": CallState.COMMITTED}
        return facts_of(self.ledger.entry(path), is_recorded=path in self._started)

    # --- compare, decide -----------------------------------------------------------------------------------------

    def identify(self, call: Call, within: str = "") -> RecordedCall | None:
        """Register a call of the program, or of the saved program `within`, and return its record.

        Raises ProgramStopped if another call was recorded.
        """
        if call.path in self._seen and self._paths.get((within, call.id)) == call.path:  # registered during the replay
            return self._record.calls.get(call.path)
        self._paths[within, call.id] = call.path
        self._seen.add(call.path)
        return self._compared(0 if within else call.id, call.path, call.tool, call.arguments)

    def _compared(self, number: int, path: str, name: str, arguments: Mapping[str, Any]) -> RecordedCall | None:
        tool = resolved(name, self._gateway.catalog)
        digest = self._journal.digest(call_facts(tool, path, arguments))
        self._identities[path] = (number, tool, digest)
        recorded = self._record.calls.get(path) or (self._by_id.get(number) if number else None)
        if recorded is None:
            return None
        if (recorded.path, recorded.call, recorded.tool, recorded.digest) != (path, number, tool, digest):
            was = f"call {recorded.path} was {recorded.tool}({shown(recorded.arguments)})"
            now = f"{tool}({self._redacted(tool, arguments)}) at {path}"
            self.other = self.other or nondeterminism(f"{was}, and now is {now}")
            raise ProgramStopped(self.other)
        return recorded

    def _redacted(self, tool: str, arguments: Mapping[str, Any]) -> str:
        known = self._gateway.catalog.get(tool) if tool in self._gateway.catalog else None
        return shown(Redaction(self.caller.secrets, self._masked).arguments(arguments, known)[0])

    async def _make(self, call: ToolCall, send: Send) -> Any:
        if "/" in call.path:  # a page of a list
            recorded = self._compared(0, call.path, call.tool, call.arguments)
        else:
            recorded = self._record.calls.get(call.path)
        if recorded is not None and recorded.end is not None:
            self._restore(recorded)
            return value_of(recorded.end, is_page="/" in call.path)
        judged = self._taken(self._gateway.judge(call))
        decided = await self._decided(judged, recorded)
        if isinstance(decided, End):
            return await self._settle(judged, decided)
        return await self._send_in_turn(decided, send)

    async def _decided(self, judged: JudgedCall, recorded: RecordedCall | None) -> JudgedCall | End:
        """Return the end of a call if a person or an earlier execution determines it, else the call to send."""
        if recorded is not None:
            if judged.state is CallState.PENDING:  # it was approved before it was sent
                judged = self._amended(judged.allowed(recorded.rule))
            return await self._of_unknown_end(judged, recorded.attempts)
        if self._recording.reuse is not None and judged.tool is not None and judged.state is not CallState.DENIED:
            _, tool, digest = self._identities[judged.call.path]
            earlier = self._recording.reuse.take(judged.call.path, tool, digest)
            if earlier is not None and earlier.state is CallState.UNKNOWN:
                return await self._of_unknown_end(judged, 0)
            if earlier is not None:
                return earlier
        if judged.state is not CallState.PENDING:
            return judged
        question, answered = self._asked(judged, "approval", 0)
        if answered is None or answered.verdict is None:
            decided = self._granted(judged) or await self._of_plugin(judged)
            return decided or await self._pause_for(question, CallState.PENDING)
        if answered.verdict == "rejected":
            return rejection(judged, "a person", answered.note)
        self._approve(judged.call.path, question.id)
        under = f" under grant {answered.grant}" if answered.grant else ""
        return self._amended(judged.approved(f"{answered.by}{under}"))

    def _approve(self, path: str, by: str) -> None:
        """Keep the id of the approval, grant or plan under which a call is sent."""
        self._approvals[path] = by
        self.floor.answered.add(path)

    def _granted(self, judged: JudgedCall) -> JudgedCall | None:
        """Return a pending call as approved under a grant, or None."""
        grant = self._grants.take(judged, self._questions)
        if grant is None:
            return None
        self._approve(judged.call.path, grant.id)
        return self._amended(judged.approved(f"{grant.by} under grant {grant.id}"))

    async def _of_plugin(self, judged: JudgedCall) -> JudgedCall | End | None:
        """Return the end of a pending call that a plugin rejects, the call to send if one approves, else None."""
        by, answer = await self._hooks.approval(judged) or ("", None)
        if isinstance(answer, Rejected):
            return rejection(judged, by, answer.reason)
        return self._amended(self._gateway.approve(judged, by)) if answer is not None else None

    async def _passed(self, judged: JudgedCall) -> JudgedCall:
        """See `CallSession`. A call whose start is recorded passed the plugins then, and may have taken effect."""
        return judged if self._record.has_begun(judged.call.path) else await super()._passed(judged)

    async def _of_unknown_end(self, judged: JudgedCall, attempts: int) -> JudgedCall | End:
        """Decide on a sent call with an unknown end. A key is no help if `attempts` is 0: another execution sent it."""
        allowed = judged.approved("a person") if judged.state is CallState.PENDING else judged
        question, answered = self._asked(judged, "unknown", attempts)
        of_service = self._question(judged, "input", attempts).id
        if (answered is not None and answered.verdict == "send_again") or of_service in self._recording.answered:
            self.floor.answered.add(judged.call.path)
            return allowed
        if answered is not None and answered.verdict is not None:
            return end_said(answered)
        if judged.tool is None or judged.tool.effect is Effect.READ:
            return allowed
        if attempts and self._gateway.takes_key(judged.tool):
            self._doubtful.add(judged.call.path)
            return allowed
        return await self._pause_for(question, CallState.UNKNOWN)

    def _asked(self, judged: JudgedCall, kind: QuestionKind, attempt: int) -> tuple[PendingCall, PendingCall | None]:
        """Return the question about a call with the answer to it, None without one. It is new if that is outdated."""
        question, now_us = self._question(judged, kind, attempt), time.time_ns() // 1000
        first, answered = question.id, self._recording.answered.get(question.id)
        for again in count(1):
            if answered is None or not answered.is_outdated(now_us):
                break
            question = replace(question, id=f"{first}_{again}")
            answered = self._recording.answered.get(question.id)
        return question, answered

    def _question(self, judged: JudgedCall, kind: QuestionKind, attempt: int) -> PendingCall:
        path = judged.call.path
        _, tool, digest = self._identities[path]
        return self._questions.ask(judged, (tool, digest), self.ledger.entry(path).arguments, kind, attempt)

    async def _pause_for(self, question: PendingCall, state: CallState) -> NoReturn:
        self.pending.append(question)
        entry = self.ledger.entry(question.path)
        error = question.reason if question.asks is not None else entry.error
        self.ledger.restore(entry._replace(state=state, question=question.id, error=error))
        try:
            await self.floor.ask(question.path, self._waits)
        except asyncio.CancelledError:
            if not self.floor.is_over:
                self.pending.remove(question)
                given_up = CallState.NOT_STARTED if state is CallState.PENDING else state
                self.ledger.restore(entry._replace(state=given_up))
            raise

    def _waits(self) -> Failure:
        hint = "a person must decide on these calls by their ids; then the program continues from here"
        unknown = [question for question in self.pending if question.kind == "unknown"]
        return decision_required(unknown, hint) if unknown else replace(super()._waits(), hint=hint)

    async def _settle(self, judged: JudgedCall, end: End) -> Any:
        """Return the value of a call that is not sent now, and record its end."""
        path = judged.call.path
        facts: dict[str, Any] = {"error": json.loads(end.answer)["message"] if end.is_error else ""}
        self.ledger.settle(path, end.state, **facts, **end.facts)
        effect = judged.tool.effect if judged.tool is not None else ""
        self._ends[path] = {**self._facts(path), "effect": effect}
        if "/" in path:
            await self._append([self._ended(path, end.answer, is_error=end.is_error)])
        return value_of(end, is_page="/" in path)

    async def inner_run(self, judged: JudgedCall, program: SavedProgram, stop: Stop) -> InnerRun:
        """Record the start of a saved program, and return its run: as recorded if it began before."""
        path = judged.call.path
        began, entry = self._record.began.get(path), self.ledger.entry(path)
        if began is None:
            began = Began(program.code, time.time_ns() // 1000, entry.effect)
            await self._append([began_entry(began, program, entry)])
        self.ledger.restore(entry._replace(effect=began.effect))  # the program may be another by now
        recording = InnerRecording(self, path, self._record.inner_deliveries.get(path, ()), stop)
        return inner_run(began, recording, self._recording.given.seed, path)

    # --- write -------------------------------------------------------------------------------------------------

    async def _record_start(self, judged: JudgedCall) -> None:
        path = judged.call.path
        number, tool, digest = self._identities[path]
        entry = self.ledger.entry(path)
        assert judged.tool is not None  # noqa: S101 - a call without a tool has an error, and is not sent
        data = {
            "call": number,
            "tool": tool,
            "digest": digest,
            "arguments": entry.arguments,
            "effect": judged.tool.effect,
            "decision": entry.decision,
            "rule": entry.rule,
            "schema": definition_digest(judged.tool),
            "key": self._key(judged),
            "approval": self._approvals.get(path, ""),
            "start_s": round(self.ledger.elapsed_s(), 6),
        }
        await self._append([JournalEntry("started", path, data)])

    async def _confirm(self) -> None:
        """Renew the lease. The call may have waited long, and another server may have taken over the execution."""
        await self._append(())

    async def _send(self, judged: JudgedCall, send: Send) -> ToolOutcome:
        path = judged.call.path
        send = partial(send_in_doubt, send) if path in self._doubtful else send
        outcome = await super()._send(judged, partial(send_answered, send, self._recording.answered.values()))
        if isinstance(outcome.error, InputRequired):
            question = self._question(judged, "input", self._record.attempts(path) + 1)
            await self._pause_for(service_question(question, outcome.error), CallState.PENDING)
        if "/" in path:
            is_error = outcome.error is not None
            answer = error_fields(for_program(outcome.error)) if outcome.error is not None else page_text(outcome.value)
            await self._append([self._ended(path, answer, is_error=is_error)])
        return outcome

    def _ended(self, path: str, answer: bytes, *, is_error: bool) -> JournalEntry:
        _, tool, digest = self._identities[path]
        facts = self._ends.pop(path, None) or self._facts(path)
        return JournalEntry("ended", path, {"tool": tool, "digest": digest, "error": is_error, **facts}, answer)

    async def _append(self, entries: Sequence[JournalEntry], *, at_once: bool = False) -> None:
        if self._unwritten:
            entries = (JournalEntry("printed", data={"text": "".join(self._unwritten)}), *entries)
            self._unwritten = []
        try:
            await self._journal.append(self._recording.lease, entries, at_once=at_once)
        except CodeModeError as error:  # full, unavailable, or owned by another server
            self.broken = error
            raise ProgramStopped(stopped(error, has_sent=self.ledger.has_sent())) from error
        self._recording.appended()

    def _restore(self, recorded: RecordedCall) -> None:
        if recorded.is_query:
            return
        self.ledger.restore(restored_entry(recorded, self._record.effect(recorded.path)))
        if recorded.decision == "allow" and recorded.path not in self._counted:
            self._counted.add(recorded.path)
            self._gateway.recount(recorded.tool, self.caller, self._tally)

    def _masked(self, secret: object) -> str:
        return f"[secret {self._journal.digest(secret)[:DIGITS]}]"
