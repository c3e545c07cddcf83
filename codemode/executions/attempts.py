"""Attempts at executions: what runs here, and who looks on."""

from __future__ import annotations

import asyncio
import logging
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from codemode.errors import CodeModeError, JournalDamaged, JournalUnavailable, LeaseLost
from codemode.executions.journal.base import Lease

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
    from typing import Any

    from codemode.executions.execution import ExecutionOutcome
    from codemode.executions.journal.base import Journal

log = logging.getLogger(__name__)

#: How long what was given up may take to end: a call may not let itself be cancelled.
_ENDING_S = 5.0

#: Ends of what was never run that are remembered while the journal is away; they are recorded within one lease.
_MOST_LATE = 1000

_LATE = "its end is not in the record yet, which cannot be written now; it will be, and nothing more is done until then"


@dataclass(slots=True)
class Attempt:
    """One execution that runs here. Setting `cancelled` ends it; `listeners` are set when something happens."""

    task: asyncio.Task[ExecutionOutcome]
    cancelled: asyncio.Event
    listeners: set[asyncio.Event]

    def __post_init__(self) -> None:
        """Nobody may be waiting: an error of the host is logged, not lost."""
        self.task.add_done_callback(_looked_at)


def notify(listeners: Collection[asyncio.Event]) -> None:
    """Wake all listeners."""
    for listener in listeners:
        listener.set()


def keep(task: asyncio.Task[None], kept: set[asyncio.Task[None]]) -> None:
    """Hold a task until it has ended."""
    kept.add(task)
    task.add_done_callback(kept.discard)


async def to_their_end(given_up: Collection[asyncio.Task[Any]]) -> None:
    """Wait for what was given up, for five seconds (`_ENDING_S`) at most."""
    if given_up:
        await asyncio.wait(given_up, timeout=_ENDING_S)


class Endings:
    """How attempts ended. Where the journal cannot be written now, that is recorded later, by who made the attempt.

    Nobody here takes up what has ended so: its caller was told.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._late: dict[str, Callable[[], Awaitable[None]]] = {}

    def __contains__(self, execution: str) -> bool:
        return execution in self._late

    def are_late(self) -> bool:
        """Whether one could not be recorded yet."""
        return bool(self._late)

    async def record(self, lease: Lease, outcome: ExecutionOutcome) -> ExecutionOutcome:
        """Record one; returns it, with a note where that has to wait."""
        try:
            await self._put_down(lease, outcome)
        except JournalUnavailable as error:
            log.error("the end of %s is not recorded yet: %s", lease.execution, error)
            self._late[lease.execution] = partial(self._put_down, lease, outcome)
            return replace(outcome, notes=(*outcome.notes, _LATE))
        return outcome

    def withdraw(self, execution: str) -> None:
        """Let one end that is not run, and may have been created: where only the answer of the journal was lost."""
        if len(self._late) < _MOST_LATE:
            self._late[execution] = partial(self._withdraw, Lease(execution, self._journal.server, generation=1))

    async def record_late(self) -> None:
        """Record what could not be before. Raises JournalUnavailable."""
        for execution, record in list(self._late.items()):
            await record()
            self._late.pop(execution, None)

    async def _put_down(self, lease: Lease, outcome: ExecutionOutcome) -> None:
        try:
            if outcome.status == "paused":
                await self._journal.pause(lease, outcome.pending, outcome.to_json())
            else:
                await self._journal.finish(lease, outcome.status, outcome.to_json())
        except LeaseLost:
            log.warning("another server has taken over %s", lease.execution)

    async def _withdraw(self, lease: Lease) -> None:
        with suppress(LeaseLost):  # it was not created
            await self._journal.finish(lease, "cancelled", {"id": lease.execution, "status": "cancelled"})


async def crash(journal: Journal, lease: Lease) -> None:
    """Record that an attempt ended by an error of the host."""
    try:
        await journal.finish(lease, "crashed", None)
    except CodeModeError:
        log.exception("the end of %s could not be recorded", lease.execution)


@asynccontextmanager
async def never_damaged(journal: Journal, lease: Lease) -> AsyncIterator[None]:
    """What is found damaged while it is taken up ends as crashed: nobody could ever take it up."""
    try:
        yield
    except JournalDamaged:
        await crash(journal, lease)
        raise


async def again_and_again(chore: Callable[[], Awaitable[None]], every_s: float, failed: str) -> None:
    """Do a chore for ever: whatever goes wrong with it is logged, and no reason to give it up."""
    while True:
        try:
            await chore()
        except Exception:
            log.exception(failed)
        await asyncio.sleep(every_s)


async def keep_leases(journal: Journal, attempts: Mapping[str, Attempt], endings: Endings) -> None:
    """Keep the leases of what runs here; what another server has taken over stops. Record what has ended meanwhile."""
    running = dict(attempts)
    held = await journal.renew(attempts) if running else frozenset()
    for execution in running.keys() - held:
        if not running[execution].task.done():
            log.warning("%s was taken over by another server, and stops here", execution)
            running[execution].task.cancel()
    await endings.record_late()


def is_cancelled() -> bool:
    """Whether it is the current task itself that somebody cancels."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _looked_at(task: asyncio.Task[ExecutionOutcome]) -> None:
    if not task.cancelled() and task.exception() is not None:
        log.error("an execution could not run", exc_info=task.exception())
