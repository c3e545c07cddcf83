"""The executions of a journal that a caller may see."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from codemode.errors import ExecutionChanged, ExecutionNotFound, LeaseHeld
from codemode.executions.types.ids import may_be_execution
from codemode.executions.types.outcome import unasked
from codemode.executions.types.record import Record
from codemode.executions.types.records import OPEN

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from codemode.executions.journal.base import Journal
    from codemode.executions.life.approvals import Approvals
    from codemode.executions.types.records import StoredExecution
    from codemode.gateway.caller import Caller


class VisibleExecutions:
    """Reads stored executions. `opened` opens the journal on first use."""

    def __init__(self, journal: Journal, approvals: Approvals, opened: Callable[[], Awaitable[None]]) -> None:
        self._journal = journal
        self._approvals = approvals
        self.opened = opened

    async def record(self, stored: StoredExecution) -> Record:
        """Return the record of an execution. Raises JournalDamaged."""
        return Record(stored.request.id, await self._journal.read(stored.request.id)).complete(stored)

    async def own(self, execution: str, caller: Caller) -> StoredExecution:
        """Return an execution of the caller that is not running. Raises ExecutionNotFound, LeaseHeld."""
        stored = await self.stored(execution)
        if stored.request.owner != caller.id:
            raise ExecutionNotFound(execution)
        if stored.status in ("queued", "running"):
            message = f"{execution} is still running: wait for it, or cancel it"
            raise LeaseHeld(message, execution=execution)
        return stored

    async def seen(self, execution: str, caller: Caller) -> StoredExecution:
        """Return an execution of the caller, or any execution to an approver. Raises ExecutionNotFound."""
        stored = await self.stored(execution)
        if stored.request.owner != caller.id and not self._approvals.are_up_to(caller):
            raise ExecutionNotFound(execution)
        return stored

    async def stored(self, execution: str) -> StoredExecution:
        """Return an execution, whoever owns it. Raises ExecutionNotFound."""
        await self.opened()
        if not may_be_execution(execution):
            raise ExecutionNotFound(execution)
        stored = await self._journal.get(execution)
        return stored if stored.status in OPEN else replace(stored, outcome=unasked(stored.outcome))


def refuse_changed(execution: str, changes: tuple[str, ...]) -> None:
    """Raise ExecutionChanged if the environment of a recorded execution has changed."""
    if changes:
        message = f"{execution} cannot continue, and nothing was run: {'; '.join(changes)}"
        raise ExecutionChanged(message, execution=execution, changes=changes)
