"""Group commit: what is appended in one turn of the event loop, or while a write is under way, is written together."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codemode.executions.journals import rows

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from codemode.errors import LeaseLost
    from codemode.executions.journal import JournalEntry, Lease
    from codemode.executions.journals.transactions import Line

    Written = Sequence[int | LeaseLost]


@dataclass(frozen=True, slots=True)
class Write:
    """Entries of one caller, and where it waits for them."""

    lease: Lease
    lines: Sequence[Line]
    done: asyncio.Future[int]


class GroupCommit:
    """Writes in the order in which they came, one group after the other.

    `at_once` writes a group here and now, or answers None where that would take long; `in_time` takes its time.
    Both answer for each write with its sequence number or with the error of its lease; what they raise is for all.
    """

    def __init__(
        self,
        at_once: Callable[[Sequence[Write]], Written | None],
        in_time: Callable[[Sequence[Write]], Awaitable[Written]],
    ) -> None:
        self._at_once = at_once
        self._in_time = in_time
        self._waiting: list[Write] = []
        self._is_due = False
        self._task: asyncio.Task[None] | None = None

    async def add(self, lease: Lease, entries: Sequence[JournalEntry]) -> int:
        """Write with what else is to be written; who is cancelled before that has written nothing."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[int] = loop.create_future()
        self._waiting.append(Write(lease, [rows.line(entry) for entry in entries], done))
        if not self._is_due:
            self._is_due = True
            loop.call_soon(self._write)
        return await done

    async def drain(self) -> None:
        """Wait until all is written."""
        while self._is_due:
            await (self._task or asyncio.sleep(0))

    def _write(self) -> None:
        writes = self._taken()
        try:
            written = self._at_once(writes)
        except Exception as error:  # noqa: BLE001 -- each who waits is told, whatever it is
            _fail(writes, error)
        else:
            if written is None:
                self._task = asyncio.create_task(self._write_in_time(writes))
                return
            _settle(writes, written)
        self._is_due = False

    async def _write_in_time(self, writes: Sequence[Write]) -> None:
        while writes:
            try:
                _settle(writes, await self._in_time(writes))
            except Exception as error:  # noqa: BLE001 -- each who waits is told, whatever it is
                _fail(writes, error)
            writes = self._taken()
        self._is_due = False
        self._task = None

    def _taken(self) -> Sequence[Write]:
        writes = [write for write in self._waiting if not write.done.cancelled()]
        self._waiting.clear()
        return writes


def _settle(writes: Sequence[Write], written: Written) -> None:
    for write, result in zip(writes, written, strict=True):
        if write.done.cancelled():
            continue
        if isinstance(result, int):
            write.done.set_result(result)
        else:
            write.done.set_exception(result)


def _fail(writes: Sequence[Write], error: Exception) -> None:
    for write in writes:
        if not write.done.cancelled():
            write.done.set_exception(error)
