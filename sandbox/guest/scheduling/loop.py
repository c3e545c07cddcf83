"""The event loop of `asyncio`: no selector, no sockets, no signals. The hub runs its callbacks."""

from __future__ import annotations

import asyncio
import reprlib
from asyncio import events
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING, Any, cast

from sandbox.guest.scheduling.awaitables import is_awaitable, wrapped
from sandbox.guest.scheduling.ends import ENDS
from sandbox.guest.scheduling.hub import Deadlock, Hub, Slot, child_context
from sandbox.guest.scheduling.identity import RUN
from sandbox.guest.scheduling.waits import waiting_task

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from contextvars import Context


#: Tasks that a deadlock message describes.
_MOST_WAITS = 10


class Task(asyncio.Task[Any]):
    """The library's task, with a hash by order of creation. If it waits in a plain call, `cancel` raises there."""

    def __init__(
        self, coroutine: Coroutine[Any, Any, Any], *, loop: Loop, number: int, name: str, context: Context
    ) -> None:
        self._number = number
        self._cancelled_calls = 0  # requests to cancel that the library's task does not count
        super().__init__(coroutine, loop=cast("Any", loop), name=name, context=context)

    def __hash__(self) -> int:
        return self._number

    def __repr__(self) -> str:
        return _shown(self, f"Task {self.get_name()!r}")

    def cancel(self, msg: Any | None = None) -> bool:
        """Request the end of the task."""
        loop: Any = self.get_loop()
        if loop._hub.cancel_blocked(self, asyncio.CancelledError(*(() if msg is None else (msg,)))):
            self._cancelled_calls += 1
            return True
        return super().cancel(msg)

    def cancelling(self) -> int:
        """Return the number of requests to cancel."""
        return super().cancelling() + self._cancelled_calls

    def uncancel(self) -> int:
        """Take back one request to cancel."""
        if self._cancelled_calls:
            self._cancelled_calls -= 1
        else:
            super().uncancel()
        return self.cancelling()


class NumberedFuture(asyncio.Future[Any]):
    """The library's future, with a hash by order of creation."""

    def __init__(self, *, loop: Loop) -> None:
        self._number = next(loop._numbers)
        super().__init__(loop=cast("Any", loop))

    def __hash__(self) -> int:
        return self._number

    def __repr__(self) -> str:
        return _shown(self, "Future")


def _shown(future: Any, kind: str) -> str:
    """Return the text of a future. The library's text also names callbacks, and the files that they are in."""
    state = future._state.lower()
    if state != "finished":
        return f"<{kind} {state}>"
    error = future._exception
    told = f"result={reprlib.repr(future._result)}" if error is None else f"exception={error!r}"
    return f"<{kind} {state} {told}>"


