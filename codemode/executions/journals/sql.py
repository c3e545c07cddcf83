"""What the stores in SQL have in common: each method of a journal is one transaction."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from codemode.executions.journal import Pruned
from codemode.executions.journals import transactions
from codemode.executions.journals.seals import Seals

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from codemode.executions.journal import (
        Decision,
        ExecutionStatus,
        JournalEntry,
        Lease,
        NewExecution,
        PendingCall,
        Retention,
        StoredExecution,
    )
    from codemode.executions.journals.key import DigestKey
    from codemode.executions.journals.transactions import Result, Transaction


class SqlJournal(ABC):
    """`codemode.executions.journal.Journal` but for opening, closing and appending: these each does its way."""

    def __init__(self, key: DigestKey, server: str, lease_s: float, project: str) -> None:
        self.server = server
        self._key = key
        self._seals = Seals(key, project)
        self._lease_s = lease_s

    @abstractmethod
    async def _write(self, transaction: Transaction[Result]) -> Result:
        """Carry out a transaction. Raises JournalUnavailable, and what the transaction raises."""

    @abstractmethod
    async def _read(self, transaction: Transaction[Result]) -> Result:
        """Carry out a transaction that changes nothing, likewise."""

    def _is_dead(self, server: str) -> bool:
        """Whether a server is known to have ended, before its lease has run out."""
        return False

    def digest(self, value: Any) -> str:
        """See `Journal.digest`."""
        return self._key.digest(value)

    async def create(self, execution: NewExecution) -> Lease:
        """See `Journal.create`."""
        return await self._write(transactions.create(self._seals, execution, self.server, self._lease_s))

    async def get(self, execution: str) -> StoredExecution:
        """See `Journal.get`."""
        return await self._read(transactions.get(self._seals, execution))

    async def list(
        self, *, owner: str | None = None, status: ExecutionStatus | None = None, limit: int = 50, before: str = ""
    ) -> tuple[StoredExecution, ...]:
        """See `Journal.list`."""
        return await self._read(transactions.list_executions(self._seals, owner or "", status or "", limit, before))

    async def claim(self, execution: str) -> Lease:
        """See `Journal.claim`."""
        claim = transactions.claim(self._seals.project, execution, self.server, self._lease_s, self._is_dead)
        return await self._write(claim)

    async def orphans(self) -> tuple[str, ...]:
        """See `Journal.orphans`."""
        return await self._read(transactions.orphans(self._seals.project, self._is_dead))

    async def renew(self, executions: Collection[str]) -> frozenset[str]:
        """See `Journal.renew`."""
        return await self._write(transactions.renew(executions, self.server, self._lease_s))

    async def read(
        self, execution: str, *, after: int = 0, values: bool = True, most: int | None = None
    ) -> tuple[JournalEntry, ...]:
        """See `Journal.read`."""
        return await self._read(transactions.read(self._seals, execution, after, values=values, most=most))

    async def pause(self, lease: Lease, pending: Sequence[PendingCall], outcome: Any) -> None:
        """See `Journal.pause`."""
        await self._write(transactions.pause(self._seals, lease, pending, outcome))

    async def finish(self, lease: Lease, status: ExecutionStatus, outcome: Any) -> None:
        """See `Journal.finish`."""
        await self._write(transactions.finish(self._seals, lease, status, outcome))

    async def pending(self, *, execution: str = "", unanswered: bool = True) -> tuple[PendingCall, ...]:
        """See `Journal.pending`."""
        return await self._read(transactions.pending(self._seals, execution, unanswered=unanswered))

    async def decide(self, decisions: Sequence[Decision]) -> tuple[PendingCall, ...]:
        """See `Journal.decide`."""
        return await self._write(transactions.decide(self._seals, decisions))

    async def prune(self, retention: Retention) -> Pruned:
        """See `Journal.prune`."""
        expired: list[str] = []
        removed = 0
        while some := await self._write(transactions.expire(self._seals, retention)):
            expired.extend(some)
        while count := await self._write(transactions.remove(self._seals.project, retention)):
            removed += count
        return Pruned(tuple(expired), removed)
