"""Attempts: executions that run in this process, with their leases and their ends."""

from __future__ import annotations

import asyncio
import logging
import random
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from codemode.errors import CodeModeError, JournalDamaged, JournalUnavailable, LeaseLost
from codemode.executions.types.outcome import ExecutionOutcome
from codemode.executions.types.records import Lease

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
    from typing import Any

    from codemode.executions.journal.base import Journal

log = logging.getLogger(__name__)

#: Time limit for stopping cancelled tasks. A call may suppress its cancellation.
_ENDING_S = 5.0

#: Seconds that a server which stops waits for an unavailable journal, and for everything that it stops.
_HANDOVER_S = 3.0
STOPPING_S = _ENDING_S + _HANDOVER_S

#: Largest number of unrecorded withdrawals kept during a journal outage. Each is recorded within one lease period.
_MOST_LATE = 1000

_LATE = (
    "the journal is unavailable: the end of this execution will be recorded once it is back; "
    "nothing more is sent until then"
)


@dataclass(slots=True)
class Attempt:
    """An execution that runs in this process.

    Set `cancelled` to end it. `listeners` are set on each event.
    """

    task: asyncio.Task[ExecutionOutcome]
    cancelled: asyncio.Event
    listeners: set[asyncio.Event]

    def __post_init__(self) -> None:
        """Log an unexpected exception, because nobody may be awaiting the task."""
        self.task.add_done_callback(_log_exception)


def notify(listeners: Collection[asyncio.Event]) -> None:
    """Wake all listeners."""
    for listener in listeners:
        listener.set()


def keep(task: asyncio.Task[None], tasks: set[asyncio.Task[None]]) -> None:
    """Keep a reference to a task until it has ended."""
    tasks.add(task)
    task.add_done_callback(tasks.discard)


async def to_their_end(given_up: Collection[asyncio.Task[Any]]) -> None:
    """Wait for cancelled tasks, at most five seconds (`_ENDING_S`)."""
    if given_up:
        await asyncio.wait(given_up, timeout=_ENDING_S)


async def cancel(tasks: Collection[asyncio.Task[Any]]) -> None:
    """Cancel tasks, and wait until they have ended."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


class OutcomeRecorder:
    """Records how attempts ended. During a journal outage, it keeps the ends and records them later.

    Recovery skips such executions: their callers already have the outcome.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._late: dict[str, Callable[[], Awaitable[None]]] = {}

    def __contains__(self, execution: str) -> bool:
        return execution in self._late

    def are_late(self) -> bool:
        """Return whether an end is still unrecorded."""
        return bool(self._late)

    async def record(self, lease: Lease, outcome: ExecutionOutcome) -> ExecutionOutcome:
        """Record an outcome and return it. If the journal is unavailable, add a note and record the outcome later.

        If another server has cancelled the execution, return the outcome that it recorded.
        """
        try:
            await self._write(lease, outcome)
        except LeaseLost:
            return await self._cancelled(lease.execution) or outcome
        except JournalUnavailable as error:
            log.error("the end of %s will be recorded later: %s", lease.execution, error)
            self._late[lease.execution] = partial(self._write_late, lease, outcome)
            return replace(outcome, notes=(*outcome.notes, _LATE))
        return outcome

    def withdraw(self, execution: str) -> None:
        """End an execution that will not run, but may exist: the journal's reply to `create` was lost."""
        if len(self._late) < _MOST_LATE:
            self._late[execution] = partial(self._withdraw, Lease(execution, self._journal.server, generation=1))

    async def record_late(self) -> None:
        """Record the outstanding ends. Raises JournalUnavailable."""
        for execution, record in list(self._late.items()):
            await record()
            self._late.pop(execution, None)

    async def hand_over(self, stopped: Collection[str]) -> None:
        """Record the outstanding ends, and release stopped executions. Without the journal, their leases run out."""
        with suppress(JournalUnavailable, TimeoutError):
            async with asyncio.timeout(_HANDOVER_S):
                await self.record_late()
                if stopped:
                    await self._journal.release(stopped)  # those that have ended have no lease

    async def _write(self, lease: Lease, outcome: ExecutionOutcome) -> None:
        if outcome.status == "paused":
            await self._journal.pause(lease, outcome.pending, outcome.to_json())
        else:
            await self._journal.finish(lease, outcome.status, outcome.to_json())

    async def _write_late(self, lease: Lease, outcome: ExecutionOutcome) -> None:
        try:
            await self._write(lease, outcome)
        except LeaseLost:
            log.warning("another server has taken over %s", lease.execution)

    async def _cancelled(self, execution: str) -> ExecutionOutcome | None:
        """Return the outcome of an execution that another server has cancelled, None if it has only taken it over."""
        log.warning("another server has taken over %s", execution)
        with suppress(CodeModeError):
            stored = await self._journal.get(execution)
            if stored.status == "cancelled":
                return ExecutionOutcome.from_json({**stored.outcome, "status": "cancelled"})
        return None

    async def _withdraw(self, lease: Lease) -> None:
        with suppress(LeaseLost):  # it was not created
            await self._journal.finish(lease, "cancelled", {"id": lease.execution, "status": "cancelled"})


async def crash(journal: Journal, lease: Lease) -> None:
    """Record that a host error ended an attempt."""
    try:
        await journal.finish(lease, "crashed", None)
    except CodeModeError:
        log.exception("the end of %s could not be recorded", lease.execution)


@asynccontextmanager
async def crash_on_damage(journal: Journal, lease: Lease) -> AsyncIterator[None]:
    """End an execution as crashed if its record proves damaged, so that recovery does not retry it."""
    try:
        yield
    except JournalDamaged:
        await crash(journal, lease)
        raise


async def run_periodically(
    chore: Callable[[], Awaitable[None]], every_s: float, failure_message: str, sooner: asyncio.Event | None = None
) -> None:
    """Repeat a chore for ever, about every `every_s` seconds, and when `sooner` is set. Log its exceptions.

    An outage of the journal is logged once, in one line. The time varies by a fifth, so that servers started together
    spread their work.
    """
    due = sooner or asyncio.Event()
    is_out = False
    while True:
        due.clear()
        try:
            await chore()
            is_out = False
        except JournalUnavailable as error:
            if not is_out:
                log.error("%s: %s", failure_message, error)
            is_out = True
        except Exception:
            log.exception(failure_message)
        with suppress(TimeoutError):
            await asyncio.wait_for(due.wait(), every_s * random.uniform(0.8, 1.0))  # noqa: S311 -- spreads the work


async def keep_leases(journal: Journal, attempts: Mapping[str, Attempt], recorder: OutcomeRecorder) -> None:
    """Renew the leases of running attempts, stop those taken over by other servers, and record outstanding ends."""
    running = dict(attempts)
    held = await journal.renew(attempts) if running else frozenset()
    for execution in running.keys() - held:
        if not running[execution].task.done():
            await _stop(journal, execution, running[execution])
    await recorder.record_late()


async def _stop(journal: Journal, execution: str, attempt: Attempt) -> None:
    """Stop an attempt whose lease another server has taken: to run the execution there, or to cancel it."""
    log.warning("another server has taken over %s; the attempt here is stopped", execution)
    if (await journal.get(execution)).status == "cancelled":
        attempt.cancelled.set()
    else:
        attempt.task.cancel()


def is_cancelled() -> bool:
    """Return whether the current task itself is being cancelled."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _log_exception(task: asyncio.Task[ExecutionOutcome]) -> None:
    if not task.cancelled() and task.exception() is not None:
        log.error("an execution could not run", exc_info=task.exception())
