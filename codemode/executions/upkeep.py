"""Work on a journal in the background: leases, orphans, and old executions."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from codemode.executions.attempts import again_and_again, keep
from codemode.executions.journal.base import Retention

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from codemode.executions.attempts import Attempt
    from codemode.executions.journal.base import Journal
    from codemode.executions.replay.recovery import Recovery
    from codemode.settings import JournalSettings

#: Seconds between two removals of old executions.
_PRUNED_EVERY_S = 3600.0


class Upkeep:
    """Repeats its tasks until `aclose`. A task that fails is logged and repeated."""

    def __init__(self, journal: Journal, settings: JournalSettings, attempts: Mapping[str, Attempt]) -> None:
        self._journal = journal
        self._settings = settings
        self._attempts = attempts
        self._tasks: set[asyncio.Task[None]] = set()

    def renew(self, leases: Callable[[], Awaitable[None]]) -> None:
        """Renew the leases of the executions that run here."""
        self._repeat(leases, self._settings.lease_s / 3, "leases could not be renewed")

    def serve(self, recovery: Recovery, opened: Callable[[], Awaitable[None]]) -> None:
        """Recover orphans and remove old executions, each after `opened` has opened the journal."""

        async def recover() -> None:
            await opened()
            await self._recover(recovery)

        async def prune() -> None:
            await opened()
            kept = self._settings
            await self._journal.prune(Retention(kept.keep_s, kept.keep_count, kept.expire_s))

        self._repeat(recover, self._settings.lease_s, "the journal could not be looked after")
        self._repeat(prune, _PRUNED_EVERY_S, "what is old could not be removed from the journal")

    async def aclose(self) -> None:
        """Stop all tasks."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _repeat(self, work: Callable[[], Awaitable[None]], every_s: float, failed: str) -> None:
        keep(asyncio.create_task(again_and_again(work, every_s, failed)), self._tasks)

    async def _recover(self, recovery: Recovery) -> None:
        await recovery.recover()
        while recovery.is_full and self._attempts:
            running = [attempt.task for attempt in self._attempts.values()]
            await asyncio.wait(running, timeout=self._settings.lease_s, return_when=asyncio.FIRST_COMPLETED)
            await recovery.recover()
