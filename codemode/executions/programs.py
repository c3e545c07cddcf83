"""Requests for executions, and the interface that carries them out."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from codemode.executions.executor import nothing
from codemode.executions.journal.base import FRESH_READS, GOOD_UNTIL, LABEL, READ_ONLY
from codemode.executions.ledger import unwatched

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from codemode.catalog.catalog import Catalog
    from codemode.errors import CodeModeError
    from codemode.executions.execution import ExecutionOutcome
    from codemode.executions.journal.base import NewExecution, PendingCall
    from codemode.executions.ledger import LedgerEntry
    from codemode.executions.replay.record import Record
    from codemode.executions.replay.recording import ExecutionRecording
    from codemode.gateway.caller import Caller


class Programs(Protocol):
    """Runs programs and knows their dependencies."""

    async def settings(self, caller: Caller) -> dict[str, Any]:
        """Return what a run needs for its replay, besides the program."""
        ...

    def environment(self, digest: Callable[[Any], str]) -> Mapping[str, str]:
        """Return versions, locations and digests that apply to every program now. `digest` is the journal's."""
        ...

    async def catalog(self, caller: Caller) -> Catalog:
        """Return the tools available to a caller."""
        ...

    async def changes(
        self, recorded: NewExecution, record: Record, role: str | None, digest: Callable[[Any], str]
    ) -> tuple[str, ...]:
        """Return what has changed since the execution was recorded.

        `role` is the owner's current role, None if the owner has none.
        """
        ...

    def moved(self, recorded: NewExecution, digest: Callable[[Any], str]) -> tuple[str, ...]:
        """Return the sources whose calls now go to another location than when the execution was recorded."""
        ...

    def decided(self, call: PendingCall) -> None:
        """Notify the observers of a person's decision."""
        ...

    async def run_unrecorded(self, request: Request, caller: Caller, why: CodeModeError) -> ExecutionOutcome:
        """Run a program that cannot be recorded, for the reason `why`. It may only read, and its outcome says so.

        Raises `sandbox.SandboxError` if no program can run.
        """
        ...

    async def perform(
        self,
        caller: Caller,
        recording: ExecutionRecording,
        *,
        begun: Callable[[], None],
        watch: Callable[[LedgerEntry], None],
    ) -> ExecutionOutcome:
        """Run and record a program. Raises `sandbox.SandboxError` if no program can run."""
        ...


@dataclass(frozen=True, slots=True)
class Request:
    """A request for an execution.

    `key` is the caller's idempotency key. `digest` is the digest of the request that first used the key.
    """

    code: str
    credentials: Mapping[str, str] = field(default_factory=dict, repr=False)
    resume_from: str = ""
    fresh_reads: bool = False
    key: str = ""
    digest: str = ""
    begun: Callable[[], None] = nothing
    watch: Callable[[LedgerEntry], None] = unwatched


def recorded_settings(request: Request, caller: Caller) -> dict[str, Any]:
    """Return what the journal keeps of a request and its caller for a later resume."""
    own = {FRESH_READS: request.fresh_reads, GOOD_UNTIL: caller.good_until, READ_ONLY: caller.read_only}
    return own | ({LABEL: caller.label} if caller.label else {})


def request_digest(code: str, resume_from: str, *, fresh_reads: bool) -> str:
    """Return the digest that tells a repeated request from a different one with the same idempotency key."""
    return hashlib.sha256(json.dumps([code, resume_from, fresh_reads]).encode()).hexdigest()
