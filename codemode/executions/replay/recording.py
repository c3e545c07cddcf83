"""Where an execution is recorded, and what its record has already."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from codemode.executions.journal.base import Journal, Lease, NewExecution, PendingCall
    from codemode.executions.replay.record import Record
    from codemode.executions.replay.reuse import Reuse


@dataclass(frozen=True, slots=True)
class ExecutionRecording:
    """Where an execution is recorded, and what its record has already.

    `answered` are the questions that people have answered, by their ids. `reuse` has the calls of an earlier execution.
    `appended` is called after each write. Setting `cancelled` ends the execution.
    """

    journal: Journal
    lease: Lease
    given: NewExecution
    record: Record
    answered: Mapping[str, PendingCall] = field(default_factory=dict)
    reuse: Reuse | None = None
    is_resumed: bool = False
    appended: Callable[[], None] = lambda: None
    cancelled: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def elapsed_s(self) -> float:
        """How long the program has run before, by its own clock."""
        last = self.record.deliveries[-1].now if self.record.deliveries else self.given.start_us
        return (last - self.given.start_us) / 1e6
