"""The errors of this package.

    SandboxError
    ├─ SandboxUnavailable   a required layer of isolation is missing on this machine
    ├─ WorkerError          a worker process could not be started, or the fork server died
    ├─ GuestProtocolError   the guest broke the protocol
    ├─ ProgramRefused       raised by a preflight: the program is refused before anything runs
    ├─ ProgramStopped       raised by a call handler: the program ends at once
    └─ CallFailed           raised by a call handler: the program may catch it

No action of a program raises from `Sandbox.run`; the `Outcome` reports it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sandbox.outcome import Failure, Refusal


class SandboxError(Exception):
    """Base of all errors of this package."""


class SandboxUnavailable(SandboxError):
    """A required layer of isolation is missing. The message names it, the probe's result and the remedy."""


class WorkerError(SandboxError):
    """A worker could not be started, or ended before it reported."""


class GuestProtocolError(SandboxError):
    """The guest broke the protocol. It is killed and the outcome is `crashed`; `limit` names an exceeded limit."""

    limit: str | None = None


class ProgramRefused(SandboxError):
    """A preflight refuses the program. `refusals` name the places, the reasons and the alternatives."""

    def __init__(self, refusals: Sequence[Refusal]) -> None:
        self.refusals = tuple(refusals)
        super().__init__("; ".join(refusal.message for refusal in self.refusals))


class ProgramStopped(SandboxError):
    """A call handler ends the program, which cannot catch it. The outcome is `failed` with this `failure`."""

    def __init__(self, failure: Failure) -> None:
        self.failure = failure
        super().__init__(failure.message)


class CallFailed(SandboxError):
    """A call failed, and the program may handle the error.

    `kind` is a short stable word (`upstream_error`, `arguments_invalid`, `denied` …). `status` is an HTTP status
    if there was one, `body` the JSON of the response, and `retry_after_s` the server's advice in seconds.
    No field may hold a secret, a host name or a path, since the program can read all of them.
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
