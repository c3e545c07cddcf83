"""The scheduler. Everything that can run runs to rest; then one frame is read, and that is the only source of events.

Code that blocks (a plain tool call, `future.result()`, `time.sleep`, a lock) reads the next frame right there when
nothing else is ready. Otherwise its greenlet is parked and another one, a runner out of a pool, carries on. A program
that is only sequential, or only async, never switches inside a call.
"""

from __future__ import annotations

import gc
import heapq
from collections import deque
from contextlib import suppress
from contextvars import Context, copy_context
from itertools import count
from typing import TYPE_CHECKING, Any

import greenlet

from sandbox.guest.scheduling.ends import ENDS
from sandbox.guest.scheduling.identity import PLACE, Place, Worker, here
from sandbox.guest.scheduling.waits import place_of
from sandbox.protocol.guest_messages import encode_live

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

    from sandbox.guest.process.channel import Channel
    from sandbox.guest.scheduling.clock import Clock


#: Thirty years: who waits for longer, or for `math.inf`, waits for ever.
LONGEST_US = 1e15


class Deadlock(RuntimeError):
    """Nothing can run, and nothing is under way that could change it."""


class Slot:
    """What a piece of blocking code waits for: done by a frame, a timer or other code of the program."""

    __slots__ = ("abandon", "done", "error", "is_loop", "parked", "value", "waiter", "what")

    def __init__(self, what: str, *, is_loop: bool = False) -> None:
        self.done = False
        self.value: Any = None
        self.error: BaseException | None = None
        self.parked: greenlet.greenlet | None = None
        self.waiter: greenlet.greenlet | None = None
        self.abandon: Callable[[], None] | None = None  # called when the task that waits is cancelled
        self.what = what
        self.is_loop = is_loop  # of the loop, which waits for its tasks

    def result(self) -> Any:
        """Return the value, or raise the error."""
        if self.error is not None:
            raise self.error
        return self.value


class Timer:
    """A callback at a moment of the program's clock."""

    __slots__ = ("action", "cancelled", "delay_us", "when_us")

    def __init__(self, delay_us: int, action: Callable[[], None]) -> None:
        self.delay_us = delay_us
        self.when_us = 0
        self.action = action
        self.cancelled = False


#: Holds something while garbage is collected.
_COLLECTIONS: list[str] = []


def _note_collection(phase: str, _: dict[str, int]) -> None:
    _COLLECTIONS[:] = [phase] if phase == "start" else []


