"""Recovery of executions whose server has died: continue them, or pause them with a reason."""

from __future__ import annotations

import asyncio
import logging
import random
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Protocol

from codemode.errors import (
    CodeModeError,
    ExecutionEnded,
    ExecutionNotFound,
    JournalDamaged,
    JournalUnavailable,
    LeaseHeld,
)
from codemode.executions.life.attempts import crash_on_damage
from codemode.executions.run.replay.recording import GAP
from codemode.executions.types.outcome import unasked
from codemode.executions.types.record import BY_SERVER, HANDOVER
from codemode.executions.types.records import JournalEntry

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Collection
    from contextlib import AbstractAsyncContextManager

    from codemode.executions.journal.base import Journal
    from codemode.executions.life.programs import Programs
    from codemode.executions.types.outcome import ExecutionOutcome
    from codemode.executions.types.record import Record
    from codemode.executions.types.records import Lease, NewExecution, StoredExecution

log = logging.getLogger(__name__)

#: Servers that may die while running one execution. After that the execution is a suspect, and a person must resume it.
MOST_SERVERS = 3

#: Orphans that one server takes at a time, and its pause before it takes more, in seconds. The batch is drawn from
#: those that a few servers would take together, so that they seldom try the same ones.
BATCH = 4
_PAUSE_S = 0.05
_SERVERS = 8


class NoRoomYet(Exception):
    """The server is at capacity. The execution is recovered later, or by another server."""


class Turn(Protocol):
    """A slot among the programs that run at one time."""

    def keep(self, work: asyncio.Future[Any]) -> None:
        """Free the slot when this work is done."""
        ...

    def begun(self) -> None:
        """Mark the program as started."""
        ...


class _Unlimited:
    """A slot that is not counted."""

    def keep(self, work: asyncio.Future[Any]) -> None:
        """See `Turn`."""

    def begun(self) -> None:
        """See `Turn`."""


@asynccontextmanager
async def unlimited(_: str) -> AsyncIterator[Turn]:
    """Yield a slot without limits: the default outside a server."""
    yield _Unlimited()


