# ruff: noqa: D102 - the methods are the library's, and mean what they mean there
"""`threading` without threads: a thread is a job of the scheduler that has a name."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

from sandbox.guest.scheduling.ends import ENDS
from sandbox.guest.scheduling.hub import thread_context
from sandbox.guest.scheduling.identity import PLACE, Worker, here
from sandbox.guest.scheduling.locks import (
    Barrier,
    BoundedSemaphore,
    Condition,
    Event,
    Gate,
    Lock,
    RLock,
    Semaphore,
    bound,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sandbox.guest.scheduling.hub import Hub


class _Shared(NamedTuple):
    """What the threads of one program share."""

    hub: Hub
    numbers: Iterator[int]
    unnamed: Iterator[int]
    alive: dict[int, Thread]
    failed: Callable[[str, BaseException], None] | None


#: Where a class of threads keeps it: under a name that no class of the program can spell, to put its own there.
_SHARED = "_sandbox_.shared"


def _shared(thread: object) -> _Shared:
    found: _Shared = getattr(type(thread), _SHARED)
    return found


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
        shared = _shared(self)
        number = next(shared.numbers)
        self.name = str(name) if name else _new_name(next(shared.unnamed), target)
        self.ident: int | None = None
        self._daemonic = bool(daemon)
        self._number = number
        self._target, self._args, self._kwargs = target, tuple(args), dict(kwargs or {})
        self._started = "new"
        self._gate = Gate(shared.hub, f"{self.name}.join()")

    def run(self) -> None:
        if self._target is not None:
            self._target(*self._args, **self._kwargs)

    def start(self) -> None:
        if self._started != "new":
            raise RuntimeError("threads can only be started once")
        self._started, self.ident = "alive", self._number
        context, shared = thread_context(Worker(self.name, self)), _shared(self)
        shared.alive[self._number] = self
        shared.hub.ready.append(lambda: context.run(self._work))

    @property
    def daemon(self) -> bool:
        return self._daemonic

    @daemon.setter
    def daemon(self, value: bool) -> None:
        if self._started == "alive":
            raise RuntimeError("cannot set daemon status of active thread")
        self._daemonic = bool(value)

    def join(self, timeout: float | None = None) -> None:
        if self._started == "new":
            raise RuntimeError("cannot join thread before it is started")
        if _current() is self:
            raise RuntimeError("cannot join current thread")
        if self._started == "alive":
            self._gate.wait(timeout)

    def is_alive(self) -> bool:
        return self._started == "alive"

    def getName(self) -> str:  # noqa: N802  # the library's older name, as those below
        return self.name

    def setName(self, name: str) -> None:  # noqa: N802
        self.name = str(name)

    def isDaemon(self) -> bool:  # noqa: N802
        return self.daemon

    def setDaemon(self, daemonic: bool) -> None:  # noqa: FBT001, N802
        self.daemon = daemonic

    def _work(self) -> None:
        try:
            self.run()
        except SystemExit:
            return  # ends the thread alone
        except ENDS:
            raise
        except BaseException as error:  # noqa: BLE001  # as in the library: told, and the others go on
            note = _shared(self).failed
            if note is not None:
                note(self.name, error)
        finally:
            self._started = "ended"
            del _shared(self).alive[self._number]
            self._gate.open_all()


def _current() -> Any:
    """Return the thread that the program has started and that runs, if it is one."""
    place = PLACE.get()
    return None if place is None or place.thread is None else place.thread.thread


def _new_name(number: int, target: Any) -> str:
    function = getattr(target, "__name__", None)
    return f"Thread-{number} ({function})" if isinstance(function, str) else f"Thread-{number}"


class Timer(Thread):
    """A thread that begins later."""

    def __init__(self, interval: float, function: Any, args: Any = None, kwargs: Any = None) -> None:
        super().__init__(target=function, args=args or (), kwargs=kwargs)
        self.interval = interval
        self._off = False
        self._finished = Gate(_shared(self).hub, self.name)

    def cancel(self) -> None:
        self._off = True
        self._finished.open_all()

    def run(self) -> None:
        if not self._off:
            self._finished.wait(self.interval)
        if not self._off:
            super().run()


class local:  # noqa: N801  # the library's name
    """`threading.local`: an object with other attributes in each thread."""

    __slots__ = ("__dict__", "_sandbox_parts")

    def __new__(cls, /, *arguments: Any, **options: Any) -> Any:
        if (arguments or options) and cls.__init__ is object.__init__:
            raise TypeError("Initialization arguments are not supported")
        made = object.__new__(cls)
        variables = object.__getattribute__(made, "__dict__")
        object.__setattr__(made, "_sandbox_parts", (arguments, options, {here().thread: variables}))
        return made

    def __getattribute__(self, name: str) -> Any:
        _enter(self)
        return object.__getattribute__(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        _enter(self)
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        _enter(self)
        object.__delattr__(self, name)


def _enter(local: Any) -> None:
    """Give the object the attributes of the thread that runs."""
    read = object.__getattribute__
    arguments, options, by_thread = read(local, "_sandbox_parts")
    thread = here().thread
    found = by_thread.get(thread)
    if found is read(local, "__dict__"):
        return
    object.__setattr__(local, "__dict__", by_thread.setdefault(thread, {}))
    if found is None:
        type(local).__init__(local, *arguments, **options)


def make_threading(
    hub: Hub, numbers: Iterator[int], failed: Callable[[str, BaseException], None] | None = None
) -> dict[str, Any]:
    """Return the names of `threading` for one program; `failed` is told of a thread that ends with an error."""
    names = {kind.__name__: bound(kind, "threading", _hub=hub) for kind in (Semaphore, Lock, Event, Barrier)}
    names["BoundedSemaphore"] = bound(BoundedSemaphore, "threading", _hub=hub)
    names["RLock"] = bound(RLock, "threading", _hub=hub)
    names["Condition"] = bound(Condition, "threading", _hub=hub, _new_lock=names["RLock"])
    shared = _Shared(hub, numbers, unnamed=count(1), alive={}, failed=failed)
    thread = bound(Thread, "threading", **{_SHARED: shared})
    main = thread(name="MainThread")
    main.ident, main._started = main._number, "alive"

    def current_thread() -> Any:
        worker = here().thread
        if worker is None:
            return main
        if worker.thread is None:
            worker.thread = made = thread(name=worker.name)
            made.ident, made._started = made._number, "alive"
        return worker.thread

    def finish() -> bool:
        left = [each for each in shared.alive.values() if not each.daemon]
        for each in left:
            Thread.join(each)
        return bool(left)

    hub.endings.append(finish)

    return {
        **names,
        "Thread": thread,
        "Timer": bound(Timer, "threading", **{_SHARED: shared}),
        **dict.fromkeys(("current_thread", "currentThread"), current_thread),
        "main_thread": lambda: main,
        "get_ident": lambda: current_thread().ident,
        "get_native_id": lambda: current_thread().ident,
        "ThreadError": RuntimeError,
        "local": bound(local, "threading"),
        "enumerate": lambda: [main, *shared.alive.values()],
        # None of the system's is started, however many a program asks for.
        **dict.fromkeys(("active_count", "activeCount"), lambda: 1),
        "TIMEOUT_MAX": 1e9,
    }