class Hub:
    """Owns the ready queue, the timers, the calls under way, and who waits."""

    def __init__(self, channel: Channel, clock: Clock) -> None:
        if _note_collection not in gc.callbacks:
            gc.callbacks.append(_note_collection)
        self.clock = clock
        clock.tired = lambda: self.sleep(0.001, "the clock")
        self.channel = channel
        self.ready: deque[Callable[[], None] | greenlet.greenlet] = deque()
        self.main = greenlet.getcurrent()
        self.waiting: dict[Slot, None] = {}
        self.blocked_tasks: dict[asyncio.Task[Any], Slot] = {}
        self._timers: list[tuple[int, int, Timer]] = []
        self._new_timers: list[Timer] = []
        self._unplaced: deque[list[Timer]] = deque()
        self._order = count()
        self._idle: list[greenlet.greenlet] = []
        self._kept: list[greenlet.greenlet] = []  # a parked greenlet that nobody holds would be ended
        self._factory: greenlet.greenlet | None = None
        #: Each waits for what is left of a kind, and tells whether anything was.
        self.endings: list[Callable[[], bool]] = []
        #: Tells what the tasks await.
        self.waiting_tasks: Callable[[], list[str]] = list
        self.leave_task: Callable[[], asyncio.Task[Any] | None] = lambda: None
        self.enter_task: Callable[[asyncio.Task[Any]], None] = lambda task: None

    # --- waiting -------------------------------------------------------------------------------------------------

    def wait(self, slot: Slot) -> Any:
        """Block this code until the slot is done, and return its value or raise its error."""
        self.check_calm()
        slot.waiter = greenlet.getcurrent()
        self.waiting[slot] = None
        try:
            while not slot.done:
                if self.ready:
                    self._park(slot)
                else:
                    self.receive(slot)
        finally:
            del self.waiting[slot]
        return slot.result()

    def wait_at_most(
        self, slot: Slot, seconds: float | None, value: Any = None, error: BaseException | None = None
    ) -> Any:
        """Do the same for so long; then the slot is done with this value or error."""
        timer = None if seconds is None else self.call_in(seconds, lambda: self.finish(slot, value, error))
        try:
            return self.wait(slot)
        finally:
            if timer is not None:
                timer.cancelled = True

    def check_calm(self) -> None:
        """Raise RuntimeError in the midst of a collection of garbage, which keeps its lists on this very stack."""
        if _COLLECTIONS:
            raise RuntimeError("what runs while garbage is collected can neither wait nor call")

    def finish(self, slot: Slot, value: Any = None, error: BaseException | None = None) -> None:
        """Mark a slot as done, and let its code go on."""
        if slot.done:
            return
        slot.done, slot.value, slot.error = True, value, error
        if slot.parked is not None:
            self.ready.append(slot.parked)
            slot.parked = None

    def sleep(self, seconds: float, what: str = "time.sleep") -> None:
        """Block this code for a time."""
        slot = Slot(what)
        self.call_in(seconds, lambda: self.finish(slot))
        self.wait(slot)

    def _park(self, slot: Slot) -> None:
        slot.parked = greenlet.getcurrent()
        task = self.leave_task()
        if task is not None:
            self.blocked_tasks[task] = slot
        self._runner().switch()
        if task is not None:
            del self.blocked_tasks[task]
            self.enter_task(task)

    def prepare(self) -> None:
        """Get ready to park code: called where the stack is still flat."""
        if self._factory is None:
            self._factory = greenlet.greenlet(self._make_runners, self.main)
            self._factory.switch(greenlet.getcurrent())

    def _runner(self) -> greenlet.greenlet:
        if self._idle:
            return self._idle.pop()
        self.prepare()
        assert self._factory is not None  # noqa: S101  # just prepared
        runner: greenlet.greenlet = self._factory.switch(greenlet.getcurrent())
        self._kept.append(runner)
        return runner

    def _make_runners(self, asker: greenlet.greenlet) -> None:
        """Start runners from here: a greenlet begins with the recursion depth of the one that starts it."""
        made: greenlet.greenlet | None = None
        while True:
            asker = asker.switch(made)
            made = greenlet.greenlet(self._run, greenlet.getcurrent())
            made.gr_context = Context()
            made.switch(greenlet.getcurrent())

    def _run(self, maker: greenlet.greenlet) -> None:
        me = greenlet.getcurrent()
        maker.switch()  # go back until there is something to do
        while True:
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
                except BaseException as error:  # noqa: BLE001  # an exit, an interrupt, and what went wrong here
                    self._raise_in_main(error)

    def _raise_in_main(self, error: BaseException) -> None:
        slot = self._main_slot()
        if slot is None:
            raise error
        self.finish(slot)
        slot.error = error

    def see_off(self) -> None:
        """Let what a program leaves running come to its end, as an interpreter does; not what waits for ever."""
        was_left = bool(self.endings)
        with suppress(Deadlock):
            while was_left:
                was_left = sum(wait() for wait in self.endings) > 0

    # --- frames --------------------------------------------------------------------------------------------------

    def receive(self, slot: Slot | None) -> None:
        """Send what has collected, read one frame, and apply it. With nothing to hope for, say so."""
        collects = gc.isenabled()
        gc.disable()  # what goes may call and start things
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
            self._give_up(slot)
            return
        if self._timers or self._new_timers or self._unplaced or self.channel.wake_told is not None:
            self._tell_wishes()
        elif self.channel.has_calls:
            self.channel.send_calls(None, None)
        self.channel.flush()
        message = self.channel.read()
        self.clock.advance(message["now"])
        for moment in message.get("marks", ()):
            self._place(moment)
        if message["t"] == "reply":
            self.channel.answer(message)
            if not self.ready:
                self._fire_due()
        else:
            if message["t"] == "live":
                self.channel.send(encode_live())
            else:  # the host keeps one timer, and it has rung
                self.channel.wake_told = None
            self._fire_due()

    def _tell_wishes(self) -> None:
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

    # --- timers --------------------------------------------------------------------------------------------------

    def call_in(self, seconds: float, action: Callable[[], None]) -> Timer:
        """Run an action after a delay, counted from when the host reads of it."""
        delay_us = min(max(0.0, float(seconds * 1e6)), LONGEST_US)  # the program's number may be of any kind
        timer = Timer(round(delay_us), action)
        if timer.delay_us == 0:
            timer.when_us = self.clock.now_us
            self.ready.append(lambda: None if timer.cancelled else action())
        else:
            timer.when_us = self.clock.now_us + timer.delay_us
            self._new_timers.append(timer)
        return timer

    def _place(self, moment: int) -> None:
        """The host has read of these timers at this moment: they count from there."""
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

    # --- the end of hope -------------------------------------------------------------------------------------------

    def _give_up(self, slot: Slot | None) -> None:
        told = self.waits() or "the program waits for nothing"
        error = Deadlock(f"nothing can run any more, all of it waits: {told}")
        target = slot if slot is not None and greenlet.getcurrent() is self.main else self._main_slot()
        if target is None:
            raise error
        self.finish(target, error=error)

    def waits(self) -> str:
        """Tell what all code that waits is waiting for, and in which lines."""
        tasks = self.waiting_tasks()
        waiting = [each.what + place_of(each.waiter) for each in self.waiting if not (tasks and each.is_loop)]
        return "; ".join([*waiting, *tasks])

    def _main_slot(self) -> Slot | None:
        for slot in reversed(self.waiting):
            if slot.waiter is self.main:
                return slot
        return next(iter(self.waiting), None)

    # --- jobs ------------------------------------------------------------------------------------------------------

    def cancel_blocked(self, task: asyncio.Task[Any], error: BaseException) -> bool:
        """Raise in a task that waits in sync code. Returns whether it did."""
        slot = self.blocked_tasks.get(task)
        if slot is None or slot.done:
            return False
        if slot.abandon is not None:
            slot.abandon()
        self.finish(slot, error=error)
        return True


def child_context() -> Context:
    """Return a copy of the current context with a place of its own: for a task or a job that starts here."""
    context = copy_context()
    context.run(PLACE.set, here().child())
    return context


def thread_context(thread: Worker) -> Context:
    """Do the same for what the program takes for another thread."""
    context = child_context()
    context.run(here).thread = thread
    return context


def fresh_context() -> Context:
    """Return a context for an execution: nothing of the host's, and the place of the main program."""
    context = Context()
    context.run(PLACE.set, Place())
    return context
