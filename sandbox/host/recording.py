"""Repeatable runs: record the frames that a program is sent, and send them again when it runs again.

A program is a function of its source, its seed, its start time, and the frames that it reads. It reads one frame at a
time, and only when none of its tasks can run. So the recorded frames bring it to the same point again, with parallel
calls too. A marker follows them, which the guest acknowledges when it reads it. Calls without a recorded answer are
made only after that. Calls that the program cancelled before, after a recorded time-out, are not made.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, NamedTuple, Protocol

from sandbox.host.calls import start_task
from sandbox.protocol.host_messages import encode_failed_reply, encode_live, encode_reply, encode_tick

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sandbox.outcome import Call
    from sandbox.protocol.guest_decoder import Calls


class Delivery(NamedTuple):
    """One frame to a program: the answer of a call, or a tick of its timers (`call` is 0).

    `call` is the id of the call, and `now` the program's time in µs since the epoch. `marks` are the moments at which
    the host read of new timers. `answer` is JSON: the value of the call, or the fields of its error.
    """

    call: int
    now: int
    marks: tuple[int, ...] = ()
    answer: bytes = b""
    is_error: bool = False

    def encode(self) -> bytes:
        """Return the frame."""
        if not self.call:
            return encode_tick(now=self.now, marks=self.marks)
        if self.is_error:
            return encode_failed_reply(self.call, now=self.now, fields=self.answer, marks=self.marks)
        return encode_reply(self.call, now=self.now, value=self.answer, marks=self.marks)


class Recording(Protocol):
    """The record of one run. Its methods may raise ProgramStopped, which ends the program."""

    @property
    def recorded(self) -> Sequence[Delivery]:
        """The recorded frames, in order. They are sent first."""
        ...

    def replayed(self, call: Call) -> None:
        """Take note of a call of the replay, which is not made yet."""
        ...

    def printed(self, text: str) -> None:
        """Take note of printed text. A replayed program prints all of it again."""
        ...

    def live(self) -> None:
        """Take note that the program has read its record, and that calls are made from now on."""
        ...

    async def deliver(self, deliveries: Sequence[Delivery]) -> bool:
        """Record these frames, in order; they are sent once this returns true. Calls never overlap.

        It may wait until `over` is called, as long as it is unknown whether the program continues.
        """
        ...

    def over(self) -> None:
        """Take note that the program is sent nothing more."""
        ...


class Outbox:
    """Record each answer and tick, and then send it, in order.

    `on_sent` is called after frames were sent. `on_failure` is called with an error of the recording; nothing is sent
    after that.
    """

    def __init__(
        self,
        recording: Recording,
        send: Callable[[Sequence[Delivery]], None],
        *,
        on_sent: Callable[[], None],
        on_failure: Callable[[Exception], None],
    ) -> None:
        self._recording = recording
        self._send = send
        self._on_sent = on_sent
        self._on_failure = on_failure
        self._waiting: list[Delivery] = []
        self._task: asyncio.Task[None] | None = None
        #: Whether a frame is being recorded.
        self.is_busy = False
        #: Size of the answers that are not recorded yet.
        self.unkept_bytes = 0

    def add(self, delivery: Delivery, *, has_others: bool) -> None:
        """Record a frame, and then send it. `has_others` waits for other frames of this turn of the event loop."""
        self._waiting.append(delivery)
        self.unkept_bytes += len(delivery.answer)
        if not self.is_busy:
            self.is_busy = True
            self._task = start_task(self._deliver(), asyncio.get_running_loop(), eagerly=not has_others)

    async def settled(self) -> None:
        """Wait until no frame is being recorded."""
        if self._task is not None:
            await self._task

    async def _deliver(self) -> None:
        try:
            while self._waiting:
                deliveries, self._waiting = self._waiting, []
                if await self._recording.deliver(deliveries):
                    self._send(deliveries)
                self.unkept_bytes -= sum(len(delivery.answer) for delivery in deliveries)
                self._on_sent()
        except Exception as error:  # noqa: BLE001 - whatever the recording raises is handed on
            self._waiting.clear()
            self._on_failure(error)
        finally:
            self.is_busy = False


class Replay:
    """The recorded part of a run, until the guest has read the marker."""

    def __init__(self, recording: Recording, begin: int) -> None:
        self._recording = recording
        self._answered = {delivery.call for delivery in recording.recorded}
        self._marked = sum(len(delivery.marks) for delivery in recording.recorded)
        self._held: dict[int, Call] = {}
        #: The program's time after the record.
        self.now = recording.recorded[-1].now if recording.recorded else begin
        #: When the program's next timer is due, and the delays that no recorded mark started.
        self.wake: int | None = None
        self.delays: list[int] = []

    @property
    def answered_bytes(self) -> int:
        """Size of all recorded answers."""
        return sum(len(delivery.answer) for delivery in self._recording.recorded)

    def encode(self) -> bytes:
        """Return the recorded frames and the marker."""
        frames = [delivery.encode() for delivery in self._recording.recorded]
        return b"".join((*frames, encode_live(now=self.now)))

    def take(self, wishes: Calls) -> None:
        """Take calls and timers of the guest. Raises ProgramStopped."""
        for call in wishes.calls:
            self._recording.replayed(call)
            if call.id not in self._answered:
                self._held[call.id] = call
        self.wake = wishes.wake
        if wishes.delay is None:
            return
        if self._marked:
            self._marked -= 1
        else:
            self.delays.append(wishes.delay)

    def cancel(self, call_id: int) -> None:
        """Drop a call that is no longer needed."""
        self._held.pop(call_id, None)

    @property
    def unanswered(self) -> tuple[Call, ...]:
        """The calls without a recorded answer, in order."""
        return tuple(self._held.values())
