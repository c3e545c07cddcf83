"""An execution: one program, run once against one catalog, and the record of it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from codemode.executions.journal import ExecutionStatus, PendingCall
    from codemode.executions.ledger import LedgerEntry
    from sandbox import Failure, Usage


@dataclass(frozen=True, slots=True)
class ExecutionOutcome:
    """How an execution ended; the fields are those of `sandbox.Outcome`, with the ledger of calls beside them.

    A `paused` one has not ended: `pending` are the calls that people have to decide on, by id, and the reason.
    """

    id: str
    status: ExecutionStatus
    value: Any
    has_value: bool
    output: str
    output_truncated: bool
    failure: Failure | None
    calls: tuple[LedgerEntry, ...]
    usage: Usage
    isolation: tuple[str, ...]
    limit: str | None
    notes: tuple[str, ...]
    pending: tuple[PendingCall, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the program ran to its end."""
        return self.status == "completed"

    def to_json(self) -> dict[str, Any]:
        """The outcome as JSON data, as every face gives it."""
        return {**asdict(self), "status": str(self.status)}
