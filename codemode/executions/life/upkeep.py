"""Background work on a journal: lease renewal, recovery of orphans, and pruning."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from codemode.executions.life.attempts import cancel, keep, run_periodically
from codemode.executions.types.records import Retention

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from codemode.executions.journal.base import Journal
    from codemode.executions.life.attempts import Attempt
    from codemode.executions.life.recovery import Recovery
    from codemode.settings import JournalSettings

#: Largest time between two searches for orphans, in seconds. Those of a server that was killed on the same machine are
#: free at once; those of a server that was stopped are, too, and PostgreSQL signals them.
_ORPHANS_EVERY_S = 1.0

#: Seconds between two prunings.
_PRUNED_EVERY_S = 3600.0


class Upkeep:
    """Repeats its tasks until `aclose`. A failed task is logged and repeated."""

    def __init__(
        self,
        journal: Journal,
        settings: JournalSettings,
        attempts: Mapping[str, Attempt],
    ) -> None:
        self._journal = journal
        self._settings = settings
        self._attempts = attempts
        self._tasks: set[asyncio.Task[None]] = set()

    def renew(self, leases: Callable[[], Awaitable[None]]) -> None:
        """Renew the leases of executions that run here."""
        self._repeat(leases, self._settings.lease_s / 3, "leases could not be renewed")

    def serve(self, recovery: Recovery, opened: Callable[[], Awaitable[None]]) -> None:
        """Recover orphans and prune old executions. `opened` opens the journal first."""

        async def recover() -> None:
            await opened()
            await self._recover(recovery)

        async def prune() -> None:
            await opened()
            settings = self._settings
            await self._journal.prune(Retention(settings.keep_s, settings.keep_count))

        self._repeat(
            recover,
            min(self._settings.lease_s, _ORPHANS_EVERY_S),
            "orphaned executions could not be recovered",
            self._journal.signals.freed,
        )
        self._repeat(prune, _PRUNED_EVERY_S, "old executions could not be pruned from the journal")

    async def aclose(self) -> None:
        """Stop all tasks."""
        await cancel(self._tasks)

    def _repeat(
        self,
        work: Callable[[], Awaitable[None]],
        every_s: float,
        failure_message: str,
        sooner: asyncio.Event | None = None,
    ) -> None:
        keep(asyncio.create_task(run_periodically(work, every_s, failure_message, sooner)), self._tasks)

    async def _recover(self, recovery: Recovery) -> None:
        await recovery.recover()
        while recovery.is_full and self._attempts:
            running = [attempt.task for attempt in self._attempts.values()]
            await asyncio.wait(running, timeout=self._settings.lease_s, return_when=asyncio.FIRST_COMPLETED)
            await recovery.recover()
