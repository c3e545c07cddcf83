"""`concurrent.futures` without threads: jobs run one after another, and while one waits the others go on."""

from __future__ import annotations

from collections import deque
from concurrent.futures import CancelledError, InvalidStateError
from concurrent.futures.thread import BrokenThreadPool
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from sandbox.guest.scheduling.ends import ENDS
from sandbox.guest.scheduling.hub import Hub, Slot, child_context
from sandbox.guest.scheduling.identity import Worker, here
from sandbox.guest.scheduling.locks import bound

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

FIRST_COMPLETED, FIRST_EXCEPTION, ALL_COMPLETED = "FIRST_COMPLETED", "FIRST_EXCEPTION", "ALL_COMPLETED"
#: Jobs that run at one time where the program names no number: the same on every machine.
WORKERS = 32
_BROKEN = "A thread initializer failed, the thread pool is not usable anymore"


class Future:
    """The outcome of a job. Hashes by order of creation, so that sets of futures are repeatable."""

    __slots__ = ("_callbacks", "_error", "_hub", "_number", "_state", "_value", "_waiters")

    def __init__(self, hub: Hub, number: int) -> None:
        self._hub = hub
        self._number = number
        self._state = "pending"
        self._value: Any = None
        self._error: BaseException | None = None
        self._callbacks: list[Callable[[Any], Any]] = []
        self._waiters: list[Slot] = []

    def __hash__(self) -> int:
        return self._number

    def __repr__(self) -> str:
        return f"<Future {self._number} {self._state}>"

    def done(self) -> bool:
        """Tell whether it has ended in any way."""
        return self._state in ("finished", "cancelled")

    def running(self) -> bool:
        """Tell whether its job has begun and not ended."""
        return self._state == "running"

    def cancelled(self) -> bool:
        """Tell whether it was cancelled."""
        return self._state == "cancelled"

    def cancel(self) -> bool:
        """Cancel a job that has not begun."""
        if self._state != "pending":
            return self._state == "cancelled"
        self._end("cancelled")
        return True

    def result(self, timeout: float | None = None) -> Any:
        """Wait for the job, and return its value or raise its error."""
        self.wait(timeout)
        if self._state == "cancelled":
            raise CancelledError
        if self._error is not None:
            raise self._error
        return self._value

    def exception(self, timeout: float | None = None) -> BaseException | None:
        """Wait for the job, and return its error or None."""
        self.wait(timeout)
        if self._state == "cancelled":
            raise CancelledError
        return self._error

    def add_done_callback(self, fn: Callable[[Any], Any]) -> None:
        """Call a function with the future when it has ended; at once, if it has."""
        if self.done():
            self._call(fn)
        else:
            self._callbacks.append(fn)

    def set_result(self, result: Any) -> None:
        """End with a value."""
        self._check_open()
        self._value = result
        self._end("finished")

    def set_exception(self, exception: BaseException | None) -> None:
        """End with an error."""
        self._check_open()
        self._error = exception
        self._end("finished")

    def set_running_or_notify_cancel(self) -> bool:
        """Begin, unless it was cancelled."""
        if self._state == "cancelled":
            return False
        self._state = "running"
        return True

    def wait(self, timeout: float | None = None) -> None:
        """Wait until it has ended. Raises TimeoutError."""
        if self.done():
            return
        slot = Slot("future.result()")
        self._waiters.append(slot)
        try:
            self._hub.wait_at_most(slot, timeout, error=TimeoutError())
        finally:
            self._waiters.remove(slot)

    def _check_open(self) -> None:
        if self.done():
            message = f"{self._state.upper()}: {self!r}"
            raise InvalidStateError(message)

    def _end(self, state: str) -> None:
        self._state = state
        for slot in self._waiters:
            self._hub.finish(slot)
        callbacks, self._callbacks = self._callbacks, []
        for fn in callbacks:
            self._call(fn)

    def _call(self, fn: Callable[[Any], Any]) -> None:
        try:
            fn(self)
        except Exception:  # noqa: BLE001  # as in the library: a callback's error is dropped
            return


class DoneAndNot(NamedTuple):
    """What `wait` gives."""

    done: set[Future]
    not_done: set[Future]


class _Job(NamedTuple):
    future: Future
    run: Callable[[Worker], None]


