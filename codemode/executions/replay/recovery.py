"""Executions whose server has ended while they ran: which of them go on by themselves, when, and why others wait."""

from __future__ import annotations

import logging
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Protocol

from codemode.errors import CodeModeError, ExecutionEnded, ExecutionNotFound, JournalDamaged, LeaseHeld
from codemode.executions.attempts import never_damaged
from codemode.executions.execution import unasked
from codemode.executions.journal.base import JournalEntry

if TYPE_CHECKING:
    import asyncio
    from collections.abc import AsyncIterator, Awaitable, Callable
    from contextlib import AbstractAsyncContextManager

    from codemode.executions.execution import ExecutionOutcome
    from codemode.executions.journal.base import Journal, Lease, NewExecution, StoredExecution
    from codemode.executions.programs import Programs
    from codemode.executions.replay.record import Record

log = logging.getLogger(__name__)

#: Servers that may end while an execution runs; it may be the one that ends them, so then a person lets it go on.
MOST_SERVERS = 3


class NoRoomYet(Exception):
    """The server has as much to do as it can take on: the execution is taken up later, or by another server."""


class Turn(Protocol):
    """A place among the programs that run at one time."""

    def keep(self, work: asyncio.Future[Any]) -> None:
        """Give the place back when this work is done."""
        ...

    def begun(self) -> None:
        """The program has left its beginning behind."""
        ...


class _Unlimited:
    """A place where nobody counts."""

    def keep(self, work: asyncio.Future[Any]) -> None:
        """See `Turn`."""

    def begun(self) -> None:
        """See `Turn`."""


@asynccontextmanager
async def unlimited(_: str) -> AsyncIterator[Turn]:
    """Where no server says how much may run."""
    yield _Unlimited()


class Recovery:
    """Takes up what dead servers have left. `turn` gives a place for an execution of an owner, or raises NoRoomYet."""

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
        #: Whether something is left for which there was no room.
        self.is_full = False
        self._journal = journal
        self._programs = programs
        self._is_here = is_here
        self._record = record
        self._role_of = role_of
        self._resumed = resumed

    async def recover(self) -> tuple[str, ...]:
        """Take up, or pause, the executions whose server has died, as far as there is room; returns their ids."""
        found = []
        full: set[str] = set()
        for execution in await self._journal.orphans():
            if self._is_here(execution):
                continue  # this server was held up for longer than its lease, and runs it still or has ended it
            owner = await self._owner(execution)
            if owner in full:
                continue
            try:
                async with self.turn(owner) as turn:
                    await self._recover(execution, turn)
            except NoRoomYet:
                full.add(owner)
                continue
            except (LeaseHeld, ExecutionEnded, ExecutionNotFound):
                continue  # another server was faster
            except Exception:
                log.exception("%s cannot be taken up", execution)
                continue
            log.warning("%s was left by a server that ended while it ran, and is taken up", execution)
            found.append(execution)
        self.is_full = bool(full)
        return tuple(found)

    async def _owner(self, execution: str) -> str:
        try:
            return (await self._journal.get(execution)).given.owner
        except (JournalDamaged, ExecutionNotFound):  # what that means is found again, under its lease
            return ""

    async def _recover(self, execution: str, turn: Turn) -> None:
        lease = await self._journal.claim(execution)
        async with never_damaged(self._journal, lease):
            stored = await self._journal.get(execution)
            waits = await self._reasons(stored)
            if not waits:
                await self._journal.append(lease, (JournalEntry("resumed", data={"by": "server"}),))
                turn.keep(await self._resumed(stored, lease, turn.begun))
                return
        note = f"its server ended while it ran, and it cannot go on by itself: {'; '.join(waits)}"
        known = unasked(stored.outcome) or {"id": execution}
        await self._journal.pause(lease, (), {**known, "status": "paused", "notes": [note], "pending": []})

    async def _reasons(self, stored: StoredExecution) -> tuple[str, ...]:
        """Why it cannot go on by itself."""
        reasons: tuple[str, ...]
        try:
            record = await self._record(stored)
            role = self._role_of(stored.given)
            reasons = await self._programs.changes(stored.given, record, role, self._journal.digest)
        except CodeModeError as error:
            reasons = (str(error),)
        else:
            if record.taken_up + 1 >= MOST_SERVERS:
                reasons = (*reasons, _suspect(stored.given.id))
        if stored.given.credentials:
            reasons = (*reasons, f"the credentials of its caller: {', '.join(stored.given.credentials)}")
        return reasons


def _suspect(execution: str) -> str:
    return (
        f"{MOST_SERVERS} servers have ended while it ran, and it may be what ended them; look at its program, then let "
        f"it go on by `codemode executions resume {execution}`, or end it by `codemode executions cancel {execution}`"
    )
