"""The common part of the SQL stores: each journal method is one transaction."""

from __future__ import annotations

import asyncio
import time
from abc import ABC, abstractmethod
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from codemode.errors import JournalUnavailable
from codemode.executions.journal.seals import Seals
from codemode.executions.journal.signals import Signals
from codemode.executions.journal.sql import contents, plans, request_keys, rows, space, state, transactions
from codemode.executions.journal.sql.decisions import decide
from codemode.executions.journal.sql.decisions import pending as pending_calls
from codemode.executions.journal.sql.decisions import waiting as waiting_calls
from codemode.executions.journal.sql.outbox import Outbox
from codemode.executions.journal.sql.space import Bounds
from codemode.executions.journal.sql.tables import Tables
from codemode.executions.types.records import KINDS, PAGE, PruneResult
from codemode.text.times import SECOND_US

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from codemode.executions.journal.key import DigestKey
    from codemode.executions.journal.sql.statements import Result, Transaction
    from codemode.executions.types.records import (
        Decision,
        ExecutionStatus,
        JournalEntry,
        Lease,
        NewExecution,
        PendingCall,
        QuestionKind,
        Retention,
        StoredExecution,
    )
    from codemode.transports.allowances import Slots


#: Seconds that a paused execution waits, and that a decision is good for.
EXPIRE_S = 7 * 24 * 3600.0

#: Pause after a pruning step, as a multiple of the step's duration.
_PAUSE = 4.0

#: Pause between steps that return free space, in seconds.
_PAUSE_S = 0.02


