"""Attempts at executions: what runs here, and who looks on."""

from __future__ import annotations

import asyncio
import logging
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codemode.errors import CodeModeError, JournalDamaged, LeaseLost

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
    from typing import Any

    from codemode.executions.execution import ExecutionOutcome
    from codemode.executions.journal import Journal, Lease

log = logging.getLogger(__name__)

#: How long what was given up may take to end: a call may not let itself be cancelled.
_ENDING_S = 5.0


@dataclass(slots=True)
class Attempt:
    """One execution that runs here. `cancelled` ends it; the `bells` are of who looks on."""

    task: asyncio.Task[ExecutionOutcome]
    cancelled: asyncio.Event
    bells: set[asyncio.Event]

    def __post_init__(self) -> None:
        """Nobody may be waiting: an error of the host is logged, not lost."""
        self.task.add_done_callback(_looked_at)


def ring(bells: Collection[asyncio.Event]) -> None:
    """Tell who looks on that something has happened."""
    for bell in bells:
        bell.set()


def keep(task: asyncio.Task[None], kept: set[asyncio.Task[None]]) -> None:
    """Hold a task until it has ended."""
    kept.add(task)
    task.add_done_callback(kept.discard)


async def to_their_end(given_up: Collection[asyncio.Task[Any]]) -> None:
    """Wait for what was given up, for five seconds (`_ENDING_S`) at most."""
    if given_up:
        await asyncio.wait(given_up, timeout=_ENDING_S)


async def put_down(journal: Journal, lease: Lease, outcome: ExecutionOutcome) -> None:
    """Record how an attempt ended."""
    try:
        if outcome.status == "paused":
            await journal.pause(lease, outcome.pending, outcome.to_json())
        else:
            await journal.finish(lease, outcome.status, outcome.to_json())
    except LeaseLost:
        log.warning("another server has taken over %s", lease.execution)


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


async def keep_leases(journal: Journal, attempts: Mapping[str, Attempt]) -> None:
    """Keep the leases of what runs here; what another server has taken over stops."""
    running = dict(attempts)
    held = await journal.renew(attempts) if running else frozenset()
    for execution in running.keys() - held:
        if not running[execution].task.done():
            log.warning("%s was taken over by another server, and stops here", execution)
            running[execution].task.cancel()


def is_cancelled() -> bool:
    """Whether it is the current task itself that somebody cancels."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _looked_at(task: asyncio.Task[ExecutionOutcome]) -> None:
    if not task.cancelled() and task.exception() is not None:
        log.error("an execution could not run", exc_info=task.exception())
