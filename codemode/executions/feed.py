"""What happens to one execution, read from the journal once for all who follow it on this server."""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from contextlib import suppress
from operator import attrgetter
from typing import TYPE_CHECKING

from codemode.executions.events import ExecutionEvent, events_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from codemode.executions.attempts import Attempt
    from codemode.executions.journal.base import Journal

#: While an execution has one of these, more is to come.
GOES_ON = ("queued", "running")

#: How often whoever waits looks, where the execution runs on another server.
LOOK_AGAIN_S = 0.5

#: Entries that are read at once.
PAGE = 200

#: Characters of events that are kept for those who are behind. Who is further behind is hung up on.
KEPT = 1 << 20

#: Characters of a batch, unless one event has more: a piece of an answer.
BATCH = 1 << 16

#: Seconds between two reads for each follower: to tell 200 of them takes some 20 ms of processor time.
_PAUSE_S = 0.001

_SEQUENCE = attrgetter("sequence")


class Feed:
    """Events of one execution, from a number on. `status` is empty until it has ended or paused, and all is read.

    A follower asks for what comes after its last event. Nothing is read ahead of the one that is furthest.
    """

    def __init__(self, journal: Journal, attempts: Mapping[str, Attempt], execution: str, begin: int) -> None:
        self.status = ""
        self.followers = 0
        self._journal = journal
        self._attempts = attempts
        self._execution = execution
        self._begin = self._end = begin
        self._events: list[ExecutionEvent] = []
        self._size = 0
        self._reading: asyncio.Task[None] | None = None
        self._earlier: dict[int, asyncio.Task[tuple[ExecutionEvent, ...]]] = {}
        self._listener = asyncio.Event()
        self._listener.set()
        self._attempt: Attempt | None = None

    def has(self, sequence: int) -> bool:
        """Whether everything after the event with this number is kept, or still to be read."""
        return sequence >= self._begin

    def after(self, sequence: int) -> tuple[ExecutionEvent, ...]:
        """The next events that were read, a batch of them."""
        begin = bisect_right(self._events, sequence, key=_SEQUENCE)
        return _batch(self._events, begin)

    async def before(self, sequence: int) -> tuple[ExecutionEvent, ...]:
        """The next events of a time of which nothing is kept. Those who are at the same place share a read."""
        reading = self._earlier.get(sequence)
        if reading is None:
            reading = self._earlier[sequence] = asyncio.create_task(self._read_before(sequence))
            reading.add_done_callback(lambda _: self._earlier.pop(sequence, None))
        return await asyncio.shield(reading)

    async def read_on(self) -> None:
        """Wait until something happens, and read it. Raises JournalUnavailable, ExecutionNotFound."""
        if self._reading is None or self._reading.done():
            self._reading = asyncio.create_task(self._read())
        await asyncio.shield(self._reading)

    def close(self) -> None:
        """Give up what is being read: nobody follows any more."""
        for reading in (self._reading, *self._earlier.values()):
            if reading is not None:
                reading.cancel()
        if self._attempt is not None:
            self._attempt.listeners.discard(self._listener)

    async def _read(self) -> None:
        await self._news()
        self._attempt = self._attempts.get(self._execution)
        if self._attempt is not None:
            self._attempt.listeners.add(self._listener)
        self._listener.clear()  # before the journal is read: what comes meanwhile wakes it again
        status = (await self._journal.get(self._execution)).status
        entries = await self._journal.read(self._execution, after=self._end, values=False, most=PAGE)
        if entries:
            self._keep(list(events_of(entries)), entries[-1].sequence)
        if len(entries) == PAGE:
            self._listener.set()
        elif status not in GOES_ON:
            self.status = status

    async def _news(self) -> None:
        if self._attempt is None:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._listener.wait(), LOOK_AGAIN_S)
        else:
            await self._listener.wait()
        await asyncio.sleep(_PAUSE_S * (self.followers - 1))

    def _keep(self, events: Sequence[ExecutionEvent], end: int) -> None:
        self._events.extend(events)
        self._end = end
        self._size += sum(len(event.text) for event in events)
        dropped = 0
        while self._size > KEPT and dropped < len(self._events) - len(events):
            self._size -= len(self._events[dropped].text)
            dropped += 1
        if dropped:
            self._begin = self._events[dropped - 1].sequence
            del self._events[:dropped]

    async def _read_before(self, sequence: int) -> tuple[ExecutionEvent, ...]:
        while True:
            entries = await self._journal.read(self._execution, after=sequence, values=False, most=PAGE)
            events = list(events_of(entries))
            if events or len(entries) < PAGE:
                return _batch(events, 0)
            sequence = entries[-1].sequence


def _batch(events: Sequence[ExecutionEvent], begin: int) -> tuple[ExecutionEvent, ...]:
    end, size = begin, 0
    while end < len(events) and (end == begin or size + len(events[end].text) <= BATCH):
        size += len(events[end].text)
        end += 1
    return tuple(events[begin:end])
