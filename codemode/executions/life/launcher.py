"""Starts executions, and finishes work that outlives its caller."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from codemode.errors import CodeModeError, JournalUnavailable
from codemode.executions.life.attempts import Attempt, crash, keep, notify
from codemode.shared.callbacks import ignore

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine

    from codemode.executions.journal.base import Journal
    from codemode.executions.life.attempts import OutcomeRecorder
    from codemode.executions.life.programs import Programs
    from codemode.executions.run.replay.recording import ExecutionRecording
    from codemode.executions.types.ledger import LedgerEntry
    from codemode.executions.types.outcome import ExecutionOutcome
    from codemode.executions.types.records import Lease, NewExecution
    from codemode.gateway.caller import Caller


class Launcher:
    """Starts executions. `attempts` maps the ids of those that run here."""

    def __init__(
        self, journal: Journal, programs: Programs, ended: OutcomeRecorder, attempts: dict[str, Attempt]
    ) -> None:
        self._journal = journal
        self._programs = programs
        self._ended = ended
        self._attempts = attempts
        self.shielded: set[asyncio.Task[None]] = set()

    async def create(self, new: NewExecution) -> Lease:
        """Create an execution in the journal. If the caller cancels, recovery does not run the execution."""
        creating = asyncio.ensure_future(self._journal.create(new))
        try:
            return await asyncio.shield(creating)
        except JournalUnavailable:
            self._ended.withdraw(new.id)
            raise
        except asyncio.CancelledError:
            await self.shield(self._withdraw(creating))
            raise

    def begin(
        self,
        recording: ExecutionRecording,
        caller: Caller,
        *,
        begun: Callable[[], None] = ignore,
        watch: Callable[[LedgerEntry], None] = ignore,
    ) -> Attempt:
        """Start to run an execution whose lease this server holds."""
        listeners: set[asyncio.Event] = set()
        recording = replace(recording, appended=lambda: notify(listeners))
        work = self._attempt(recording, caller, begun=begun, watch=watch)
        attempt = Attempt(asyncio.create_task(work), recording.cancelled, listeners)
        self._attempts[recording.request.id] = attempt
        return attempt

    async def shield(self, work: Coroutine[None, None, None]) -> None:
        """Wait for work that continues to its end even if the caller cancels."""
        task = asyncio.create_task(work)
        keep(task, self.shielded)
        await asyncio.shield(task)

    async def _withdraw(self, creating: Awaitable[Lease]) -> None:
        with suppress(CodeModeError):  # not created, or the journal is unavailable
            lease = await creating
            await self._journal.finish(lease, "cancelled", {"id": lease.execution, "status": "cancelled"})

    async def _attempt(
        self,
        recording: ExecutionRecording,
        caller: Caller,
        *,
        begun: Callable[[], None],
        watch: Callable[[LedgerEntry], None],
    ) -> ExecutionOutcome:
        execution = recording.request.id
        try:
            outcome = await self._programs.perform(caller, recording, begun=begun, watch=watch)
            return await self._ended.record(recording.lease, outcome)
        except Exception:
            await crash(self._journal, recording.lease)
            raise
        finally:
            ended = self._attempts.pop(execution, None)
            if ended is not None:
                notify(ended.listeners)