class Recovery:
    """Recovers orphaned executions. `turn` yields a slot for an owner, or raises NoRoomYet."""

    def __init__(
        self,
        journal: Journal,
        programs: Programs,
        *,
        is_here: Callable[[str], bool],
        record: Callable[[StoredExecution], Awaitable[Record]],
        role_of: Callable[[NewExecution], str | None],
        resumed: Callable[[StoredExecution, Lease, Callable[[], None]], Awaitable[asyncio.Task[ExecutionOutcome]]],
    ) -> None:
        self.turn: Callable[[str], AbstractAsyncContextManager[Turn]] = unlimited
        #: Whether orphans are left for lack of capacity.
        self.is_full = False
        self._journal = journal
        self._programs = programs
        self._is_here = is_here
        self._record = record
        self._role_of = role_of
        self._resumed = resumed
        self._shared: frozenset[str] = frozenset()

    async def recover(self) -> tuple[str, ...]:
        """Continue or pause orphaned executions, as far as there is capacity. Return their ids.

        They are taken in small batches with pauses, so that several servers share them.
        """
        tried: set[str] = set()
        recovered: list[str] = []
        full: set[str] = set()
        while orphans := [one for one in await self._journal.orphans() if one not in tried and not self._is_here(one)]:
            if not tried:
                await self._share(orphans)
            batch = random.sample(orphans[: BATCH * _SERVERS], min(BATCH, len(orphans)))
            tried.update(batch)
            taken = await asyncio.gather(*(self._take(execution, full) for execution in batch))
            recovered += [execution for execution, is_taken in zip(batch, taken, strict=True) if is_taken]
            if len(orphans) > BATCH and any(taken):
                await asyncio.sleep(_PAUSE_S * random.uniform(0.5, 1.5))  # noqa: S311 -- spreads the servers
        self.is_full = bool(full)
        return tuple(recovered)

    async def _share(self, orphans: Collection[str]) -> None:
        """Tell the other servers of orphans, once, if there are more than one batch."""
        if len(set(orphans) - self._shared) > BATCH:
            await self._journal.signals.free()
        self._shared = frozenset(orphans)

    async def _take(self, execution: str, full: set[str]) -> bool:
        """Recover an execution, unless there is no capacity for its owner. Return whether it is recovered here."""
        orphan = await self._orphan(execution)
        owner = orphan.request.owner if orphan is not None else ""
        is_handed_over = orphan is not None and not orphan.server
        if owner in full:
            return False
        try:
            async with self.turn(owner) as turn:
                await self._recover(execution, turn, by=HANDOVER if is_handed_over else BY_SERVER)
        except NoRoomYet:
            full.add(owner)
            return False
        except (LeaseHeld, ExecutionEnded, ExecutionNotFound):
            return False  # another server was faster
        except Exception:
            log.exception("%s could not be recovered", execution)
            return False
        log.warning("%s is recovered: its server %s while it ran", execution, _end(is_handed_over=is_handed_over))
        return True

    async def _orphan(self, execution: str) -> StoredExecution | None:
        try:
            return await self._journal.get(execution)
        except (JournalDamaged, ExecutionNotFound):  # handled again once the lease is held
            return None

    async def _recover(self, execution: str, turn: Turn, *, by: str) -> None:
        lease = await self._journal.claim(execution, is_orphan=True)
        async with crash_on_damage(self._journal, lease):
            stored = await self._journal.get(execution)
            waits = await self._reasons(stored)
            has_gap = await self._has_gap(stored)
            if has_gap or not waits:
                gap = {"gap": True} if has_gap else {}
                await self._journal.append(lease, (JournalEntry("resumed", data={"by": by, **gap}),))
            if not waits:
                turn.keep(await self._resumed(stored, lease, turn.begun))
                return
        end = _end(is_handed_over=by == HANDOVER)
        note = f"its server {end} while it ran, and it cannot continue by itself: {'; '.join(waits)}"
        notes = [note, GAP] if has_gap else [note]
        known = unasked(stored.outcome) or {"id": execution}
        await self._journal.pause(lease, (), {**known, "status": "paused", "notes": notes, "pending": []})

    async def _has_gap(self, stored: StoredExecution) -> bool:
        """Return whether the store lost its last moments after the last entry it has. Raises JournalUnavailable."""
        try:
            record = await self._record(stored)
        except JournalDamaged:
            return False
        return max(record.last_us, stored.request.start_us) < await self._journal.last_loss_us()

    async def _reasons(self, stored: StoredExecution) -> tuple[str, ...]:
        """Return the reasons why an execution cannot continue by itself.

        Raises JournalUnavailable, also for the keys of callers: then it is recovered once its lease has run out.
        """
        reasons: tuple[str, ...]
        try:
            record = await self._record(stored)
            role = self._role_of(stored.request)
            reasons = await self._programs.changes(stored.request, record, role, self._journal.digest)
        except JournalUnavailable:
            raise
        except CodeModeError as error:
            reasons = (str(error),)
        else:
            if record.taken_up + 1 >= MOST_SERVERS:
                reasons = (*reasons, _suspect(stored.request.id))
        if stored.request.credentials:
            reasons = (*reasons, f"it needs its caller's credentials: {', '.join(stored.request.credentials)}")
        return reasons


def _end(*, is_handed_over: bool) -> str:
    return "was stopped" if is_handed_over else "gave no sign of life (it died, or did not reach the journal)"


def _suspect(execution: str) -> str:
    return (
        f"{MOST_SERVERS} servers were lost while it ran, and it may be the cause; read its program, then continue it "
        f"with `codemode executions resume {execution}` or end it with `codemode executions cancel {execution}`"
    )
