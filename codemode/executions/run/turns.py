"""Turns of programs and of saved programs by their depth, shared fairly among callers."""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict, deque
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

#: Saved programs within each other, at most.
MOST_DEEP = 4

#: Saved programs of one depth that run at the same time: of one caller, and in all.
PER_CALLER, MOST_AT_ONCE = 4, 16

#: Programs that run at the same time, without saved programs. Each depth has its own turns, so that a program never
#: waits for one that waits for it.
MOST_PROGRAMS = 64

#: The `running` of an engine that never lets one of these wait.
MOST_RUNNING = MOST_PROGRAMS + MOST_DEEP * MOST_AT_ONCE


class FairTurns:
    """At most `most` turns at the same time, and `per_caller` of one caller. Who waits is served round robin."""

    def __init__(self, most: int, per_caller: int) -> None:
        self._most = most
        self._per_caller = per_caller
        self._taken: Counter[str] = Counter()
        self._queues: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()

    @asynccontextmanager
    async def turn(self, caller: str) -> AsyncIterator[None]:
        """Wait for a turn and hold it within the block."""
        await self._take(caller)
        try:
            yield
        finally:
            self._give_back(caller)

    async def _take(self, caller: str) -> None:
        waits = asyncio.get_running_loop().create_future()
        self._queues.setdefault(caller, deque()).append(waits)
        self._admit()
        try:
            await waits
        except asyncio.CancelledError:
            self._leave(caller, waits)
            if not waits.cancelled():  # it was admitted, and cancelled at the same moment
                self._give_back(caller)
            raise

    def _give_back(self, caller: str) -> None:
        self._taken[caller] -= 1
        if not self._taken[caller]:
            del self._taken[caller]
        self._admit()

    def _admit(self) -> None:
        while self._taken.total() < self._most:
            caller = next((one for one in self._queues if self._taken[one] < self._per_caller), None)
            if caller is None:
                return
            self._queues.move_to_end(caller)
            waits = self._queues[caller][0]
            self._leave(caller, waits)
            if not waits.cancelled():
                self._taken[caller] += 1
                waits.set_result(None)

    def _leave(self, caller: str, waits: asyncio.Future[None]) -> None:
        queue = self._queues.get(caller, deque())
        if waits in queue:
            queue.remove(waits)
            if not queue:
                del self._queues[caller]


class Turns:
    """The turns of programs, and of saved programs by their depth."""

    def __init__(self) -> None:
        programs = FairTurns(MOST_PROGRAMS, MOST_PROGRAMS)
        self._turns = [programs, *(FairTurns(MOST_AT_ONCE, PER_CALLER) for _ in range(MOST_DEEP))]

    def at(self, depth: int) -> FairTurns:
        """Return the turns of programs of a depth. 0 are those that callers start."""
        return self._turns[depth]
