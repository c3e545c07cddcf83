"""The ends of recorded calls, in the journal's form and in the program's."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from codemode.errors import CallError, CodeModeError, NondeterminismError
from codemode.executions.run.failures import rejected
from codemode.executions.run.forms import form_of
from codemode.executions.types.ledger import LedgerEntry
from codemode.executions.types.record import End
from codemode.gateway.call import CallState, state_of
from codemode.transports.base import Page
from codemode.transports.http.uncertainty import in_doubt
from codemode.transports.questions import question_key
from sandbox import CallFailed, Failure

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence

    from codemode.catalog.catalog import Catalog
    from codemode.executions.types.record import Record, RecordedCall
    from codemode.executions.types.records import PendingCall
    from codemode.gateway.call import JudgedCall, ToolOutcome
    from codemode.transports.questions import InputRequired


def stopped(error: CodeModeError, *, has_sent: bool) -> Failure:
    """Return the failure of a program that was stopped because it cannot be recorded.

    If calls were sent before, the message does not claim that nothing was sent.
    """
    message = error.for_model()
    if has_sent:
        message = re.split(r"; nothing was (?:sent|recorded)", message)[0]
        message += "; the program was stopped and sends nothing more: `calls` lists what was sent before"
    return Failure(type(error).__name__, message)


def doubted(outcome: ToolOutcome) -> ToolOutcome:
    """Return the outcome of a write that may have taken effect before: an error now does not disprove that."""
    if not isinstance(outcome.error, CallError) or outcome.state is CallState.COMMITTED:
        return outcome
    return replace(outcome, state=CallState.UNKNOWN, error=in_doubt(outcome.error))


def shown(arguments: Mapping[str, Any]) -> str:
    """Return arguments as text, shortened."""
    return ", ".join(f"{name}={value!r}" for name, value in arguments.items())[:500]


def nondeterminism(difference: str) -> Failure:
    """Return the failure of a program that differs from its record."""
    return Failure(
        NondeterminismError.__name__,
        f"the program differs from its record: {difference}; nothing was sent again",
        hint="run it as a new program; resume_from reuses this execution's calls",
    )


def resolved(name: str, catalog: Catalog) -> str:
    """Return the id of the tool that a call names, with its form, such as `.items`."""
    form = form_of(name, catalog)
    if form is not None:
        return f"{form.tool.id}.{form.kind}"
    try:
        return catalog.get(name).id
    except CodeModeError:
        return name


def facts_of(entry: LedgerEntry, *, is_recorded: bool) -> dict[str, Any]:
    """Return what the end of a call adds to the record. `is_recorded`: its start was recorded."""
    facts: dict[str, Any] = {"start_s": round(entry.start_s, 6), "duration_s": round(entry.duration_s, 6)}
    facts |= {"size_bytes": entry.size_bytes, "preview": entry.preview, "message": entry.error}
    if not is_recorded:
        facts |= {"arguments": entry.arguments, "decision": entry.decision, "rule": entry.rule}
    if entry.reused:
        facts["reused"] = entry.reused
    return {"state": entry.state, **facts}


def rejection(judged: JudgedCall, by: str, reason: str) -> End:
    """Return the end of a call that a person or a plugin rejected."""
    return End(CallState.REJECTED, error_fields(rejected(judged, by, reason)), is_error=True, facts={})


def end_said(answered: PendingCall) -> End:
    """Return the end of a call with an unknown end, as a person found it: committed or failed."""
    if answered.verdict == "committed":
        return End(CallState.COMMITTED, json.dumps(answered.value).encode(), is_error=False, facts={})
    failed = CallFailed(f"{answered.tool} failed: {answered.note or 'it did not take effect'}", kind="upstream_error")
    return End(CallState.FAILED, error_fields(failed), is_error=True, facts={})


def service_answers(answered: Iterable[PendingCall], path: str) -> dict[str, Any]:
    """Return what people answered to the questions of the service of a call, by the keys of the questions."""
    return {
        question_key(question.asks): _elicited(question)
        for question in answered
        if question.asks is not None and question.path == path
    }


def _elicited(question: PendingCall) -> dict[str, Any]:
    """Return the answer to a service's question as an MCP `ElicitResult`."""
    if question.verdict != "answered":
        return {"action": "decline"}
    is_form = question.asks is not None and question.asks["mode"] == "form"
    return {"action": "accept", "content": question.value} if is_form else {"action": "accept"}


def service_question(question: PendingCall, required: InputRequired) -> PendingCall:
    """Return the question that a service asks a person about its call."""
    return replace(question, reason=f"its service asks: {required.asks['message']}", asks=required.asks)


def not_made(recorded: Iterable[RecordedCall], seen: Container[str]) -> Failure | None:
    """Return the failure of a program that did not make one of the recorded calls, None if it made them all."""
    absent = next(
        (call for call in sorted(recorded, key=lambda call: (call.call, call.sequence)) if call.path not in seen), None
    )
    if absent is None:
        return None
    return nondeterminism(
        f"call {absent.path}, {absent.tool}({shown(absent.arguments)}), was recorded and not made this time"
    )


def decision_required(unknown: Sequence[PendingCall], hint: str) -> Failure:
    """Return the failure that names calls with an unknown end, without secrets."""
    named = "; ".join(f"{question.tool}({shown(question.arguments)})" for question in unknown[:5])
    return Failure("DecisionRequired", f"it is unknown whether these calls took effect: {named}", hint=hint)


def error_fields(error: CallFailed) -> bytes:
    """Return an error in the journal's form."""
    fields = ("message", "kind", "status", "body", "retry_after_s")
    return json.dumps({name: getattr(error, name) for name in fields}).encode()


def page_text(value: Any) -> bytes:
    """Return a page in the journal's form."""
    return json.dumps(asdict(value) if isinstance(value, Page) else value).encode()


def value_of(end: End, *, is_page: bool) -> Any:
    """Return the value of an ended call, or its page of a list. Raises CallFailed."""
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


def restored_entry(recorded: RecordedCall, effect: str) -> LedgerEntry:
    """Return the ledger entry of a recorded call that had an effect when it was made."""
    end = recorded.end
    facts = dict(end.facts) if end is not None else {}
    return LedgerEntry(
        path=recorded.path,
        tool=recorded.tool,
        arguments=dict(recorded.arguments),
        state=state_of(effect, end.state if end is not None else CallState.UNKNOWN),
        start_s=facts.get("start_s", 0.0),
        duration_s=facts.get("duration_s", 0.0),
        decision=recorded.decision,
        rule=recorded.rule,
        size_bytes=facts.get("size_bytes", 0),
        preview=facts.get("preview", ""),
        error=facts.get("message", ""),
        reused=facts.get("reused", ""),
        effect=effect,
        account=recorded.account,
    )


def recorded_calls(record: Record) -> tuple[LedgerEntry, ...]:
    """Return the ledger of a record. Queries of the program are in none."""
    calls = (call for call in record.calls.values() if not call.is_query)
    return tuple(restored_entry(call, record.effect(call.path)) for call in calls)