class Loop:
    """The methods of a loop that asyncio and programs use."""

    #: Makes the executor of `to_thread` and `run_in_executor(None, ...)`, one for each `asyncio.run`.
    new_executor: Callable[[], Any]

    def __init__(self, hub: Hub, note: Callable[[str], None]) -> None:
        self._hub = hub
        self._numbers = count(1)
        self._names = count(1)
        self._note = note
        self._runs = count(1)
        self._waiting_runs = 0
        self._tasks: dict[int, tuple[Task, int]] = {}
        self._executors: dict[int, Any] = {}
        self._for_ever: list[Slot] = []
        self._handler: Callable[[Any, dict[str, Any]], Any] | None = None
        hub.loop = self
        hub.waiting_tasks = self._waiting_tasks

    # --- callbacks and time --------------------------------------------------------------------------------------

    def call_soon(self, callback: Callable[..., Any], *args: Any, context: Context | None = None) -> asyncio.Handle:
        """Run a callback after everything that is ready now."""
        handle = asyncio.Handle(callback, args, cast("Any", self), context)
        self._hub.ready.append(lambda: None if handle._cancelled else handle._run())
        return handle

    call_soon_threadsafe = call_soon

    def call_later(
        self, delay: float, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        """Run a callback after a delay in seconds."""
        handle: Any = asyncio.TimerHandle(self.time() + delay, callback, args, cast("Any", self), context)
        handle._scheduled = self._hub.call_in(delay, handle._run)
        return cast("asyncio.TimerHandle", handle)

    def _timer_handle_cancelled(self, handle: Any) -> None:
        handle._scheduled.cancelled = True

    def call_at(
        self, when: float, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        """Run a callback at a moment of the loop's clock."""
        return self.call_later(when - self.time(), callback, *args, context=context)

    def time(self) -> float:
        """Return the loop's clock in seconds."""
        return (self._hub.clock.now_us - self._hub.clock.started_us) / 1e6

    # --- futures and tasks -----------------------------------------------------------------------------------------

    def create_future(self) -> asyncio.Future[Any]:
        """Return a new future."""
        return NumberedFuture(loop=self)

    def create_task(self, coro: Any, *, name: str | None = None, context: Context | None = None, **_: Any) -> Task:
        """Start a coroutine, or any other awaitable, as a task."""
        if not asyncio.iscoroutine(coro):
            if not is_awaitable(coro):
                message = f"a coroutine was expected, got {coro!r}"
                raise TypeError(message)
            coro = wrapped(coro)
        inner = child_context() if context is None else context
        name = f"Task-{next(self._names)}" if name is None else str(name)
        task = Task(coro, loop=self, number=next(self._numbers), name=name, context=inner)
        tasks = self._tasks
        tasks[task._number] = (task, RUN.get())
        task.add_done_callback(lambda done: tasks.pop(done._number, None))
        return task

    def _waiting_tasks(self) -> list[str]:
        waits = (waiting_task(task) for _, (task, _) in sorted(self._tasks.items()))
        return list(dict.fromkeys(filter(None, waits)))[:_MOST_WAITS]

    def run_in_executor(self, executor: Any, func: Callable[..., Any], *args: Any) -> asyncio.Future[Any]:
        """Run a function as a job, and return a future for it."""
        if executor is None:
            run = RUN.get()
            executor = self._executors.get(run) or self._executors.setdefault(run, self.new_executor())
        return asyncio.wrap_future(executor.submit(func, *args), loop=cast("Any", self))

    # --- running -----------------------------------------------------------------------------------------------------

    def run_until_complete(self, future: Any) -> Any:
        """Block until an awaitable is done, and return its result."""
        done = asyncio.ensure_future(future, loop=cast("Any", self))
        slot = Slot("asyncio.run", is_loop=True)
        done.add_done_callback(lambda _: self._hub.finish(slot))
        self._waiting_runs += 1
        try:
            self._hub.wait(slot)
        finally:
            self._waiting_runs -= 1
        return done.result()

    def run_main(self, coroutine: Any) -> Any:
        """Run a coroutine as `asyncio.run` does: cancel its tasks at the end, and wait for its jobs."""
        number = next(self._runs)
        outer = RUN.set(number)
        try:
            return self.run_until_complete(coroutine)
        finally:
            self._cancel_tasks(number)
            with suppress(Deadlock):  # of jobs that wait for ever
                if number in self._executors:
                    self._executors.pop(number).shutdown()
            RUN.reset(outer)

    def _cancel_tasks(self, run: int) -> None:
        left = [task for _, (task, its_run) in sorted(self._tasks.items()) if its_run == run]
        for task in left:
            task.cancel()
        if left:
            self.run_until_complete(asyncio.gather(*left, return_exceptions=True))

    def run_forever(self) -> None:
        """Block until `stop()`."""
        slot = Slot("loop.run_forever()")
        self._for_ever.append(slot)
        self._hub.wait(slot)

    def stop(self) -> None:
        """End `run_forever()`."""
        if self._for_ever:
            self._hub.finish(self._for_ever.pop())

    def is_running(self) -> bool:
        """Return whether an awaitable is run to its end."""
        return self._waiting_runs > 0

    # --- there is one loop, which ends with the program --------------------------------------------------------------

    def get_debug(self) -> bool:
        """Return False: there is no debug mode."""
        return False

    def is_closed(self) -> bool:
        """Return False: the loop is open as long as the program runs."""
        return False

    def close(self, *_: Any) -> None:
        """Do nothing."""

    set_debug = close

    async def shutdown_asyncgens(self, *_: Any) -> None:
        """Do nothing."""

    shutdown_default_executor = shutdown_asyncgens

    # --- errors that nobody waits for --------------------------------------------------------------------------------

    def set_exception_handler(self, handler: Callable[[Any, dict[str, Any]], Any] | None) -> None:
        """Call a function with errors, instead of noting them."""
        self._handler = handler

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """Report an error."""
        error = context.get("exception")
        if isinstance(error, ENDS):
            raise error
        handler, self._handler = self._handler, None
        if handler is None:
            self.default_exception_handler(context)
            return
        try:
            handler(self, context)
        finally:
            self._handler = handler

    def default_exception_handler(self, context: dict[str, Any]) -> None:
        """Note an error."""
        error = context.get("exception")
        message = context.get("message", "error")
        self._note(f"{message}: {type(error).__name__}: {_text_of(error)}" if error else f"{message}")


def _text_of(error: BaseException) -> str:
    """Return `str(error)`, which may run code of the program."""
    try:
        return f"{error}"
    except ENDS:
        raise
    except BaseException as second:  # noqa: BLE001  # whatever that code does
        return f"(its message could not be made: {type(second).__name__})"


def install(loop: Loop) -> None:
    """Make the loop the library's running one, everywhere in a program."""
    events._set_running_loop(cast("Any", loop))


def uninstall() -> None:
    """Remove the running loop."""
    events._set_running_loop(None)
