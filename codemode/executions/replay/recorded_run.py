"""A run that is recorded: what leaves is in the journal before it leaves, what the program gets before it gets it.

Where the journal has something of the execution already, the program is compared with it call by call, and what it has
is not done again. Of a call that left before and never came back nobody knows whether it was done: a read is sent
again, so is a write whose service knows it by its idempotency key; of any other a person says what became of it.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

from codemode.catalog.tool import Effect
from codemode.errors import CallError, CodeModeError, NondeterminismError
from codemode.executions.journal.base import JournalEntry, PendingCall
from codemode.executions.ledger import Ledger, LedgerEntry
from codemode.executions.paging import whole_list
from codemode.executions.replay.dependencies import definition_digest
from codemode.executions.replay.record import End
from codemode.executions.run import Run, for_program
from codemode.gateway.call import CallState
from codemode.gateway.redaction import Redaction
from codemode.transports.base import Page
from codemode.transports.http.idempotency import key_of
from codemode.transports.http.uncertainty import in_doubt
from sandbox import CallFailed, Failure, ProgramStopped

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from codemode.executions.journal.base import Journal, Lease, NewExecution, QuestionKind
    from codemode.executions.replay.record import Record, RecordedCall
    from codemode.executions.replay.reuse import Reuse
    from codemode.executions.run import Send
    from codemode.gateway.call import JudgedCall, ToolCall, ToolOutcome
    from codemode.gateway.caller import Caller
    from codemode.gateway.gateway import Gateway
    from sandbox import Call, Delivery

#: Hexadecimal digits of a keyed digest that stand for a secret, or name a question.
_DIGITS = 24


@dataclass(frozen=True, slots=True)
class Keeping:
    """Where a run is recorded, and what is there already.

    `questions` are those of the execution that people have answered, by their ids; `reuse` is what an earlier one has.
    `appended` is called after each write; `cancelled` is set by who wants the run to end.
    """

    journal: Journal
    lease: Lease
    given: NewExecution
    record: Record
    questions: Mapping[str, PendingCall] = field(default_factory=dict)
    reuse: Reuse | None = None
    is_resumed: bool = False
    appended: Callable[[], None] = lambda: None
    cancelled: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def elapsed_s(self) -> float:
        """How long the program has run before, by its own clock."""
        last = self.record.deliveries[-1].now if self.record.deliveries else self.given.start_us
        return (last - self.given.start_us) / 1e6


class RecordedRun(Run):
    """Answers the calls of a program, and is the `sandbox.Recording` of its run.

    `questions` are what people have to decide before the program can go on; `broken` is why it could not be recorded,
    `other` the failure that ended the program where it is not the one that was recorded.
    """

    def __init__(
        self,
        keeping: Keeping,
        gateway: Gateway,
        caller: Caller,
        *,
        calls_in_flight: int,
        watch: Callable[[LedgerEntry], None],
    ) -> None:
        self._journal = keeping.journal
        ledger = Ledger(watch, mask=self._masked, elapsed_s=keeping.elapsed_s)
        super().__init__(keeping.lease.execution, gateway, caller, calls_in_flight=calls_in_flight, ledger=ledger)
        self.questions: list[PendingCall] = []
        self.broken: CodeModeError | None = None
        self.other: Failure | None = None
        self._keeping = keeping
        self._record = keeping.record
        self._by_id = {call.call: call for call in keeping.record.calls.values() if call.call}
        self._pages: dict[str, list[RecordedCall]] = {}
        for call in keeping.record.calls.values():
            whole, page, _ = call.path.partition("/")
            if page:
                self._pages.setdefault(whole, []).append(call)
        self._counted: set[str] = set()
        self._printed_before = keeping.record.printed
        self._unwritten: list[str] = []
        self._seen: set[str] = set()
        self._identities: dict[str, tuple[int, str, str]] = {}
        self._paths: dict[int, str] = {}
        self._ends: dict[str, dict[str, Any]] = {}
        self._approvals: dict[str, str] = {}
        self._left: set[str] = set()
        self._doubtful: set[str] = set()  # writes that an earlier server has sent, and may have been done

    # --- what the sandbox asks -----------------------------------------------------------------------------------

    @property
    def recorded(self) -> Sequence[Delivery]:
        """What the program was sent before."""
        return self._record.deliveries

    def replayed(self, call: Call) -> None:
        """Compare a call with the record; its answer is there, or it will be asked for again when that is read."""
        recorded = self.identify(call)
        if recorded is None:
            return
        for known in (recorded, *self._pages.get(recorded.path, ())):
            self._restore(known)

    def printed(self, text: str) -> None:
        """Keep what was printed for whoever looks on: it is written with what comes next."""
        again = min(self._printed_before, len(text))
        self._printed_before -= again
        if text[again:]:
            self._unwritten.append(text[again:])

    def live(self) -> None:
        """Nothing may be missing: a program that did less than was recorded is another."""
        missing = self.missing()
        if missing is not None:
            raise ProgramStopped(missing)

    def missing(self) -> Failure | None:
        """The first call that was recorded and that the program has not made."""
        calls = sorted(self._by_id.values(), key=lambda call: call.call)
        absent = next((call for call in calls if call.path not in self._seen), None)
        if absent is None:
            return None
        return _other(f"call {absent.path} was {absent.tool}({_shown(absent.arguments)}), and was not made this time")

    def recall(self) -> None:
        """Put into the ledger what was recorded of calls that the program did not come to again."""
        for path, call in self._record.calls.items():
            if path not in self.ledger:
                self._restore(call)

    async def deliver(self, deliveries: Sequence[Delivery]) -> bool:
        """Write down what the program is about to be sent.

        While a person is being asked it stands still: what comes is kept as what has ended, for when it goes on.
        """
        while self._asking and not self._is_over:
            await self._goes_on.wait()
        if self._is_over:
            ended = [self._undelivered(delivery) for delivery in deliveries]
            await self._append([entry for entry in ended if entry is not None])
            return False
        await self._append([self._delivered(delivery) for delivery in deliveries], at_once=not self._under_way)
        return True

    def over(self) -> None:
        """See `sandbox.Recording`."""
        self._is_over = True
        self._goes_on.set()

    def _undelivered(self, delivery: Delivery) -> JournalEntry | None:
        """What is kept of an answer that the program did not get: of a call that left alone, how it ended."""
        path = self._paths.get(delivery.call, "")
        if path not in self._left:
            return None
        return self._ended(path, delivery.answer, is_error=delivery.is_error)

    def _delivered(self, delivery: Delivery) -> JournalEntry:
        data: dict[str, Any] = {"call": delivery.call, "now": delivery.now, "marks": list(delivery.marks)}
        if not delivery.call:
            return JournalEntry("delivered", data=data)
        path = self._paths[delivery.call]
        _, tool, digest = self._identities[path]
        facts = self._ends.pop(path, None) or self._facts(path)
        data |= {"tool": tool, "digest": digest, "error": delivery.is_error, **facts}
        return JournalEntry("delivered", path, data, delivery.answer)

    def _facts(self, path: str) -> dict[str, Any]:
        """What the ledger says of the end of a call; of a question of the program, that it was answered."""
        if path not in self.ledger:
            return {"state": CallState.COMMITTED}
        entry = self.ledger.entry(path)
        facts: dict[str, Any] = {"start_s": round(entry.start_s, 6), "duration_s": round(entry.duration_s, 6)}
        facts |= {"size_bytes": entry.size_bytes, "preview": entry.preview, "message": entry.error}
        if path not in self._left:
            facts |= {"arguments": entry.arguments, "decision": entry.decision, "rule": entry.rule}
        if entry.reused:
            facts["reused"] = entry.reused
        return {"state": entry.state, **facts}

    # --- who is asked for what -----------------------------------------------------------------------------------

    def identify(self, call: Call) -> RecordedCall | None:
        """Note a call of the program; returns what was recorded of it. Raises ProgramStopped where it was another."""
        if call.path in self._seen and self._paths.get(call.id) == call.path:  # when it was replayed
            return self._record.calls.get(call.path)
        self._paths[call.id] = call.path
        self._seen.add(call.path)
        return self._compared(call.id, call.path, call.tool, call.arguments)

    def _compared(self, number: int, path: str, name: str, arguments: Mapping[str, Any]) -> RecordedCall | None:
        tool = self._resolved(name)
        digest = self._journal.digest([tool, arguments] if number else [tool, "page", arguments])
        self._identities[path] = (number, tool, digest)
        recorded = self._record.calls.get(path) or (self._by_id.get(number) if number else None)
        if recorded is None:
            return None
        if (recorded.path, recorded.call, recorded.tool, recorded.digest) != (path, number, tool, digest):
            was = f"call {recorded.path} was {recorded.tool}({_shown(recorded.arguments)})"
            now = f"{tool}({self._redacted(tool, arguments)}) at {path}"
            self.other = self.other or _other(f"{was}, and is {now} this time")
            raise ProgramStopped(self.other)
        return recorded

    def _redacted(self, tool: str, arguments: Mapping[str, Any]) -> str:
        known = self._gateway.catalog.get(tool) if tool in self._gateway.catalog else None
        return _shown(Redaction(self._caller.secrets, self._masked).arguments(arguments, known)[0])

    def _resolved(self, name: str) -> str:
        wish = whole_list(name, self._gateway.catalog)
        if wish is not None:
            return f"{wish.tool.id}.{wish.kind}"
        try:
            return self._gateway.catalog.get(name).id
        except CodeModeError:
            return name

    async def _made(self, call: ToolCall, send: Send) -> Any:
        if "/" in call.path:  # a page of a list
            recorded = self._compared(0, call.path, call.tool, call.arguments)
        else:
            recorded = self._record.calls.get(call.path)
        if recorded is not None and recorded.end is not None:
            self._restore(recorded)
            return _value(recorded.end, is_page="/" in call.path)
        judged = self._gateway.judge(call)
        self.ledger.take(judged)
        decided = await self._decided(judged, recorded)
        if isinstance(decided, End):
            return await self._known(judged, decided)
        return await self._done(decided, send)

    async def _decided(self, judged: JudgedCall, recorded: RecordedCall | None) -> JudgedCall | End:
        """The end of a call where a person or an earlier execution has it; else the call as it is to be sent."""
        if recorded is not None:
            return await self._of_unknown_end(judged, recorded.attempts)
        if self._keeping.reuse is not None and judged.tool is not None and judged.state is not CallState.DENIED:
            _, tool, digest = self._identities[judged.call.path]
            earlier = self._keeping.reuse.take(judged.call.path, tool, digest)
            if earlier is not None and earlier.state is CallState.UNKNOWN:
                return await self._of_unknown_end(judged, 0)
            if earlier is not None:
                return earlier
        if judged.state is not CallState.PENDING:
            return judged
        question = self._question(judged, "approval", 0)
        answered = self._keeping.questions.get(question.id)
        match answered.verdict if answered is not None else None:
            case "approved":
                self._approvals[judged.call.path] = question.id
                allowed = judged.approved(answered.by if answered else "")
                self.ledger.amend(allowed)
                return allowed
            case "rejected":
                return _rejection(judged, answered.note if answered else "")
            case _:
                return await self._wait_for(question, CallState.PENDING)

    async def _of_unknown_end(self, judged: JudgedCall, attempts: int) -> JudgedCall | End:
        """It left before, and was allowed then. Where it was another execution (`attempts` is 0) a key is no help."""
        allowed = judged.approved("a person") if judged.state is CallState.PENDING else judged
        question = self._question(judged, "unknown", attempts)
        answered = self._keeping.questions.get(question.id)
        match answered.verdict if answered is not None else None:
            case "committed":
                answer = json.dumps(answered.value if answered else None).encode()
                return End(CallState.COMMITTED, answer, is_error=False, facts={})
            case "failed":
                why = (answered.note if answered else "") or "it was not done"
                return _failed(f"{question.tool} failed: {why}", kind="upstream_error", state=CallState.FAILED)
            case "send_again":
                return allowed
        if judged.tool is None or judged.tool.effect is Effect.READ:
            return allowed
        if attempts and self._gateway.takes_key(judged.tool):
            self._doubtful.add(judged.call.path)
            return allowed
        return await self._wait_for(question, CallState.UNKNOWN)

    def _question(self, judged: JudgedCall, kind: QuestionKind, attempt: int) -> PendingCall:
        path = judged.call.path
        _, tool, digest = self._identities[path]
        means: list[Any] = []  # where it goes, and what it does there: a yes to one is none to another
        host = ""
        if judged.tool is not None:
            destination = self._gateway.destination(judged.tool)
            host = destination.host
            means = [definition_digest(judged.tool), destination.facts(judged.tool.source, self._journal.digest)]
        named = self._journal.digest([self.execution, path, digest, kind, attempt, means])[:_DIGITS]
        reason = judged.ruling.reason or judged.ruling.rule if judged.ruling else ""
        if kind == "unknown":
            reason = "it was sent, and the server ended before the answer came: look whether it was done"
        shown = self.ledger.entry(path).arguments
        asked_us = time.time_ns() // 1000
        return PendingCall(f"ap_{named}", self.execution, path, tool, shown, digest, reason, kind, asked_us, host=host)

    async def _wait_for(self, question: PendingCall, state: CallState) -> NoReturn:
        self.questions.append(question)
        entry = self.ledger.entry(question.path)
        self.ledger.restore(replace(entry, state=state, question=question.id))
        try:
            await self._ask(question.path)
        except asyncio.CancelledError:
            if not self._is_over:
                self.questions.remove(question)
                given_up = CallState.NOT_STARTED if state is CallState.PENDING else state
                self.ledger.restore(replace(entry, state=given_up))
            raise

    def _waits(self) -> Failure:
        hint = "a person decides on these calls by their ids; then the program goes on from here"
        unknown = [question for question in self.questions if question.kind == "unknown"]
        if not unknown:
            failure = super()._waits()
            return Failure(failure.type, failure.message, hint=hint)
        named = "; ".join(f"{question.tool}({_shown(question.arguments)})" for question in unknown[:5])
        return Failure("DecisionRequired", f"whether these calls were done is not known: {named}", hint=hint)

    async def _known(self, judged: JudgedCall, end: End) -> Any:
        """Give the end of a call that is not sent now."""
        path = judged.call.path
        facts: dict[str, Any] = {"error": json.loads(end.answer)["message"] if end.is_error else ""}
        self.ledger.settle(path, end.state, **facts, **end.facts)
        effect = judged.tool.effect if judged.tool is not None else ""
        self._ends[path] = {**self._facts(path), "effect": effect}
        if "/" in path:
            await self._append([self._ended(path, end.answer, is_error=end.is_error)])
        return _value(end, is_page="/" in path)

    # --- what is written -----------------------------------------------------------------------------------------

    async def _departs(self, judged: JudgedCall) -> None:
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
            "key": key_of(self.execution, path) if self._gateway.takes_key(judged.tool) else "",
            "approval": self._approvals.get(path, ""),
        }
        self._left.add(path)
        await self._append([JournalEntry("started", path, data)])
        await super()._departs(judged)

    async def _departs_again(self) -> None:
        """See `Run`. It may have waited for long: another server may have the execution by now."""
        await self._append(())

    async def _sent(self, judged: JudgedCall, send: Send) -> ToolOutcome:
        path = judged.call.path
        outcome = await super()._sent(judged, partial(_after_doubt, send) if path in self._doubtful else send)
        if "/" in path:
            is_error = outcome.error is not None
            answer = _error_fields(for_program(outcome.error)) if outcome.error is not None else _page(outcome.value)
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
            await self._journal.append(self._keeping.lease, entries, at_once=at_once)
        except CodeModeError as error:  # it is full, or away, or another server has the execution
            self.broken = error
            raise ProgramStopped(_stopped(error, has_sent=self.ledger.has_sent())) from error
        self._keeping.appended()

    def _restore(self, recorded: RecordedCall) -> None:
        if not recorded.effect and recorded.end is not None and not recorded.end.facts:
            return  # a question of the program: it stands in no ledger
        end = recorded.end
        facts = dict(end.facts) if end is not None else {}
        self.ledger.restore(
            LedgerEntry(
                path=recorded.path,
                tool=recorded.tool,
                arguments=dict(recorded.arguments),
                state=end.state if end is not None else CallState.UNKNOWN,
                start_s=facts.get("start_s", 0.0),
                duration_s=facts.get("duration_s", 0.0),
                decision=recorded.decision,
                rule=recorded.rule,
                size_bytes=facts.get("size_bytes", 0),
                preview=facts.get("preview", ""),
                error=facts.get("message", ""),
                reused=facts.get("reused", ""),
            )
        )
        if recorded.decision == "allow" and recorded.path not in self._counted:
            self._counted.add(recorded.path)
            self._gateway.recount(recorded.tool, self._caller, self._tally)

    def _masked(self, secret: object) -> str:
        return f"[secret {self._journal.digest(secret)[:_DIGITS]}]"


def _stopped(error: CodeModeError, *, has_sent: bool) -> Failure:
    """Why a program that cannot be recorded any more was stopped: what it had sent before is not called unsent."""
    said = error.for_model()
    if has_sent:
        said = re.split(r"; nothing was (?:sent|recorded)", said)[0]
        said += "; the program was stopped there, and nothing more is sent: `calls` tells what was sent before"
    return Failure(type(error).__name__, said)


async def _after_doubt(send: Send, judged: JudgedCall) -> ToolOutcome:
    """Send a write once more that may have been done: an error does not say that it was not."""
    outcome = await send(judged)
    if not isinstance(outcome.error, CallError) or outcome.state is CallState.COMMITTED:
        return outcome
    return replace(outcome, state=CallState.UNKNOWN, error=in_doubt(outcome.error))


def _shown(arguments: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in arguments.items())[:500]


def _other(difference: str) -> Failure:
    return Failure(
        NondeterminismError.__name__,
        f"the program is not the one that was recorded: {difference}; nothing was sent again",
        hint="run it as a new program; resume_from reuses what this execution has done",
    )


def _rejection(judged: JudgedCall, note: str) -> End:
    tool = judged.tool.id if judged.tool is not None else judged.call.tool
    message = f"a person did not allow {tool}" + (f": {note}" if note else "") + "; nothing was sent"
    return _failed(message, kind="rejected", body=note or None, state=CallState.REJECTED)


def _failed(message: str, *, kind: str, state: CallState, body: Any = None) -> End:
    return End(state, _error_fields(CallFailed(message, kind=kind, body=body)), is_error=True, facts={})


def _error_fields(error: CallFailed) -> bytes:
    fields = ("message", "kind", "status", "body", "retry_after_s")
    return json.dumps({name: getattr(error, name) for name in fields}).encode()


def _page(value: Any) -> bytes:
    return json.dumps(asdict(value) if isinstance(value, Page) else value).encode()


def _value(end: End, *, is_page: bool) -> Any:
    """What a call that has ended gives the program, or the page of its list. Raises CallFailed."""
    data = json.loads(end.answer)
    if not end.is_error:
        return Page(**data) if is_page else data
    raise CallFailed(
        data["message"],
        kind=data["kind"],
        status=data["status"],
        body=data["body"],
        retry_after_s=data["retry_after_s"],
    )
