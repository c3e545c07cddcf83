"""What a journal knows of calls like one that waits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codemode.executions.journal.sql import decisions, twins

if TYPE_CHECKING:
    from codemode.executions.journal.base import Journal
    from codemode.executions.types.records import PendingCall


class LikeCalls:
    """Reads calls like another one. All methods raise JournalUnavailable."""

    def __init__(self, journal: Journal) -> None:
        self._tables = journal.tables

    async def approved(self, *, owner: str = "", most: int = 100) -> tuple[PendingCall, ...]:
        """Return the calls that were approved last, newest first. `owner` limits them to one owner's executions."""
        return await self._tables.read(decisions.approved(self._tables.seals, self._tables.expire_us, owner, most))

    async def twins(self, call: PendingCall) -> tuple[str, ...]:
        """Return the ids of the same call, of the same owner, that wait in other executions, oldest first."""
        return await self._tables.read(twins.twins(self._tables.seals.project, call, self._tables.expire_us))
