"""What can go wrong, by whose fault it is.

    SandboxError
    ├─ SandboxUnavailable   this machine does not give a layer of isolation that is required
    ├─ WorkerError          a worker process could not be started, or the fork server died
    ├─ GuestProtocolError   the guest sent something that it must not send
    ├─ ProgramRefused       raised by a preflight: the program is refused before anything runs
    ├─ ProgramStopped       raised by a call handler: the program is ended there
    └─ CallFailed           raised by a call handler: the program sees it as an exception that it may catch

Nothing that a program does raises out of `Sandbox.run`: that is what `Outcome` is for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sandbox.outcome import Failure, Refusal


class SandboxError(Exception):
    """Base of all errors of this package."""


class SandboxUnavailable(SandboxError):
    """A required layer of isolation is missing; the message names it, the probe's result and the way out."""


class WorkerError(SandboxError):
    """A worker could not be started, or ended before it said anything."""


class GuestProtocolError(SandboxError):
    """The guest broke the protocol. It is killed and the outcome is `crashed`; `limit` names an exceeded limit."""

    limit: str | None = None


class ProgramRefused(SandboxError):
    """A preflight refuses the program; `refusals` say where, why, and what to write instead."""

    def __init__(self, refusals: Sequence[Refusal]) -> None:
        self.refusals = tuple(refusals)
        super().__init__("; ".join(refusal.message for refusal in self.refusals))


class ProgramStopped(SandboxError):
    """A call handler ends the program: it sees nothing of it, and its outcome is `failed` with this `failure`."""

    def __init__(self, failure: Failure) -> None:
        self.failure = failure
        super().__init__(failure.message)


class CallFailed(SandboxError):
    """A call failed in a way that the program may see and handle.

    `kind` is a short stable word (`upstream_error`, `arguments_invalid`, `denied` …). `status` is an HTTP status
    where there was one, `body` the JSON that came with it, `retry_after_s` the advice of the other side in seconds.
    No field may hold a secret, a host name or a path: all of them enter the sandbox.
    """

    def __init__(
        self,
        message: str,
        *,
        kind: str = "failed",
        status: int | None = None,
        body: Any = None,
        retry_after_s: float | None = None,
    ) -> None:
        self.message = message
        self.kind = kind
        self.status = status
        self.body = body
        self.retry_after_s = retry_after_s
        super().__init__(message)
