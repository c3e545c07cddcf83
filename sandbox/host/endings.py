"""Why a session ended, and what its outcome says: each way to end in one place."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sandbox.outcome import Failure, Status

if TYPE_CHECKING:
    from sandbox.errors import GuestProtocolError
    from sandbox.limits import Limits
    from sandbox.protocol.control import Exit
    from sandbox.protocol.guest_messages import Final
    from sandbox.protocol.strict_json import JsonValue


@dataclass(frozen=True, slots=True)
class Ending:
    """How a session ended; the fields are those of `Outcome`."""

    status: Status
    value: JsonValue = None
    has_value: bool = False
    failure: Failure | None = None
    limit: str | None = None
    notes: tuple[str, ...] = ()


def by_final(final: Final, value: JsonValue) -> Ending:
    """The guest says how it ended. It may lie about its program, and about nothing else."""
    status = Status(final.status)
    return Ending(
        status=status,
        value=value,
        has_value=final.has_value,
        failure=final.failure,
        limit="memory_bytes" if status is Status.OUT_OF_MEMORY else None,
        notes=final.notes,
    )


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


def by_breach(error: GuestProtocolError, limit: str | None) -> Ending:
    """The guest broke the protocol: it is compromised, or has a defect."""
    message = f"{error}; the program was ended"
    return Ending(Status.CRASHED, failure=Failure(type(error).__name__, message), limit=limit)


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
