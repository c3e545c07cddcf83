"""Runs that can be repeated: what a program was sent is kept, and is sent ahead when it runs again.

A program is a function of its source, its seed, the moment at which it begins, and the frames that it reads, which it
does one at a time and only when nothing of it can run. So a record of these frames brings it to the same place again,
whatever its parallel calls looked like. Behind them comes a marker that the guest acknowledges when it reads it, that
is, at rest: only then is anything done that it asked for and the record has no answer to. What it gave up on before,
because a recorded time-out came first, is not done again.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from sandbox.protocol.host_messages import encode_failed_reply, encode_live, encode_reply, encode_tick

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sandbox.outcome import Call
    from sandbox.protocol.guest_decoder import Calls


@dataclass(frozen=True, slots=True)
class Delivery:
    """One frame that a program is sent: the answer of a call, or a tick of its timers (`call` is 0).

    `call` is the id of the call, `now` the program's time in µs since the epoch, `marks` are when the host read of its
    timers. `answer` is JSON: the value of the call, or the fields of its error.
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
    """Who keeps the record of one run. Its methods may raise ProgramStopped, which ends the program."""

    @property
    def recorded(self) -> Sequence[Delivery]:
        """What the program was sent before, in order: it is sent ahead."""
        ...

    def replayed(self, call: Call) -> None:
        """Look at a call that the program makes while it is sent what was recorded: nothing is done for it yet."""
        ...

    def printed(self, text: str) -> None:
        """The program has printed: when it runs again it prints the same again, from the beginning."""
        ...

    def live(self) -> None:
        """The program has read all that was recorded: what it asked for and has no answer to is done from here on."""
        ...

    async def deliver(self, deliveries: Sequence[Delivery]) -> bool:
        """Keep these; they are sent if and when this returns true. Of each run it is called once at a time, in order.

        It may hold them back while it is not sure that the program goes on, until `over` is called.
        """
        ...

    def over(self) -> None:
        """The program is sent nothing more."""
        ...


class Outbox:
    """What a recorded program is sent: each answer and tick is kept, and then sent, in the order in which they come.

    `on_sent` is called when some were sent, `on_failure` with what the recording raised: nothing is sent after that.
    """

    def __init__(
        self,
        recording: Recording,
        send: Callable[[bytes], None],
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
        #: Of the answers that are not kept yet.
        self.unkept_bytes = 0

    @property
    def is_busy(self) -> bool:
        """Whether something is being kept."""
        return self._task is not None

    def add(self, delivery: Delivery) -> None:
        """Have it kept, and then sent."""
        self._waiting.append(delivery)
        self.unkept_bytes += len(delivery.answer)
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._deliver())

    async def settled(self) -> None:
        """Wait until nothing is being kept."""
        if self._task is not None:
            await self._task

    async def _deliver(self) -> None:
        try:
            while self._waiting:
                deliveries, self._waiting = self._waiting, []
                if await self._recording.deliver(deliveries):
                    self._send(b"".join([delivery.encode() for delivery in deliveries]))
                self.unkept_bytes -= sum(len(delivery.answer) for delivery in deliveries)
                self._on_sent()
        except Exception as error:  # noqa: BLE001 - whatever the recording raises is handed on
            self._waiting.clear()
            self._on_failure(error)
        finally:
            self._task = None


class Replay:
    """The part of a run that was recorded, from its first frame until the guest says that it has read the last."""

    def __init__(self, recording: Recording, begin: int) -> None:
        self._recording = recording
        self._answered = {delivery.call for delivery in recording.recorded}
        self._marked = sum(len(delivery.marks) for delivery in recording.recorded)
        self._held: dict[int, Call] = {}
        #: The program's time when all is read.
        self.now = recording.recorded[-1].now if recording.recorded else begin
        #: When a timer of the program is due, and the delays of those that it set since it was last told of any.
        self.wake: int | None = None
        self.delays: list[int] = []

    @property
    def answered_bytes(self) -> int:
        """Bytes of all answers that are sent ahead."""
        return sum(len(delivery.answer) for delivery in self._recording.recorded)

    def encode(self) -> bytes:
        """Return everything that is sent ahead, and the marker."""
        frames = [delivery.encode() for delivery in self._recording.recorded]
        return b"".join((*frames, encode_live(now=self.now)))

    def take(self, wishes: Calls) -> None:
        """Take what the guest asks for meanwhile. Raises ProgramStopped."""
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
        """Forget a call that nobody waits for any more."""
        self._held.pop(call_id, None)

    @property
    def unanswered(self) -> tuple[Call, ...]:
        """The calls that the record has no answer to, in order."""
        return tuple(self._held.values())
