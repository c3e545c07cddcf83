"""Many followers of one execution share one read of the journal; slow ones are disconnected."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from codemode.errors import TooSlow
from codemode.executions.journal.signals import Signals
from codemode.executions.life.feed import KEPT, PAGE
from codemode.executions.life.watching import Watching
from codemode.executions.types.records import JournalEntry
from tests.integration.codemode.executions.upstream import OWNER

if TYPE_CHECKING:
    from codemode.executions.journal.base import Journal

ID = "exec_1"
MANY = 50


class Recorded:
    """A journal of one execution that runs here. `append` records and notifies listeners."""

    def __init__(self, text: str = "x") -> None:
        self.status = "running"
        self.entries: list[JournalEntry] = []
        self.reads = 0
        self.listeners: set[asyncio.Event] = set()
        self.signals = Signals()
        self._text = text
        attempts = cast("Any", {ID: self})
        self.watching = Watching(cast("Journal", self), attempts, self.seen)

    async def seen(self, *_: object) -> Any:
        return SimpleNamespace(status=self.status, request=SimpleNamespace(owner=OWNER.id))

    get = seen

    async def read(self, _: str, *, after: int, values: bool, most: int) -> tuple[JournalEntry, ...]:
        assert not values
        self.reads += 1
        await asyncio.sleep(0)
        return tuple(self.entries[after : after + most])

    def append(self, count: int = 1) -> None:
        for _ in range(count):
            self.entries.append(JournalEntry("printed", data={"text": self._text}, sequence=len(self.entries) + 1))
        self.notify()

    def end(self) -> None:
        self.status = "completed"
        self.notify()

    def notify(self) -> None:
        for listener in self.listeners:
            listener.set()

    async def told(self, after: int = 0) -> list[int]:
        return [event.sequence async for event in self.watching.events(ID, OWNER, after)]

    async def asleep(self) -> None:
        """Wait until everything appended is read and the followers wait for more."""
        while not self.listeners or any(listener.is_set() for listener in self.listeners):  # noqa: ASYNC110
            await asyncio.sleep(0)


async def test_one_read_tells_all_who_follow() -> None:
    journal = Recorded()
    following = [asyncio.create_task(journal.told()) for _ in range(MANY)]
    for _ in range(3):
        journal.append()
        await journal.asleep()
    journal.end()
    assert await asyncio.gather(*following) == [[1, 2, 3, 3]] * MANY
    assert journal.reads <= 5
    assert not journal.listeners


async def test_who_comes_later_begins_where_it_was_cut_off() -> None:
    journal = Recorded("x" * 1000)
    journal.append(3 * PAGE)
    first = aiter(journal.watching.events(ID, OWNER, 2 * PAGE))
    await anext(first)
    journal.end()
    assert await journal.told() == [*range(1, 3 * PAGE + 1), 3 * PAGE]
    assert await journal.told(3 * PAGE - 1) == [3 * PAGE, 3 * PAGE]
    await first.aclose()  # type: ignore[attr-defined]


async def test_who_does_not_read_is_hung_up_on_and_may_come_again() -> None:
    journal = Recorded("x" * (KEPT // 20))
    journal.append(2)
    async with aclosing(journal.watching.batches(ID, OWNER, 0)) as slow:
        read = (await anext(slow))[-1].sequence
        others = asyncio.create_task(journal.told())
        journal.append(PAGE)
        journal.append(PAGE)
        journal.end()
        assert len(await others) == 2 * PAGE + 3
        with pytest.raises(TooSlow, match=f"Last-Event-ID: {read}$"):
            await anext(slow)
    assert await journal.told(read) == [*range(read + 1, 2 * PAGE + 3), 2 * PAGE + 2]


async def test_an_error_of_the_journal_reaches_all_who_follow() -> None:
    journal = Recorded()

    async def fails(*_: object, **__: object) -> tuple[JournalEntry, ...]:
        raise OSError

    journal.read = fails  # type: ignore[method-assign]
    found = await asyncio.gather(journal.told(), journal.told(), return_exceptions=True)
    assert [type(error) for error in found] == [OSError, OSError]
