"""The recording of an execution: its journal, its lease and its record so far."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from codemode.executions.journal.base import Journal
    from codemode.executions.run.replay.reuse import Reuse
    from codemode.executions.types.record import Record
    from codemode.executions.types.records import Lease, NewExecution, PendingCall


#: What a person must know who decides on an execution during which the store crashed.
GAP = (
    "the journal's database crashed while this execution ran: its record may lack writes with an idempotency key that"
    " left in the moments before; check the services before you decide"
)


@dataclass(frozen=True, slots=True)
class ExecutionRecording:
    """The journal, lease and record of an execution.

    `answered` maps the ids of decided calls. `reuse` holds the calls of an earlier execution. `appended` is called
    after each write. Set `cancelled` to end the execution.
    """

    journal: Journal
    lease: Lease
    request: NewExecution
    record: Record
    answered: Mapping[str, PendingCall] = field(default_factory=dict)
    reuse: Reuse | None = None
    is_resumed: bool = False
    appended: Callable[[], None] = lambda: None
    cancelled: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def elapsed_s(self) -> float:
        """How long the program ran before, by its own clock."""
        last = self.record.deliveries[-1].now if self.record.deliveries else self.request.start_us
        return (last - self.request.start_us) / 1e6

    @property
    def gap(self) -> str:
        """What the record may lack, "" for nothing."""
        return GAP if self.record.has_gap else ""
