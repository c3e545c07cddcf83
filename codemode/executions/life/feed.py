"""The event feed of one execution, read from the journal once for all followers on this server."""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from contextlib import ExitStack, suppress
from operator import attrgetter
from typing import TYPE_CHECKING

from codemode.executions.types.events import ExecutionEvent, events_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from codemode.executions.journal.base import Journal
    from codemode.executions.life.attempts import Attempt

#: Statuses of executions that still produce events.
GOES_ON = ("queued", "running")

#: Entries per read.
PAGE = 200

#: Characters of events kept for slow followers. A follower that falls further behind is disconnected.
KEPT = 1 << 20

#: Characters per batch, unless a single event is larger: one chunk of a response.
BATCH = 1 << 16

#: Pause between two reads, in seconds for each follower: serving 200 of them takes about 20 ms of processor time.
_PAUSE_S = 0.001

_SEQUENCE = attrgetter("sequence")


class Feed:
    """Events of one execution. `status` stays empty until the execution has ended or paused and everything is read.

    Followers ask for the events after their last one. The feed never reads ahead of the fastest follower.
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
        self._look_again_s = 0.0
        self._signals = ExitStack()
        self._signals.enter_context(journal.signals.following(execution, self._listener))

    def has(self, sequence: int) -> bool:
        """Return whether every event after this sequence number is kept, or still unread."""
        return sequence >= self._begin

    def after(self, sequence: int) -> tuple[ExecutionEvent, ...]:
        """Return the next batch of kept events."""
        begin = bisect_right(self._events, sequence, key=_SEQUENCE)
        return _batch(self._events, begin)

    async def before(self, sequence: int) -> tuple[ExecutionEvent, ...]:
        """Return the next batch of events that are no longer kept. Followers at the same position share a read."""
        reading = self._earlier.get(sequence)
        if reading is None:
            reading = self._earlier[sequence] = asyncio.create_task(self._read_before(sequence))
            reading.add_done_callback(lambda _: self._earlier.pop(sequence, None))
        return await asyncio.shield(reading)

    async def read_on(self) -> None:
        """Wait for new events and read them. Raises JournalUnavailable, ExecutionNotFound."""
        if self._reading is None or self._reading.done():
            self._reading = asyncio.create_task(self._read())
        await asyncio.shield(self._reading)

    def close(self) -> None:
        """Cancel pending reads: there are no followers left."""
        for reading in (self._reading, *self._earlier.values()):
            if reading is not None:
                reading.cancel()
        if self._attempt is not None:
            self._attempt.listeners.discard(self._listener)
        self._signals.close()

    async def _read(self) -> None:
        await self._news()
        self._attempt = self._attempts.get(self._execution)
        if self._attempt is not None:
            self._attempt.listeners.add(self._listener)
        else:
            self._look_again_s = await self._journal.signals.ask(self._execution)
        self._listener.clear()  # before reading: entries written meanwhile wake the feed again
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
                await asyncio.wait_for(self._listener.wait(), self._look_again_s)
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
