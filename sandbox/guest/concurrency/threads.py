"""`threading` and `queue` without threads: the same jobs, locks that park, queues that wait."""

from __future__ import annotations

import heapq
from collections import deque
from queue import Empty, Full
from typing import TYPE_CHECKING, Any

from sandbox.guest.concurrency.hub import Hub, Slot, child_context
from sandbox.guest.concurrency.identity import PLACE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Gate:
    """Code that waits for a condition of ours, in the order in which it came."""

    def __init__(self, hub: Hub, what: str) -> None:
        self._hub = hub
        self._what = what
        self._waiting: deque[Slot] = deque()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait to be let go. Returns False when the time was up."""
        slot = Slot(self._what)
        self._waiting.append(slot)
        timer = None
        if timeout is not None:
            timer = self._hub.call_in(timeout, lambda: self._hub.finish(slot, value=False))
        try:
            return self._hub.wait(slot) is not False
        finally:
            if slot in self._waiting:
                self._waiting.remove(slot)
            if timer is not None:
                timer.cancelled = True

    def open(self, count: int = 1) -> None:
        """Let the first ones go."""
        while count > 0 and self._waiting:
            slot = self._waiting.popleft()
            if not slot.done:
                count -= 1
                self._hub.finish(slot, value=True)

    def open_all(self) -> None:
        """Let all go."""
        self.open(len(self._waiting))


def make_threading(hub: Hub, numbers: Iterator[int]) -> dict[str, Any]:
    """Return the names of `threading` for one program."""

    class Semaphore:
        """Counts; waits at zero."""

        def __init__(self, value: int = 1) -> None:
            if value < 0:
                raise ValueError("semaphore initial value must be >= 0")
            self._value = value
            self._limit: int | None = None
            self._gate = Gate(hub, "a semaphore")

        def acquire(self, blocking: bool = True, timeout: float | None = None) -> bool:  # noqa: FBT001, FBT002  # the library's signature
            while self._value <= 0:
                if not blocking or not self._gate.wait(None if timeout is None or timeout < 0 else timeout):
                    return False
            self._value -= 1
            return True

        def release(self, n: int = 1) -> None:
            if self._limit is not None and self._value + n > self._limit:
                raise ValueError("Semaphore released too many times")
            self._value += n
            self._gate.open(n)

        def __enter__(self) -> bool:
            return self.acquire()

        def __exit__(self, *_: object) -> None:
            self.release()

    class BoundedSemaphore(Semaphore):
        """A semaphore that refuses to count above where it began."""

        def __init__(self, value: int = 1) -> None:
            super().__init__(value)
            self._limit = value

    class Lock:
        """Held by one at a time."""

        def __init__(self) -> None:
            self._is_held = False
            self._gate = Gate(hub, "a lock")

        def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:  # noqa: FBT001, FBT002  # the library's signature
            while self._is_held:
                if not blocking or not self._gate.wait(None if timeout < 0 else timeout):
                    return False
            self._is_held = True
            return True

        def release(self) -> None:
            if not self._is_held:
                raise RuntimeError("release unlocked lock")
            self._is_held = False
            self._gate.open()

        def locked(self) -> bool:
            return self._is_held

        def __enter__(self) -> bool:
            return self.acquire()

        def __exit__(self, *_: object) -> None:
            self.release()

    class RLock(Lock):
        """Held by one job at a time, which may take it again."""

        def __init__(self) -> None:
            super().__init__()
            self._owner: Any = None
            self._depth = 0

        def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:  # noqa: FBT001, FBT002  # the library's signature
            me = PLACE.get()
            if self._owner is not me and not super().acquire(blocking, timeout):
                return False
            self._owner = me
            self._depth += 1
            return True

        def release(self) -> None:
            self._depth -= 1
            if self._depth <= 0:
                self._owner = None
                super().release()

    class Event:
        """A flag that others wait for."""

        def __init__(self) -> None:
            self._flag = False
            self._gate = Gate(hub, "an event")

        def is_set(self) -> bool:
            return self._flag

        def set(self) -> None:
            self._flag = True
            self._gate.open_all()

        def clear(self) -> None:
            self._flag = False

        def wait(self, timeout: float | None = None) -> bool:
            if not self._flag:
                self._gate.wait(timeout)
            return self._flag

    class Condition:
        """Waits for what others notify."""

        def __init__(self, lock: Any = None) -> None:
            self._lock = lock or RLock()
            self._gate = Gate(hub, "a condition")

        def acquire(self, *args: Any) -> Any:
            return self._lock.acquire(*args)

        def release(self) -> None:
            self._lock.release()

        def __enter__(self) -> Any:
            return self._lock.__enter__()

        def __exit__(self, *args: Any) -> None:
            self._lock.__exit__(*args)

        def wait(self, timeout: float | None = None) -> bool:
            self._lock.release()
            try:
                return self._gate.wait(timeout)
            finally:
                self._lock.acquire()

        def wait_for(self, predicate: Callable[[], Any], timeout: float | None = None) -> Any:
            result = predicate()
            while not result:
                if not self.wait(timeout):
                    return predicate()
                result = predicate()
            return result

        def notify(self, n: int = 1) -> None:
            self._gate.open(n)

        def notify_all(self) -> None:
            self._gate.open_all()

    class Barrier:
        """Waits until enough have come."""

        def __init__(self, parties: int, action: Any = None, timeout: float | None = None) -> None:
            self.parties = parties
            self.n_waiting = 0
            self._action = action
            self._gate = Gate(hub, "a barrier")

        def wait(self, timeout: float | None = None) -> int:
            index = self.n_waiting
            self.n_waiting += 1
            if self.n_waiting == self.parties:
                if self._action is not None:
                    self._action()
                self.n_waiting = 0
                self._gate.open_all()
            else:
                self._gate.wait(timeout)
            return index

    thread, current, main_thread = make_threads(hub, numbers)
    return {
        "Thread": thread,
        "Timer": _timer_class(hub, thread),
        "Lock": Lock,
        "RLock": RLock,
        "Semaphore": Semaphore,
        "BoundedSemaphore": BoundedSemaphore,
        "Event": Event,
        "Condition": Condition,
        "Barrier": Barrier,
        "current_thread": current,
        "main_thread": main_thread,
        "get_ident": lambda: current().ident,
        "active_count": lambda: 1,
        "TIMEOUT_MAX": 1e9,
    }


def make_threads(hub: Hub, numbers: Iterator[int]) -> tuple[type, Callable[[], Any], Callable[[], Any]]:
    """Return the class of threads, what gives the current one, and what gives the main one."""
    by_place: dict[Any, Any] = {}

    class Thread:
        """A job with a name."""

        def __init__(
            self,
            group: None = None,
            target: Any = None,
            name: str | None = None,
            args: Any = (),
            kwargs: Any = None,
            *,
            daemon: bool | None = None,
        ) -> None:
            number = next(numbers)
            self.name = name or f"Thread-{number}"
            self.ident: int | None = None
            self.daemon = bool(daemon)
            self._number = number
            self._target, self._args, self._kwargs = target, tuple(args), dict(kwargs or {})
            self._state = "new"
            self._gate = Gate(hub, f"{self.name}.join()")

        def run(self) -> None:
            if self._target is not None:
                self._target(*self._args, **self._kwargs)

        def start(self) -> None:
            if self._state != "new":
                raise RuntimeError("threads can only be started once")
            self._state, self.ident = "alive", self._number
            context = child_context()
            by_place[context[PLACE]] = self
            hub.ready.append(lambda: context.run(self._work))

        def join(self, timeout: float | None = None) -> None:
            if self._state == "new":
                raise RuntimeError("cannot join thread before it is started")
            if self._state == "alive":
                self._gate.wait(timeout)

        def is_alive(self) -> bool:
            return self._state == "alive"

        def _work(self) -> None:
            try:
                self.run()
            except Exception as error:  # noqa: BLE001  # as in the library: told, and the others go on
                note = getattr(hub, "thread_failed", None)
                if note is not None:
                    note(self.name, error)
            finally:
                self._state = "ended"
                self._gate.open_all()

    main = Thread(name="MainThread")
    main.ident = main._number

    def current_thread() -> Any:
        return by_place.get(PLACE.get(), main)

    return Thread, current_thread, lambda: main


def _timer_class(hub: Hub, thread: Any) -> type:
    class Timer(thread):  # type: ignore[misc]
        """A thread that begins later."""

        def __init__(self, interval: float, function: Any, args: Any = None, kwargs: Any = None) -> None:
            super().__init__(target=function, args=args or (), kwargs=kwargs)
            self.interval = interval
            self._off = False

        def cancel(self) -> None:
            self._off = True
            self._gate.open_all()

        def run(self) -> None:
            hub.sleep(self.interval)
            if not self._off:
                super().run()

    return Timer


def make_queue(hub: Hub) -> dict[str, Any]:
    """Return the names of `queue` for one program."""

    class Queue:
        """First in, first out."""

        def __init__(self, maxsize: int = 0) -> None:
            self.maxsize = maxsize
            self.unfinished_tasks = 0
            self._items: Any = self._store()
            self._not_empty, self._not_full = Gate(hub, "queue.get()"), Gate(hub, "queue.put()")
            self._all_done = Gate(hub, "queue.join()")

        def _store(self) -> Any:
            return deque()

        def _add(self, item: Any) -> None:
            self._items.append(item)

        def _take(self) -> Any:
            return self._items.popleft()

        def qsize(self) -> int:
            return len(self._items)

        def empty(self) -> bool:
            return not self._items

        def full(self) -> bool:
            return 0 < self.maxsize <= len(self._items)

        def put(self, item: Any, block: bool = True, timeout: float | None = None) -> None:  # noqa: FBT001, FBT002  # the library's signature
            while self.full():
                if not block or not self._not_full.wait(timeout):
                    raise Full
            self._add(item)
            self.unfinished_tasks += 1
            self._not_empty.open()

        def get(self, block: bool = True, timeout: float | None = None) -> Any:  # noqa: FBT001, FBT002  # the library's signature
            while not self._items:
                if not block or not self._not_empty.wait(timeout):
                    raise Empty
            item = self._take()
            self._not_full.open()
            return item

        def put_nowait(self, item: Any) -> None:
            self.put(item, block=False)

        def get_nowait(self) -> Any:
            return self.get(block=False)

        def task_done(self) -> None:
            if self.unfinished_tasks <= 0:
                raise ValueError("task_done() called too many times")
            self.unfinished_tasks -= 1
            if not self.unfinished_tasks:
                self._all_done.open_all()

        def join(self) -> None:
            while self.unfinished_tasks:
                self._all_done.wait()

    class LifoQueue(Queue):
        """Last in, first out."""

        def _take(self) -> Any:
            return self._items.pop()

    class PriorityQueue(Queue):
        """Smallest first."""

        def _store(self) -> Any:
            return []

        def _add(self, item: Any) -> None:
            heapq.heappush(self._items, item)

        def _take(self) -> Any:
            return heapq.heappop(self._items)

    return {
        "Queue": Queue,
        "SimpleQueue": Queue,
        "LifoQueue": LifoQueue,
        "PriorityQueue": PriorityQueue,
        "Empty": Empty,
        "Full": Full,
    }
