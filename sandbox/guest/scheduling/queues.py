# ruff: noqa: D102 - the methods are the library's, and mean what they mean there
"""`queue` without threads: `get` and `put` park the job that has to wait."""

from __future__ import annotations

import heapq
import queue as library
import sys
from collections import deque
from queue import Empty, Full
from typing import TYPE_CHECKING, Any, ClassVar

from sandbox.guest.scheduling.locks import Gate, Lock, bound

if TYPE_CHECKING:
    from sandbox.guest.scheduling.hub import Hub


#: From Python 3.13 on.
_ShutDown: type[Exception] = getattr(library, "ShutDown", Exception)


class Queue:
    """First in, first out."""

    _hub: ClassVar[Hub]
    _new_lock: ClassVar[Any]

    def __init__(self, maxsize: int = 0) -> None:
        self.maxsize = maxsize
        self.unfinished_tasks = 0
        self._items: Any = self._store()
        self.mutex = self._new_lock()
        self._not_empty, self._not_full = Gate(self._hub, "queue.get()"), Gate(self._hub, "queue.put()")
        self._all_done = Gate(self._hub, "queue.join()")
        self.is_shutdown = False

    def _store(self) -> Any:
        return deque()

    def _add(self, item: Any) -> None:
        self._items.append(item)

    def _take(self) -> Any:
        return self._items.popleft()

    @property
    def queue(self) -> Any:
        return self._items

    def qsize(self) -> int:
        return len(self._items)

    def empty(self) -> bool:
        return not self._items

    def full(self) -> bool:
        return 0 < self.maxsize <= len(self._items)

    def put(self, item: Any, block: bool = True, timeout: float | None = None) -> None:  # noqa: FBT001, FBT002  # the library's signature
        while self.full() and not self.is_shutdown:
            if not block or not self._not_full.wait(timeout):
                raise Full
        if self.is_shutdown:
            raise _ShutDown
        self._add(item)
        self.unfinished_tasks += 1
        self._not_empty.open()

    def get(self, block: bool = True, timeout: float | None = None) -> Any:  # noqa: FBT001, FBT002  # the library's signature
        while not self._items:
            if self.is_shutdown:
                raise _ShutDown
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

    if sys.version_info >= (3, 13):

        def shutdown(self, immediate: bool = False) -> None:  # noqa: FBT001, FBT002  # the library's signature
            self.is_shutdown = True
            if immediate:
                self.unfinished_tasks = max(0, self.unfinished_tasks - len(self._items))
                self._items.clear()
                self._all_done.open_all()
            self._not_empty.open_all()
            self._not_full.open_all()


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


def make_queue(hub: Hub) -> dict[str, Any]:
    """Return the names of `queue` for one program."""
    lock = bound(Lock, "threading", _hub=hub)
    names = {
        kind.__name__: bound(kind, "queue", _hub=hub, _new_lock=lock) for kind in (Queue, LifoQueue, PriorityQueue)
    }
    return {**names, "SimpleQueue": names["Queue"]}
