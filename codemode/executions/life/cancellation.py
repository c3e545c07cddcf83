"""Cancelling executions that run here, on another server, or nowhere."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from codemode.errors import JournalDamaged
from codemode.executions.life.feed import GOES_ON
from codemode.executions.run.ends import recorded_calls
from codemode.executions.types.outcome import ExecutionOutcome
from codemode.executions.types.records import OPEN

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codemode.executions.journal.base import Journal
    from codemode.executions.life.attempts import Attempt
    from codemode.executions.life.launcher import Launcher
    from codemode.executions.life.visible import VisibleExecutions
    from codemode.executions.life.watching import Watching
    from codemode.executions.types.records import StoredExecution
    from codemode.gateway.caller import Caller

#: Time limit for the server of an execution to cancel it, in seconds. After that, its lease is taken from it.
_ANSWER_S = 3.0


class Cancellation:
    """Cancels executions. `attempts` maps the ids of those that run here."""

    def __init__(
        self,
        journal: Journal,
        attempts: Mapping[str, Attempt],
        launcher: Launcher,
        visible: VisibleExecutions,
        watching: Watching,
    ) -> None:
        self._journal = journal
        self._attempts = attempts
        self._launcher = launcher
        self._visible = visible
        self._watching = watching
        journal.signals.cancel_requested = self._requested

    async def cancel(self, execution: str, caller: Caller) -> StoredExecution:
        """See `Executions.cancel`."""
        stored = await self._visible.seen(execution, caller)
        attempt = self._attempts.get(execution)
        if attempt is not None:
            attempt.cancelled.set()
            await asyncio.wait((attempt.task,))
            stored = await self._visible.stored(execution)
            is_late = stored.server == self._journal.server  # its end will be recorded
            if is_late or stored.status not in OPEN:
                return stored
        # it may have paused before it noticed, or another server may have taken it over
        if not await self._is_cancelled_elsewhere(stored, caller):
            await self._launcher.shield(self._end(stored))
        return await self._visible.stored(execution)

    async def _is_cancelled_elsewhere(self, stored: StoredExecution, caller: Caller) -> bool:
        """Return whether the server that runs an execution has cancelled it."""
        execution = stored.request.id
        if not stored.server or not await self._journal.signals.request_cancel(execution):
            return False
        return (await self._watching.wait(execution, caller, _ANSWER_S)).status == "cancelled"

    def _requested(self, execution: str) -> None:
        """Cancel an execution for another server, if it runs here."""
        attempt = self._attempts.get(execution)
        if attempt is not None:
            attempt.cancelled.set()

    async def _end(self, stored: StoredExecution) -> None:
        """Take the lease of an execution and record its end. Its server can then record and send nothing more.

        Raises ExecutionEnded.
        """
        lease = await self._journal.claim(stored.request.id, by_force=True)
        outcome = stored.outcome or {"id": stored.request.id}
        if stored.status in GOES_ON:
            outcome = {**outcome, **await self._of_record(stored)}
        await self._journal.finish(lease, "cancelled", {**outcome, "status": "cancelled"})

    async def _of_record(self, stored: StoredExecution) -> dict[str, Any]:
        """Return the outcome of an execution whose server has not recorded one: its calls are those of the record."""
        try:
            record = await self._visible.record(stored)
        except JournalDamaged:
            return {}
        return ExecutionOutcome.cancelled(stored.request.id, recorded_calls(record)).to_json()
