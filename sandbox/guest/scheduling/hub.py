"""The scheduler: runs everything that can run, then reads one frame, which is the only source of events.

Code that blocks (a plain tool call, a lock, `time.sleep`) waits for a slot. If nothing else is ready, it reads the next
frame itself. Otherwise its greenlet is parked, and a runner carries on with the others. Programs that are only
sequential, or only async, never switch greenlets inside a call.
"""

from __future__ import annotations

import asyncio
import gc
import heapq
from collections import deque
from contextlib import suppress
from contextvars import Context, copy_context
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any

import greenlet

from sandbox.guest.scheduling.ends import ENDS
from sandbox.guest.scheduling.identity import PLACE, Place, here
from sandbox.guest.scheduling.waits import waiting_code
from sandbox.protocol.guest_messages import encode_live

if TYPE_CHECKING:
    from collections.abc import Callable

    from sandbox.guest.base.channel import Channel
    from sandbox.guest.scheduling.clock import Clock


#: Thirty years in microseconds: the longest delay.
LONGEST_US = 1e15

#: The host is told of a wait of this many microseconds for nothing but a timer: it may end after the program's time.
_LONG_US = 1_000_000


class Deadlock(RuntimeError):
    """Raised if nothing can run, and no frame or timer is expected."""


@dataclass(eq=False, slots=True)
class Slot:
    """One wait. A frame, a timer or other code of the program finishes it. `what` describes it in a deadlock."""

    what: str
    is_loop: bool = False  # the wait of `asyncio.run` for its tasks
    done: bool = False
    value: Any = None
    error: BaseException | None = None
    parked: greenlet.greenlet | None = None
    waiter: greenlet.greenlet | None = None
    abandon: Callable[[], None] | None = None  # called if the waiting task is cancelled


@dataclass(eq=False, slots=True)
class Timer:
    """A callback at a moment of the program's clock."""

    delay_us: int
    when_us: int
    action: Callable[[], None]
    cancelled: bool = False


#: Not empty while garbage is collected.
_COLLECTIONS: list[str] = []


def _note_collection(phase: str, _: dict[str, int]) -> None:
    _COLLECTIONS[:] = [phase] if phase == "start" else []


