"""Why a session ended, and what its outcome says: each way to end in one place."""

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
    """How a session ended; the fields are those of `Outcome`, without the value, which the session holds."""

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


def by_final(final: Final) -> Ending:
    """The guest says how it ended. It may lie about its program, and about nothing else."""
    status = _STATUSES[final.status]
    return Ending(
        status=status,
        has_value=final.has_value,
        failure=final.failure,
        limit="memory_bytes" if status is Status.OUT_OF_MEMORY else None,
        notes=final.notes,
    )


def by_source(code: str, limits: Limits) -> Ending | None:
    """Text that cannot be a program needs no worker: too long, or half of a surrogate pair in it. Else None."""
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
    """The preflight refused the program."""
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
    """The program took too long, tool time included."""
    message = f"the program ran longer than {limits.wall_s:g} s and was ended"
    hint = "do less in one program, make calls in parallel, or raise the limit wall_s"
    return Ending(Status.TIMED_OUT, failure=Failure("WallTimeExceeded", message, hint=hint), limit="wall_s")


def by_processor_time(limits: Limits) -> Ending:
    """The program computed too long."""
    message = f"the program used more than {limits.cpu_s:g} s of processor time and was ended"
    hint = "look for a loop that does not end, or raise the limit cpu_s"
    return Ending(Status.TIMED_OUT, failure=Failure("CpuTimeExceeded", message, hint=hint), limit="cpu_s")


def with_last_word(ending: Ending, final: Final) -> Ending:
    """Add what the guest says that it was doing when its time was up."""
    said, failure = final.failure, ending.failure
    if said is None or failure is None or not said.message:
        return ending
    message = f"{failure.message}; {said.message}"
    return replace(ending, failure=replace(failure, message=message, line=said.line, excerpt=said.excerpt))


def by_breach(error: GuestProtocolError) -> Ending:
    """The guest broke the protocol: it is compromised, or has a defect."""
    message = f"{error}; the program was ended"
    return Ending(Status.CRASHED, failure=Failure(type(error).__name__, message), limit=error.limit)


def by_death(end: Exit | None, limits: Limits) -> Ending:
    """The worker is gone without having said how the program ended. An exit status is a fact, never a verdict."""
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
