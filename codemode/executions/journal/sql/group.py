"""Group commit: appends made in one event-loop iteration, or during a write, are written together."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, NamedTuple

from codemode.executions.journal.sql import rows

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from codemode.errors import LeaseLost
    from codemode.executions.journal.sql.rows import Line
    from codemode.executions.types.records import JournalEntry, Lease

    Written = Sequence[int | LeaseLost]


class Write(NamedTuple):
    """Lines for one execution. `starts_unkeyed_write` makes the store flush them before it returns."""

    lease: Lease
    lines: Sequence[Line]
    starts_unkeyed_write: bool = False


class _Waiting(NamedTuple):
    """A queued write, and the future of its result."""

    write: Write
    done: asyncio.Future[int]


class GroupCommit:
    """Writes queued appends in order, one group after the other.

    `at_once` writes a group on the event loop, or returns None if that would block for long; `in_time` then writes it
    in the background. Both return a sequence number or LeaseLost for each write. Their exceptions apply to all writes.
    """

    def __init__(
        self,
        at_once: Callable[[Sequence[Write]], Written | None],
        in_time: Callable[[Sequence[Write]], Awaitable[Written]],
    ) -> None:
        self._at_once = at_once
        self._in_time = in_time
        self._waiting: list[_Waiting] = []
        self._is_due = False
        #: Appends of this iteration, and whether there were several in the last one that had any.
        self._in_turn = 0
        self._is_shared = False
        self._task: asyncio.Task[None] | None = None

    async def add(self, lease: Lease, entries: Sequence[JournalEntry], *, at_once: bool) -> int:
        """Write the first append of an iteration immediately, and the others together at its end.

        If the last iteration had several appends, all of this one are written together. An append cancelled before
        that writes nothing. An `at_once` append does not start a group by itself.
        """
        flush = any(entry.starts_unkeyed_write for entry in entries)
        write = Write(lease, [rows.line(entry) for entry in entries], flush)
        if not self._is_due and not self._is_shared:
            if not at_once:
                self._await_end_of_turn()
            results = self._at_once((write,))
            if results is not None:
                return _result(results[0])
        self._await_end_of_turn()
        self._in_turn += 1
        done: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Waiting(write, done))
        return await done

    @property
    def is_in_thread(self) -> bool:
        """Whether a group is being written in the background."""
        return self._task is not None

    async def drain(self) -> None:
        """Wait until everything is written."""
        while self._is_due:
            await (self._task or asyncio.sleep(0))

    def _await_end_of_turn(self) -> None:
        if not self._is_due:
            self._is_due = True
            self._in_turn = 0 if self._is_shared else 1  # the first has been written
            asyncio.get_running_loop().call_soon(self._write)

    def _write(self) -> None:
        waiting = self._take_waiting()
        self._is_shared = self._in_turn > 1
        if not waiting:
            self._is_due = False
            return
        try:
            results = self._at_once([one.write for one in waiting])
        except Exception as error:  # noqa: BLE001 -- every waiting caller receives it
            _fail(waiting, error)
        else:
            if results is None:
                self._task = asyncio.create_task(self._write_in_time(waiting))
                return
            _settle(waiting, results)
        self._is_due = False

    async def _write_in_time(self, waiting: Sequence[_Waiting]) -> None:
        while waiting:
            try:
                _settle(waiting, await self._in_time([one.write for one in waiting]))
            except Exception as error:  # noqa: BLE001 -- every waiting caller receives it
                _fail(waiting, error)
            waiting = self._take_waiting()
        self._is_due = False
        self._task = None

    def _take_waiting(self) -> Sequence[_Waiting]:
        waiting = [one for one in self._waiting if not one.done.cancelled()]
        self._waiting.clear()
        return waiting


def _result(result: int | LeaseLost) -> int:
    if isinstance(result, int):
        return result
    raise result


def _settle(waiting: Sequence[_Waiting], results: Written) -> None:
    for one, result in zip(waiting, results, strict=True):
        if one.done.cancelled():
            continue
        if isinstance(result, int):
            one.done.set_result(result)
        else:
            one.done.set_exception(result)


def _fail(waiting: Sequence[_Waiting], error: Exception) -> None:
    for one in waiting:
        if not one.done.cancelled():
            one.done.set_exception(error)
