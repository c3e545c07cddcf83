"""Threads and locks as jobs of the scheduler: what stands in for `_thread` under the library's `threading`."""

from __future__ import annotations

import sys
from collections import deque
from contextvars import copy_context
from itertools import count
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, ClassVar

from sandbox.guest.scheduling.hub import Hub, Slot, child_context
from sandbox.guest.scheduling.identity import MAIN_THREAD, PLACE, here

if TYPE_CHECKING:
    from collections.abc import Callable


class Lock:
    """A lock. A job that waits for it is parked."""

    _hub: ClassVar[Hub]

    def __init__(self) -> None:
        self._is_held = False
        self._waiting: deque[Slot] = deque()

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:  # noqa: FBT001, FBT002  # the library's signature
        """Take the lock. Return False if it is held by another job and the time is up."""
        while self._is_held:
            if not blocking or not self._wait(None if timeout < 0 else timeout):
                return False
        self._is_held = True
        return True

    def release(self) -> None:
        """Release the lock, and resume the job that has waited longest."""
        if not self._is_held:
            raise RuntimeError("release unlocked lock")
        self._is_held = False
        waiting = next((slot for slot in self._waiting if not slot.done), None)
        if waiting is not None:
            self._hub.finish(waiting, value=True)

    def locked(self) -> bool:
        """Return whether a job holds the lock."""
        return self._is_held

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()

    def _wait(self, timeout: float | None) -> bool:
        slot = Slot("")
        self._waiting.append(slot)
        try:
            return bool(self._hub.wait_at_most(slot, timeout, value=False))
        finally:
            self._waiting.remove(slot)


class Handle:
    """The end of one thread (`_thread._ThreadHandle`, Python 3.13)."""

    def __init__(self, lock: Lock, ident: int = 0) -> None:
        self.ident = ident
        self.lock = lock
        lock.acquire()

    def join(self, timeout: float | None = None) -> None:
        """Wait until the thread has ended."""
        if self.lock.acquire(timeout=-1 if timeout is None else timeout):
            self.lock.release()

    def is_done(self) -> bool:
        """Return whether the thread has ended."""
        return not self.lock.locked()


def get_ident() -> int:
    """Return the number of the thread that runs."""
    place = PLACE.get()
    return MAIN_THREAD if place is None else place.thread


def thread_module(hub: Hub) -> SimpleNamespace:
    """Return the names of `_thread` that `threading` needs, in all versions of Python that are supported."""
    numbers = count(MAIN_THREAD + 1)
    lock = type("lock", (Lock,), {"__module__": "_thread", "_hub": hub})
    running: dict[int, Lock] = {}  # released when the thread ends

    def start(function: Callable[..., Any], arguments: tuple[Any, ...], ident: int) -> int:
        context = child_context()
        context.run(here).thread = ident
        if sys.version_info >= (3, 14):  # where `Thread` enters a context of its own
            function.__self__._context = context.run(copy_context)

        def run() -> None:
            try:
                context.run(function, *arguments)
            finally:
                running.pop(ident).release()

        hub.ready.append(run)
        return ident

    def start_joinable_thread(function: Callable[[], Any], handle: Handle, **_: Any) -> None:
        handle.ident = next(numbers)
        running[handle.ident] = handle.lock
        start(function, (), handle.ident)

    def set_sentinel() -> Lock:
        made: Lock = lock()
        running[get_ident()] = made
        return made

    return SimpleNamespace(
        LockType=lock,
        lock=lock,
        allocate_lock=lock,
        get_ident=get_ident,
        get_native_id=get_ident,
        error=RuntimeError,
        TIMEOUT_MAX=1e9,
        stack_size=lambda size=0: 0,
        daemon_threads_allowed=lambda: True,
        _is_main_interpreter=lambda: True,
        _local=SimpleNamespace,
        # Python 3.13 and later
        start_joinable_thread=start_joinable_thread,
        _ThreadHandle=lambda: Handle(lock()),
        _make_thread_handle=lambda ident: Handle(lock(), ident),
        _get_main_thread_ident=lambda: MAIN_THREAD,
        _shutdown=None,
        # Python 3.11 and 3.12
        start_new_thread=lambda function, arguments: start(function, arguments, next(numbers)),
        _set_sentinel=set_sentinel,
    )
