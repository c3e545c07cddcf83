"""Group commit: which appends share a write."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from codemode.executions.journal.sql.group import GroupCommit
from codemode.executions.types.records import JournalEntry, Lease

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codemode.executions.journal.sql.group import Write, Written

LEASE = Lease("ex_1", "here", 1)
ENTRIES = (JournalEntry("printed", data={"text": "x"}),)


class Store:
    """Keeps the size of each group."""

    def __init__(self) -> None:
        self.sizes: list[int] = []
        self.group = GroupCommit(self.write, self.write_slowly)

    def write(self, writes: Sequence[Write]) -> Written:
        self.sizes.append(len(writes))
        return list(range(len(writes)))

    async def write_slowly(self, writes: Sequence[Write]) -> Written:
        raise AssertionError

    async def append(self, count: int, *, at_once: bool = False) -> list[int]:
        """Append `count` times in one iteration. Return the sizes of the groups written for it."""
        before = len(self.sizes)
        await asyncio.gather(*(self.group.add(LEASE, ENTRIES, at_once=at_once) for _ in range(count)))
        await self.group.drain()
        return self.sizes[before:]


async def test_a_single_append_does_not_wait() -> None:
    store = Store()
    first = asyncio.create_task(store.group.add(LEASE, ENTRIES, at_once=False))
    await asyncio.sleep(0)
    assert first.done()
    assert await store.append(1) == [1]


async def test_of_several_in_one_iteration_the_first_does_not_wait_until_it_is_known_that_there_are_others() -> None:
    store = Store()
    assert await store.append(3) == [1, 2]
    assert await store.append(3) == [3]
    assert await store.append(2, at_once=True) == [2]
    assert await store.append(1) == [1]
    assert await store.append(3) == [1, 2]


async def test_appends_that_need_not_wait_are_written_one_by_one_while_there_are_no_others() -> None:
    store = Store()
    assert await store.append(2, at_once=True) == [1, 1]