class SqlJournal(ABC):
    """A `codemode.executions.journal.base.Journal` without open, close and append, which each store implements."""

    def __init__(
        self,
        key: DigestKey,
        server: str,
        lease_s: float,
        project: str,
        bounds: Bounds | None,
        expire_s: float = EXPIRE_S,
    ) -> None:
        self.server = server
        self._key = key
        self._seals = Seals(key, project)
        self._lease_s = lease_s
        self._bounds = bounds or Bounds()
        self._expire_us = int(expire_s * SECOND_US)
        self.outbox = Outbox(self._write, self._read, self._seals)
        self.signals = Signals()
        self.slots: Slots | None = None
        self.tables = Tables(self._read, self._write, self._write_briefly, self._seals, self._expire_us, self.digest)

    @abstractmethod
    async def _write(self, transaction: Transaction[Result]) -> Result:
        """Execute a transaction. Raises JournalUnavailable, and what the transaction raises."""

    async def _write_briefly(self, begin: Callable[[], Transaction[Result]]) -> Result:
        """Execute a transaction that takes less time than a handover to a thread, likewise."""
        return await self._write(begin())

    @abstractmethod
    async def _read(self, transaction: Transaction[Result]) -> Result:
        """Execute a read-only transaction, likewise."""

    def _is_dead(self, server: str) -> bool:
        """Return whether a server is known to have ended before its lease has run out."""
        return False

    async def last_loss_us(self) -> int:
        """See `Journal`. What this machine's files lost is not known."""
        return 0

    def digest(self, value: Any) -> str:
        """See `Journal.digest`."""
        return self._key.digest(value)

    async def create(self, execution: NewExecution) -> Lease:
        """See `Journal.create`."""
        own = (self.server, self._lease_s, self._bounds, self._expire_us)
        return await self._write_briefly(partial(transactions.create, self._seals, execution, *own))

    async def get(self, execution: str) -> StoredExecution:
        """See `Journal.get`."""
        return await self._read(transactions.get(self._seals, execution, self._expire_us))

    async def list(
        self, *, owner: str | None = None, status: ExecutionStatus | None = None, limit: int = 50, before: str = ""
    ) -> tuple[StoredExecution, ...]:
        """See `Journal.list`."""
        wanted = (owner or "", status or "", limit, before)
        return await self._read(transactions.list_executions(self._seals, self._expire_us, *wanted))

    async def heads(self, executions: Collection[str]) -> dict[str, StoredExecution]:
        """See `Journal.heads`."""
        return await self._read(transactions.heads(self._seals, executions, self._expire_us))

    async def claim(self, execution: str, *, by_force: bool = False, is_orphan: bool = False) -> Lease:
        """See `Journal.claim`."""
        is_free: Callable[[str], bool] = (lambda _: True) if by_force else self._is_dead
        own = (self.server, self._lease_s, is_free)
        claimed = transactions.claim(
            self._seals.project, execution, *own, expire_us=self._expire_us, is_orphan=is_orphan
        )
        return await self._write(claimed)

    async def orphans(self) -> tuple[str, ...]:
        """See `Journal.orphans`."""
        return await self._read(transactions.orphans(self._seals.project, self._is_dead))

    async def renew(self, executions: Collection[str]) -> frozenset[str]:
        """See `Journal.renew`."""
        return await self._write(transactions.renew(executions, self.server, self._lease_s))

    async def release(self, executions: Collection[str]) -> None:
        """See `Journal.release`."""
        await self._write(transactions.release(executions, self.server))

    async def read(
        self, execution: str, *, after: int = 0, values: bool = True, most: int | None = None
    ) -> tuple[JournalEntry, ...]:
        """See `Journal.read`."""
        return await self._read(transactions.read(self._seals, execution, after, values=values, most=most))

    async def pause(self, lease: Lease, pending: Sequence[PendingCall], outcome: Any) -> None:
        """See `Journal.pause`."""
        begin = partial(transactions.pause, self._seals, lease, pending, outcome, self._bounds)
        await self._end(lease, begin, is_brief=rows.is_brief(outcome))

    async def finish(self, lease: Lease, status: ExecutionStatus, outcome: Any) -> None:
        """See `Journal.finish`."""
        begin = partial(transactions.finish, self._seals, lease, status, outcome, self._bounds)
        await self._end(lease, begin, is_brief=rows.is_brief(outcome))

    async def _end(self, lease: Lease, begin: Callable[[], Transaction[bool]], *, is_brief: bool) -> None:
        """Record a pause or an end, then remove ended executions if a bound is exceeded."""
        is_full = await (self._write_briefly(begin) if is_brief else self._write(begin()))
        self._seals.lasts.pop(lease, None)
        self.outbox.wake()
        if is_full:
            with suppress(JournalUnavailable):  # the next end removes them
                await self._write(space.make_room(self._seals.project, lease.execution, self._bounds))

    async def pending(
        self, *, execution: str = "", unanswered: bool = True, question: str = ""
    ) -> tuple[PendingCall, ...]:
        """See `Journal.pending`."""
        wanted = (self._expire_us, execution, question)
        return await self._read(pending_calls(self._seals, *wanted, unanswered=unanswered))

    async def waiting(
        self,
        *,
        owner: str = "",
        execution: str = "",
        after: str = "",
        limit: int = PAGE,
        kinds: Sequence[QuestionKind] = KINDS,
    ) -> tuple[PendingCall, ...]:
        """See `Journal.waiting`."""
        return await self._read(waiting_calls(self._seals, self._expire_us, owner, execution, after, limit, kinds))

    async def decide(self, decisions: Sequence[Decision]) -> tuple[PendingCall, ...]:
        """See `Journal.decide`."""
        return await self._write(decide(self._seals, self._expire_us, decisions))

    async def prune(self, retention: Retention) -> PruneResult:
        """See `Journal.prune`."""
        await self._paced(plans.remove_old(self._seals.project, retention.age_s))
        await self._paced(request_keys.remove_old(self._seals.project))
        expired: list[str] = []
        removed = 0
        while some := await self._paced(transactions.expire(self._seals, self._expire_us)):
            expired.extend(some)
        while count := await self._prune_once(retention):
            removed += count
        while await self._paced(contents.remove_expired(self._seals.project)):
            pass
        while await self._paced(state.remove_expired(self._seals.project)):
            pass
        is_more = True
        while is_more:
            is_more = await self._give_back_space()
            await asyncio.sleep(_PAUSE_S)
        return PruneResult(tuple(expired), removed)

    async def damages(self) -> tuple[str, ...]:
        """See `StoredJournal.damages`. Database servers have their own tools."""
        return ()

    async def _prune_once(self, retention: Retention) -> int:
        """Remove what is beyond retention now. Return the number removed."""
        project = self._seals.project
        ends = await self._read(space.watermarks(project, retention, self._bounds))
        removed = 0
        for owner, until in ends.items():
            while count := await self._paced(space.remove(project, until, owner)):
                removed += count
        return removed

    async def _paced(self, transaction: Transaction[Result]) -> Result:
        """Execute one of many transactions, then leave the store to others for longer than it took."""
        begun = time.monotonic()
        result = await self._write(transaction)
        await asyncio.sleep(_PAUSE * (time.monotonic() - begun))
        return result

    async def _give_back_space(self) -> bool:
        """Return some free space to the file system if the store does not do so itself. Return whether more is left."""
        return False
