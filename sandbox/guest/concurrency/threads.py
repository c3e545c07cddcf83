# ruff: noqa: D102 - the methods are the library's, and mean what they mean there
"""`threading` without threads: a thread is a job of the scheduler that has a name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from sandbox.guest.concurrency.hub import child_context
from sandbox.guest.concurrency.identity import PLACE
from sandbox.guest.concurrency.locks import (
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

    from sandbox.guest.concurrency.hub import Hub


class Thread:
    """A job with a name."""

    _sandbox_hub: ClassVar[Hub]
    _sandbox_numbers: ClassVar[Iterator[int]]
    _sandbox_by_place: ClassVar[dict[Any, Any]]
    _sandbox_failed: ClassVar[Any]

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
        number = next(self._sandbox_numbers)
        self.name = name or f"Thread-{number}"
        self.ident: int | None = None
        self.daemon = bool(daemon)
        self._number = number
        self._target, self._args, self._kwargs = target, tuple(args), dict(kwargs or {})
        self._state = "new"
        self._gate = Gate(self._sandbox_hub, f"{self.name}.join()")

    def run(self) -> None:
        if self._target is not None:
            self._target(*self._args, **self._kwargs)

    def start(self) -> None:
        if self._state != "new":
            raise RuntimeError("threads can only be started once")
        self._state, self.ident = "alive", self._number
        context = child_context()
        self._sandbox_by_place[context[PLACE]] = self
        self._sandbox_hub.ready.append(lambda: context.run(self._work))

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
            note = self._sandbox_failed
            if note is not None:
                note(self.name, error)
        finally:
            self._state = "ended"
            self._gate.open_all()


class Timer(Thread):
    """A thread that begins later."""

    def __init__(self, interval: float, function: Any, args: Any = None, kwargs: Any = None) -> None:
        super().__init__(target=function, args=args or (), kwargs=kwargs)
        self.interval = interval
        self._off = False

    def cancel(self) -> None:
        self._off = True
        self._gate.open_all()

    def run(self) -> None:
        self._sandbox_hub.sleep(self.interval)
        if not self._off:
            super().run()


def make_threading(
    hub: Hub, numbers: Iterator[int], failed: Callable[[str, BaseException], None] | None = None
) -> dict[str, Any]:
    """Return the names of `threading` for one program; `failed` is told of a thread that ends with an error."""
    names = {kind.__name__: bound(kind, "threading", _hub=hub) for kind in (Semaphore, Lock, Event, Barrier)}
    names["BoundedSemaphore"] = bound(BoundedSemaphore, "threading", _hub=hub)
    names["RLock"] = bound(RLock, "threading", _hub=hub)
    names["Condition"] = bound(Condition, "threading", _hub=hub, _new_lock=names["RLock"])
    shared: dict[str, Any] = {
        "_sandbox_hub": hub,
        "_sandbox_numbers": numbers,
        "_sandbox_by_place": {},
        "_sandbox_failed": staticmethod(failed) if failed is not None else None,
    }
    thread = bound(Thread, "threading", **shared)
    main = thread(name="MainThread")
    main.ident = 0

    def current_thread() -> Any:
        return shared["_sandbox_by_place"].get(PLACE.get(), main)

    return {
        **names,
        "Thread": thread,
        "Timer": bound(Timer, "threading", **shared),
        "current_thread": current_thread,
        "main_thread": lambda: main,
        "get_ident": lambda: current_thread().ident,
        "active_count": lambda: 1,
        "TIMEOUT_MAX": 1e9,
    }
