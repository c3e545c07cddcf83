# ruff: noqa: D102 - the methods are the library's, and mean what they mean there
"""Locks and their like of `threading`: code that would wait for another job is parked until it is let go."""

from __future__ import annotations

from collections import deque
from threading import BrokenBarrierError
from typing import TYPE_CHECKING, Any, ClassVar

from sandbox.guest.scheduling.hub import Hub, Slot
from sandbox.guest.scheduling.identity import here

if TYPE_CHECKING:
    from collections.abc import Callable


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
        try:
            return self._hub.wait_at_most(slot, timeout, value=False) is not False
        finally:
            if slot in self._waiting:
                self._waiting.remove(slot)

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


class Semaphore:
    """Counts; waits at zero."""

    _hub: ClassVar[Hub]

    def __init__(self, value: int = 1) -> None:
        if value < 0:
            raise ValueError("semaphore initial value must be >= 0")
        self._value = value
        self._limit: int | None = None
        self._gate = Gate(self._hub, "a semaphore")

    def acquire(self, blocking: bool = True, timeout: float | None = None) -> bool:  # noqa: FBT001, FBT002  # the library's signature
        while self._value <= 0:
            if not blocking or not self._gate.wait(None if timeout is None or timeout < 0 else timeout):
                return False
        self._value -= 1
        return True

    def release(self, n: int = 1) -> None:
        if n < 1:
            raise ValueError("n must be one or more")
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

    _hub: ClassVar[Hub]

    def __init__(self) -> None:
        self._is_held = False
        self._gate = Gate(self._hub, "a lock")

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

    def _is_owned(self) -> bool:
        return self._is_held

    def _let_go(self) -> int:
        """Release it for whoever waits for a condition. Returns how often it was taken."""
        self.release()
        return 1

    def _take_again(self, _: int) -> None:
        self.acquire()

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()


#: Stands for the main thread as the owner of a lock.
_MAIN = object()


def _thread() -> object:
    return here().thread or _MAIN


class RLock(Lock):
    """Held by one thread at a time, which may take it again."""

    def __init__(self) -> None:
        super().__init__()
        self._owner: Any = None
        self._depth = 0

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:  # noqa: FBT001, FBT002  # the library's signature
        if not self._is_owned() and not super().acquire(blocking, timeout):
            return False
        self._owner = _thread()
        self._depth += 1
        return True

    def release(self) -> None:
        if not self._is_owned():
            raise RuntimeError("cannot release un-acquired lock")
        self._depth -= 1
        if self._depth == 0:
            self._owner = None
            super().release()

    def _is_owned(self) -> bool:
        return self._owner is _thread()

    def _let_go(self) -> int:
        depth, self._depth = self._depth, 1
        self.release()
        return depth

    def _take_again(self, depth: int) -> None:
        self.acquire()
        self._depth = depth


class Event:
    """A flag that others wait for."""

    _hub: ClassVar[Hub]

    def __init__(self) -> None:
        self._flag = False
        self._gate = Gate(self._hub, "an event")

    def is_set(self) -> bool:
        return self._flag

    isSet = is_set  # noqa: N815  # the library's older name

    def set(self) -> None:
        self._flag = True
        self._gate.open_all()

    def clear(self) -> None:
        self._flag = False

    def wait(self, timeout: float | None = None) -> bool:
        return self._flag or self._gate.wait(timeout)


class Condition:
    """Waits for what others notify."""

    _hub: ClassVar[Hub]
    _new_lock: ClassVar[Any]

    def __init__(self, lock: Any = None) -> None:
        self._lock = lock or self._new_lock()
        self._gate = Gate(self._hub, "a condition")

    def acquire(self, *args: Any) -> Any:
        return self._lock.acquire(*args)

    def release(self) -> None:
        self._lock.release()

    def __enter__(self) -> Any:
        return self._lock.__enter__()

    def __exit__(self, *args: Any) -> None:
        self._lock.__exit__(*args)

    def wait(self, timeout: float | None = None) -> bool:
        self._check_owned("wait")
        is_ours = isinstance(self._lock, Lock)
        depth = self._lock._let_go() if is_ours else self._lock.release()
        try:
            return self._gate.wait(timeout)
        finally:
            if is_ours:
                self._lock._take_again(depth)
            else:
                self._lock.acquire()

    def wait_for(self, predicate: Callable[[], Any], timeout: float | None = None) -> Any:
        result = predicate()
        while not result:
            if not self.wait(timeout):
                return predicate()
            result = predicate()
        return result

    def notify(self, n: int = 1) -> None:
        self._check_owned("notify")
        self._gate.open(n)

    def notify_all(self) -> None:
        self._check_owned("notify")
        self._gate.open_all()

    notifyAll = notify_all  # noqa: N815  # the library's older name

    def _check_owned(self, what: str) -> None:
        if isinstance(self._lock, Lock) and not self._lock._is_owned():
            message = f"cannot {what} on un-acquired lock"
            raise RuntimeError(message)


class _Round:
    """Those who meet at a barrier at one time."""

    is_broken = False


class Barrier:
    """Waits until enough have come."""

    _hub: ClassVar[Hub]

    def __init__(self, parties: int, action: Any = None, timeout: float | None = None) -> None:
        self.parties = parties
        self.n_waiting = 0
        self._action = action
        self._timeout = timeout
        self._round = _Round()
        self._gate = Gate(self._hub, "a barrier")

    @property
    def broken(self) -> bool:
        return self._round.is_broken

    def wait(self, timeout: float | None = None) -> int:
        index, now = self.n_waiting, self._round
        if now.is_broken:
            raise BrokenBarrierError
        self.n_waiting += 1
        try:
            if self.n_waiting == self.parties:
                if self._action is not None:
                    self._action()
                self._begin()
            elif not self._gate.wait(self._timeout if timeout is None else timeout) or now.is_broken:
                raise BrokenBarrierError
        except BaseException:
            if now is self._round:
                self.abort()
            raise
        return index

    def abort(self) -> None:
        self._round.is_broken, self.n_waiting = True, 0
        self._gate.open_all()

    def reset(self) -> None:
        self._round.is_broken = self.n_waiting > 0
        self._begin()

    def _begin(self) -> None:
        self._round, self.n_waiting = _Round(), 0
        self._gate.open_all()


def bound(kind: type, module: str, **attributes: Any) -> Any:
    """Return a class like this one for one program: a subclass that knows its scheduler."""
    return type(kind.__name__, (kind,), {"__module__": module, "__doc__": kind.__doc__, **attributes})
