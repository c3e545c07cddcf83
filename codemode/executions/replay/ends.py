"""How recorded calls end: as the journal has it, and as the program sees it."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from codemode.errors import CallError, CodeModeError, NondeterminismError
from codemode.executions.ledger import LedgerEntry
from codemode.executions.replay.record import End
from codemode.gateway.call import CallState
from codemode.transports.base import Page
from codemode.transports.http.uncertainty import in_doubt
from sandbox import CallFailed, Failure

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codemode.executions.call_session import Send
    from codemode.executions.replay.record import RecordedCall
    from codemode.gateway.call import JudgedCall, ToolOutcome
    from codemode.transports.base import CallContext


def stopped(error: CodeModeError, *, has_sent: bool) -> Failure:
    """Why a program that cannot be recorded any more was stopped: what it had sent before is not called unsent."""
    said = error.for_model()
    if has_sent:
        said = re.split(r"; nothing was (?:sent|recorded)", said)[0]
        said += "; the program was stopped there, and nothing more is sent: `calls` tells what was sent before"
    return Failure(type(error).__name__, said)


async def send_in_doubt(send: Send, judged: JudgedCall, context: CallContext) -> ToolOutcome:
    """Send a write once more that may have been done: an error does not say that it was not."""
    outcome = await send(judged, context)
    if not isinstance(outcome.error, CallError) or outcome.state is CallState.COMMITTED:
        return outcome
    return replace(outcome, state=CallState.UNKNOWN, error=in_doubt(outcome.error))


def shown(arguments: Mapping[str, Any]) -> str:
    """Return arguments as text, shortened."""
    return ", ".join(f"{name}={value!r}" for name, value in arguments.items())[:500]


def nondeterminism(difference: str) -> Failure:
    """Return the failure of a program that differs from the recorded one."""
    return Failure(
        NondeterminismError.__name__,
        f"the program is not the one that was recorded: {difference}; nothing was sent again",
        hint="run it as a new program; resume_from reuses what this execution has done",
    )


def rejection(judged: JudgedCall, note: str) -> End:
    """Return the end of a call that a person rejected."""
    tool = judged.tool.id if judged.tool is not None else judged.call.tool
    message = f"a person did not allow {tool}" + (f": {note}" if note else "") + "; nothing was sent"
    return failed_end(message, kind="rejected", body=note or None, state=CallState.REJECTED)


def failed_end(message: str, *, kind: str, state: CallState, body: Any = None) -> End:
    """Return the end of a call that failed."""
    return End(state, error_fields(CallFailed(message, kind=kind, body=body)), is_error=True, facts={})


def error_fields(error: CallFailed) -> bytes:
    """Return an error as the journal keeps it."""
    fields = ("message", "kind", "status", "body", "retry_after_s")
    return json.dumps({name: getattr(error, name) for name in fields}).encode()


def page_text(value: Any) -> bytes:
    """Return a page as the journal keeps it."""
    return json.dumps(asdict(value) if isinstance(value, Page) else value).encode()


def value_of(end: End, *, is_page: bool) -> Any:
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


def restored_entry(recorded: RecordedCall) -> LedgerEntry:
    """Return the ledger entry of a recorded call."""
    end = recorded.end
    facts = dict(end.facts) if end is not None else {}
    return LedgerEntry(
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
