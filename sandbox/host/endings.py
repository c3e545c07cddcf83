"""The ways in which a session can end, and the outcome of each."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sandbox.outcome import Failure, Outcome, Status

if TYPE_CHECKING:
    from sandbox.errors import GuestProtocolError, ProgramRefused
    from sandbox.limits import Limits
    from sandbox.protocol.control import Exit
    from sandbox.protocol.guest_decoder import Final


@dataclass(frozen=True, slots=True)
class Ending:
    """How a session ended, with the fields of `Outcome` that follow from it."""

    status: Status
    has_value: bool = False
    failure: Failure | None = None
    limit: str | None = None
    notes: tuple[str, ...] = ()

    def outcome(self, **fields: Any) -> Outcome:
        """Return the outcome, with these of its other fields."""
        return Outcome(
            status=self.status,
            has_value=self.has_value,
            failure=self.failure,
            limit=self.limit,
            notes=self.notes,
            **fields,
        )


#: By name: faster than to ask the class.
_STATUSES = {status.value: status for status in Status}


#: The type of the failure of a program that made more calls than it may.
CALL_LIMIT = "CallLimitExceeded"


def by_final(final: Final) -> Ending:
    """End by the guest's final message, which decides about its own program only."""
    status, failure = _STATUSES[final.status], final.failure
    limit = "memory_bytes" if status is Status.OUT_OF_MEMORY else None
    if failure is not None and failure.type == CALL_LIMIT:
        limit = "calls"
    return Ending(status=status, has_value=final.has_value, failure=failure, limit=limit, notes=final.notes)


def by_source(code: str, limits: Limits) -> Ending | None:
    """Return the end of a source that is too long or holds a lone surrogate, else None. It needs no worker."""
    try:
        size = len(code.encode())
    except UnicodeEncodeError as error:
        line = code.count("\n", 0, error.start) + 1
        message = f"line {line} holds half of a surrogate pair ({code[error.start]!a}), which is not text"
        failure = Failure("SourceInvalid", message, line=line, hint="write the character itself, or an escape")
        return Ending(Status.REFUSED, failure=failure)
    if size <= limits.source_bytes:
        return None
    message = f"the program has {size} bytes, {limits.source_bytes} are allowed"
    failure = Failure("SourceTooLarge", message, hint="data belongs into inputs or calls, not into the source")
    return Ending(Status.REFUSED, failure=failure, limit="source_bytes")


def by_refusal(refused: ProgramRefused) -> Ending:
    """End by a refusal of the preflight."""
    first = refused.refusals[0] if refused.refusals else None
    failure = Failure(
        type="ProgramRefused",
        message=str(refused),
        line=first.line if first else None,
        column=first.column if first else None,
        hint=first.hint if first else "",
        refusals=refused.refusals,
    )
    return Ending(Status.REFUSED, failure=failure)


def by_wall_clock(limits: Limits) -> Ending:
    """End by the wall time, which includes the time of tools."""
    message = f"the program ran longer than {limits.wall_s:g} s and was ended"
    hint = "do less in one program, make calls in parallel, or raise the limit wall_s"
    return Ending(Status.TIMED_OUT, failure=Failure("WallTimeExceeded", message, hint=hint), limit="wall_s")


def by_long_wait(limits: Limits, wait_s: float, left_s: float) -> Ending:
    """End at once by a wait that is longer than the time that is left."""
    message = f"the program would wait {wait_s:,.0f} s, and {max(left_s, 0):.0f} of its {limits.wall_s:g} s are left: "
    hint = "a program cannot wait for something later: end it with what it has, and look again in a later program"
    failure = Failure("WallTimeExceeded", message + "it was ended at once", hint=hint)
    return Ending(Status.TIMED_OUT, failure=failure, limit="wall_s")


def by_processor_time(limits: Limits) -> Ending:
    """End by the processor time."""
    message = f"the program used more than {limits.cpu_s:g} s of processor time and was ended"
    hint = "look for a loop that does not end, or raise the limit cpu_s"
    return Ending(Status.TIMED_OUT, failure=Failure("CpuTimeExceeded", message, hint=hint), limit="cpu_s")


def with_last_word(ending: Ending, final: Final) -> Ending:
    """Add the line that was running when the time was up, from the guest's last word."""
    said, failure = final.failure, ending.failure
    if said is None or failure is None or not said.message:
        return ending
    message = f"{failure.message}; {said.message}"
    return replace(ending, failure=replace(failure, message=message, line=said.line, excerpt=said.excerpt))


def by_breach(error: GuestProtocolError) -> Ending:
    """End by a breach of the protocol: the guest is compromised or has a defect."""
    message = f"{error}; the program was ended"
    return Ending(Status.CRASHED, failure=Failure(type(error).__name__, message), limit=error.limit)


def by_death(end: Exit | None, limits: Limits) -> Ending:
    """End by the death of the worker before a final message. An exit status never counts as a success."""
    if end is not None and end.cpu_s >= limits.cpu_s:
        return by_processor_time(limits)
    hint = "recursion in C code or a native crash can do this; run a smaller part of the program"
    failure = Failure("WorkerCrashed", f"the worker ended before the program did: {_describe(end)}", hint=hint)
    return Ending(Status.CRASHED, failure=failure)


def _describe(end: Exit | None) -> str:
    if end is None:
        return "the fork server died"
    if os.WIFSIGNALED(end.status):
        number = os.WTERMSIG(end.status)
        return f"signal {number} ({signal.strsignal(number)})"
    return f"exit status {os.waitstatus_to_exitcode(end.status)}"