class Hub:
    """The ready queue, the timers and the waiting code of one program."""

    def __init__(self, channel: Channel, clock: Clock) -> None:
        if _note_collection not in gc.callbacks:
            gc.callbacks.append(_note_collection)
        self.clock = clock
        clock.tired = lambda: self.sleep(0.001, "the clock")
        self.channel = channel
        self.ready: deque[Callable[[], None] | greenlet.greenlet] = deque()
        self.main = greenlet.getcurrent()
        self.waiting: dict[Slot, None] = {}
        self.loop: Any = None
        self._end: BaseException | None = None  # the host is gone, or this hub is
        self._blocked_tasks: dict[asyncio.Task[Any], Slot] = {}
        self._timers: list[tuple[int, int, Timer]] = []
        self._new_timers: list[Timer] = []
        self._unplaced: deque[list[Timer]] = deque()
        self._order = count()
        self._idle: list[greenlet.greenlet] = []
        self._kept: list[greenlet.greenlet] = []  # parked greenlets end if nothing refers to them
        self._factory: greenlet.greenlet | None = None
        #: Functions that wait for threads or jobs that are left, and return whether there were any.
        self.endings: list[Callable[[], bool]] = []
        #: Returns descriptions of what the tasks await.
        self.waiting_tasks: Callable[[], list[str]] = list

    # --- waiting -------------------------------------------------------------------------------------------------

    def wait(self, slot: Slot) -> Any:
        """Block until the slot is done, and return its value or raise its error."""
        self.check_calm()
        self._check_end()
        slot.waiter = greenlet.getcurrent()
        self.waiting[slot] = None
        try:
            while not slot.done:
                if self.ready:
                    self._park(slot)
                else:
                    self.receive(slot)
        except ENDS as end:
            self._end = end
            raise
        finally:
            del self.waiting[slot]
        if slot.error is not None:
            raise slot.error
        return slot.value

    def wait_at_most(self, slot: Slot, seconds: float | None, value: Any = None) -> Any:
        """Wait for a slot. When the time is up, it is finished with `value`."""
        timer = None if seconds is None else self.call_in(seconds, lambda: self.finish(slot, value))
        try:
            return self.wait(slot)
        finally:
            if timer is not None:
                timer.cancelled = True

    def check_calm(self) -> None:
        """Raise RuntimeError during a garbage collection, whose lists live on the stack of this greenlet."""
        if _COLLECTIONS:
            raise RuntimeError("what runs while garbage is collected can neither wait nor call")

    def _check_end(self) -> None:
        """Raise the end again, which executors and other code of the library may have caught."""
        if self._end is not None:
            raise self._end

    def finish(self, slot: Slot, value: Any = None, error: BaseException | None = None) -> None:
        """Finish a slot, and resume the code that waits for it."""
        if slot.done:
            return
        slot.done, slot.value, slot.error = True, value, error
        if slot.parked is not None:
            self.ready.append(slot.parked)
            slot.parked = None

    def sleep(self, seconds: float, what: str = "time.sleep") -> None:
        """Block for a time."""
        self.wait_at_most(Slot(what), seconds)

    def cancel_blocked(self, task: asyncio.Task[Any], error: BaseException) -> bool:
        """Raise an error in a task that waits in a plain call. Return whether it did."""
        slot = self._blocked_tasks.get(task)
        if slot is None or slot.done:
            return False
        if slot.abandon is not None:
            slot.abandon()
        self.finish(slot, error=error)
        return True

    def see_off(self) -> None:
        """Wait for threads and jobs that are left, as an interpreter does, but not for those that wait for ever."""
        was_left = bool(self.endings)
        with suppress(Deadlock):
            while was_left:
                was_left = sum(wait() for wait in self.endings) > 0

    # --- greenlets -----------------------------------------------------------------------------------------------

    def prepare(self) -> None:
        """Prepare for parking. Call it where the stack is flat: runners inherit this recursion depth."""
        if self._factory is None:
            self._factory = greenlet.greenlet(self._make_runners, self.main)
            self._factory.switch(greenlet.getcurrent())

    def _park(self, slot: Slot) -> None:
        slot.parked = greenlet.getcurrent()
        task = None if self.loop is None else asyncio.current_task(self.loop)
        if task is None:
            self._runner().switch()
            return
        asyncio.tasks._leave_task(self.loop, task)
        self._blocked_tasks[task] = slot
        self._runner().switch()
        del self._blocked_tasks[task]
        asyncio.tasks._enter_task(self.loop, task)

    def _runner(self) -> greenlet.greenlet:
        if self._idle:
            return self._idle.pop()
        self.prepare()
        assert self._factory is not None  # noqa: S101  # just prepared
        runner: greenlet.greenlet = self._factory.switch(greenlet.getcurrent())
        self._kept.append(runner)
        return runner

    def _make_runners(self, asker: greenlet.greenlet) -> None:
        """Start runners. A greenlet begins with the recursion depth of the one that starts it."""
        made: greenlet.greenlet | None = None
        while True:
            asker = asker.switch(made)
            made = greenlet.greenlet(self._run, greenlet.getcurrent())
            made.gr_context = Context()
            made.switch(greenlet.getcurrent())

    def _run(self, maker: greenlet.greenlet) -> None:
        me = greenlet.getcurrent()
        maker.switch()  # until there is something to do
        while True:
            self._check_end()
            if not self.ready:
                self.receive(None)
                continue
            item = self.ready.popleft()
            if isinstance(item, greenlet.greenlet):
                self._idle.append(me)
                item.switch()
            else:
                try:
                    item()
                except ENDS:
                    raise
                except BaseException as error:  # noqa: BLE001  # an exit, an interrupt, or an error of our own
                    self._finish_main(error)

    # --- frames --------------------------------------------------------------------------------------------------

    def receive(self, slot: Slot | None) -> None:
        """Send the collected calls, read one frame, and apply it. Report a deadlock if no frame is expected."""
        collects = gc.isenabled()
        gc.disable()  # finalizers may call and start things
        try:
            self._receive(slot)
        finally:
            if collects:
                gc.enable()

    def _receive(self, slot: Slot | None) -> None:
        self._fire_due()
        if self.ready or (slot is not None and slot.done):
            return
        if self._new_timers:
            self._new_timers = [timer for timer in self._new_timers if not timer.cancelled]
        if not self.channel.in_flight and not self._timers and not self._new_timers and not self._unplaced:
            told = self.waits() or "the program waits for nothing"
            error = Deadlock(f"nothing can run any more, all of it waits: {told}")
            self._finish_main(error, slot if greenlet.getcurrent() is self.main else None)
            return
        if self._timers or self._new_timers or self._unplaced or self.channel.wake_told is not None:
            self._send_wishes()
        elif self.channel.has_calls:
            self.channel.send_calls(None, None)
        self.channel.flush()
        self._apply(self.channel.read())

    def _apply(self, message: dict[str, Any]) -> None:
        self.clock.advance(message["now"])
        for moment in message.get("marks", ()):
            self._place(moment)
        if message["t"] == "reply":
            self.channel.answer(message)
            if self.ready:
                return
        elif message["t"] == "live":
            self.channel.send(encode_live())
        else:  # the host keeps one timer, and it has rung
            self.channel.wake_told = None
        self._fire_due()

    def _send_wishes(self) -> None:
        """Send the calls, with the moment and the delay after which the host wakes this program."""
        moments = [timer.when_us for group in self._unplaced for timer in group if not timer.cancelled]
        if self._timers:
            moments.append(self._timers[0][0])
        wake = min(moments, default=None)
        delay = min((timer.delay_us for timer in self._new_timers), default=None)
        if self._new_timers:
            self._unplaced.append(self._new_timers)
            self._new_timers = []
        if delay is not None or wake != self.channel.wake_told or self.channel.has_calls:
            self.channel.send_calls(wake, delay)
        moments = [] if wake is None else [wake - self.clock.now_us]
        if not self.channel.in_flight and min([*moments, *([] if delay is None else [delay])], default=0) > _LONG_US:
            self.channel.send_idle()

    def _finish_main(self, error: BaseException, slot: Slot | None = None) -> None:
        """Raise an error where the main program waits."""
        target = slot or next((each for each in reversed(self.waiting) if each.waiter is self.main), None)
        target = target or next(iter(self.waiting), None)
        if target is None:
            raise error
        self.finish(target)
        target.error = error

    def waits(self) -> str:
        """Return descriptions of all waiting code, with its lines."""
        tasks = self.waiting_tasks()
        waiting = [waiting_code(each.what, each.waiter) for each in self.waiting if not (tasks and each.is_loop)]
        return "; ".join([*waiting, *tasks])

    # --- timers --------------------------------------------------------------------------------------------------

    def call_in(self, seconds: float, action: Callable[[], None]) -> Timer:
        """Run an action after a delay. It counts from the moment at which the host reads of it."""
        delay_us = min(max(0.0, float(seconds * 1e6)), LONGEST_US)  # the program's number may be of any type
        timer = Timer(round(delay_us), self.clock.now_us + round(delay_us), action)
        if timer.delay_us == 0:
            self.ready.append(lambda: None if timer.cancelled else action())
        else:
            self._new_timers.append(timer)
        return timer

    def _place(self, moment: int) -> None:
        """Let the oldest timers that were sent count from this moment, at which the host read of them."""
        if not self._unplaced:
            return
        for timer in self._unplaced.popleft():
            timer.when_us = moment + timer.delay_us
            heapq.heappush(self._timers, (timer.when_us, next(self._order), timer))

    def _fire_due(self) -> None:
        while self._timers and (self._timers[0][2].cancelled or self._timers[0][0] <= self.clock.now_us):
            timer = heapq.heappop(self._timers)[2]
            if not timer.cancelled:
                self.ready.append(timer.action)


def child_context() -> Context:
    """Return a copy of the current context with a place of its own, for a task or a job that starts here."""
    context = copy_context()
    context.run(PLACE.set, here().child())
    return context


def fresh_context() -> Context:
    """Return an empty context with the place of the main program."""
    context = Context()
    context.run(PLACE.set, Place())
    return context