class ThreadPoolExecutor:
    """Runs jobs, at most `max_workers` of them begun and not ended at one time."""

    _hub: ClassVar[Hub]
    _new_future: ClassVar[Any]  # makes a future
    _pools: ClassVar[Iterator[int]]

    def __init__(
        self,
        max_workers: int | None = None,
        thread_name_prefix: str = "",
        initializer: Any = None,
        initargs: tuple[Any, ...] = (),
    ) -> None:
        if max_workers is not None and max_workers <= 0:
            raise ValueError("max_workers must be greater than 0")
        self._room = max_workers or WORKERS
        self._prefix = thread_name_prefix or f"ThreadPoolExecutor-{next(self._pools)}"
        self._initializer, self._initargs = initializer, initargs
        self._made = 0
        self._idle: deque[Worker] = deque()
        self._queue: deque[_Job] = deque()
        self._futures: list[Future] = []
        self._closed = self._is_broken = False
        self._hub.endings.append(self._finish)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future:
        """Start a job."""
        if self._is_broken:
            raise BrokenThreadPool(_BROKEN)
        if self._closed:
            raise RuntimeError("cannot schedule new futures after shutdown")
        future: Future = self._new_future()
        context = child_context()
        self._futures.append(future)
        self._queue.append(_Job(future, lambda worker: context.run(self._work, worker, future, fn, args, kwargs)))
        self._begin()
        return future

    def map(
        self, fn: Callable[..., Any], *iterables: Iterable[Any], timeout: float | None = None, chunksize: int = 1
    ) -> Iterator[Any]:
        """Start a job for each item, and give their values in order."""
        futures = [self.submit(fn, *items) for items in zip(*iterables, strict=False)]

        clock = self._hub.clock
        deadline_us = clock.now_us + (timeout or 0) * 1e6

        def values() -> Iterator[Any]:
            try:
                for future in futures:
                    yield future.result(None if timeout is None else (deadline_us - clock.now_us) / 1e6)
            finally:
                for future in futures:
                    future.cancel()

        return values()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT001, FBT002  # the library's signature
        """Take no more jobs, and wait for those there are."""
        self._closed = True
        if cancel_futures:
            for job in self._queue:
                job.future.cancel()
        if wait:
            self._finish()

    def _finish(self) -> bool:
        """Wait for all jobs. Returns whether any was left."""
        was_left = False
        for future in self._futures:
            if not future.done():
                was_left = True
                future.wait()
        return was_left

    def __enter__(self) -> ThreadPoolExecutor:
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()

    def _begin(self) -> None:
        while self._queue and self._room > 0:
            job = self._queue.popleft()
            if job.future.done():
                continue
            self._room -= 1
            self._hub.ready.append(partial(job.run, self._idle.popleft() if self._idle else self._new_worker()))

    def _new_worker(self) -> Worker:
        self._made += 1
        return Worker(f"{self._prefix}_{self._made - 1}")

    def _is_ready(self, worker: Worker) -> bool:
        """Do once in each worker what it begins with. Where that fails, so do all jobs."""
        if self._initializer is not None and not worker.is_ready and not self._is_broken:
            worker.is_ready = True
            try:
                self._initializer(*self._initargs)
            except ENDS:
                raise
            except BaseException:  # noqa: BLE001  # whatever it raises
                self._is_broken = True
        return not self._is_broken

    def _work(
        self, worker: Worker, future: Future, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        here().thread = worker
        try:
            if not self._is_ready(worker):
                if not future.done():
                    future.set_exception(BrokenThreadPool(_BROKEN))
            elif future.set_running_or_notify_cancel():
                try:
                    value = fn(*args, **kwargs)
                except ENDS:
                    raise
                except BaseException as error:  # noqa: BLE001  # whatever it raises is the job's outcome
                    future.set_exception(error)
                else:
                    future.set_result(value)
        finally:
            self._room += 1
            self._idle.append(worker)
            self._begin()


def make_names(hub: Hub, numbers: Iterator[int]) -> dict[str, Any]:
    """Return the names of `concurrent.futures` for one program."""

    class ProgramFuture(Future):
        """What jobs give; made by hand, one that its maker ends."""

        def __init__(self) -> None:
            super().__init__(hub, next(numbers))

    ProgramFuture.__name__ = ProgramFuture.__qualname__ = "Future"
    ProgramFuture.__module__ = "concurrent.futures"
    pool = bound(ThreadPoolExecutor, "concurrent.futures", _hub=hub, _new_future=ProgramFuture, _pools=count())
    return {
        "Future": ProgramFuture,
        "ThreadPoolExecutor": pool,
        "Executor": pool,
        "as_completed": lambda fs, timeout=None: as_completed(hub, fs, timeout),
        "wait": lambda fs, timeout=None, return_when=ALL_COMPLETED: wait(hub, fs, timeout, return_when),
        "FIRST_COMPLETED": FIRST_COMPLETED,
        "FIRST_EXCEPTION": FIRST_EXCEPTION,
        "ALL_COMPLETED": ALL_COMPLETED,
        "BrokenThreadPool": BrokenThreadPool,
        "TimeoutError": TimeoutError,
    }


def as_completed(hub: Hub, fs: Iterable[Future], timeout: float | None = None) -> Iterator[Future]:
    """Give the futures in the order in which they end."""
    waiting = dict.fromkeys(fs)
    ended: deque[Future] = deque()
    gate: list[Slot] = []

    def note(future: Future) -> None:
        ended.append(future)
        if gate:
            hub.finish(gate.pop())

    for future in sorted(waiting, key=lambda future: future._number):
        future.add_done_callback(note)
    deadline = None if timeout is None else hub.clock.now_us + timeout * 1e6
    total = len(waiting)
    for given in range(total):
        while not ended:
            _wait_at_gate(hub, gate, deadline, f"{total - given} (of {total}) futures unfinished")
        yield ended.popleft()


def _wait_at_gate(hub: Hub, gate: list[Slot], deadline: float | None, late: str) -> None:
    slot = Slot("as_completed")
    gate.append(slot)
    left = None if deadline is None else max(0.0, (deadline - hub.clock.now_us) / 1e6)
    hub.wait_at_most(slot, left, error=TimeoutError(late))


def wait(hub: Hub, fs: Iterable[Future], timeout: float | None = None, return_when: str = ALL_COMPLETED) -> DoneAndNot:
    """Wait for futures: for all, the first, or the first that fails."""
    futures = sorted(set(fs), key=lambda future: future._number)

    def is_enough() -> bool:
        done = [future for future in futures if future.done()]
        if return_when == FIRST_COMPLETED and done:
            return True
        if return_when == FIRST_EXCEPTION and any(future._error is not None for future in done):
            return True
        return len(done) == len(futures)

    if not is_enough():
        slot = Slot("wait")
        for future in futures:
            future.add_done_callback(lambda _: hub.finish(slot) if is_enough() else None)
        hub.wait_at_most(slot, timeout)
    done = {future for future in futures if future.done()}
    return DoneAndNot(done, set(futures) - done)
