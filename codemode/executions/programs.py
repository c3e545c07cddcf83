"""What is asked for, and what carries it out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from codemode.executions.executor import nothing
from codemode.executions.ledger import unwatched

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from codemode.catalog.catalog import Catalog
    from codemode.errors import CodeModeError
    from codemode.executions.execution import ExecutionOutcome
    from codemode.executions.journal.base import NewExecution
    from codemode.executions.ledger import LedgerEntry
    from codemode.executions.replay.record import Record
    from codemode.executions.replay.recording import ExecutionRecording
    from codemode.gateway.caller import Caller


class Programs(Protocol):
    """What runs programs, and knows what they depend on."""

    async def settings(self, caller: Caller) -> dict[str, Any]:
        """What a run needs to be repeated, besides the program."""
        ...

    def environment(self, digest: Callable[[Any], str]) -> dict[str, str]:
        """Versions, places and digests of what holds for every program now; `digest` is the journal's."""
        ...

    async def catalog(self, caller: Caller) -> Catalog:
        """The tools that there are for a caller."""
        ...

    async def changes(
        self, given: NewExecution, record: Record, role: str | None, digest: Callable[[Any], str]
    ) -> tuple[str, ...]:
        """What is not as it was when the execution was recorded; `role` is that of its owner now, None for none."""
        ...

    def moved(self, given: NewExecution, digest: Callable[[Any], str]) -> tuple[str, ...]:
        """Where calls went when the execution was recorded, and go elsewhere now."""
        ...

    async def run_unrecorded(self, request: Request, caller: Caller, why: CodeModeError) -> ExecutionOutcome:
        """Run a program that cannot be recorded, for the reason `why`: it may only read, and its outcome says so.

        Raises `sandbox.SandboxError` where none can run.
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
        """Run a program, recorded. Raises `sandbox.SandboxError` where none can run."""
        ...


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be executed. `key` is the caller's idempotency key, `digest` that of what it was given with."""

    code: str
    credentials: Mapping[str, str] = field(default_factory=dict, repr=False)
    resume_from: str = ""
    fresh_reads: bool = False
    key: str = ""
    digest: str = ""
    begun: Callable[[], None] = nothing
    watch: Callable[[LedgerEntry], None] = unwatched
