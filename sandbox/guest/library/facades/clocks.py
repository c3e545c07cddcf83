"""Facades that read the clock of the execution: `time`, `timeit`, dates, and the dates of mails."""

from __future__ import annotations

import calendar
import datetime
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from sandbox.guest.library.scene import Scene
    from sandbox.guest.scheduling.clock import Clock

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


def date_reader(clock: Clock) -> Callable[[Any, str], Any]:
    """Return the reader of `now`, `today` and `utcnow` for classes of dates. Local time is UTC."""

    def moment() -> datetime.datetime:
        return _EPOCH + datetime.timedelta(microseconds=clock.read_us())

    def methods(kind: Any, name: str) -> Callable[..., Any]:
        def now(tz: datetime.tzinfo | None = None) -> Any:
            at = moment()
            at = at.replace(tzinfo=None) if tz is None else at.astimezone(tz)
            fields = (at.year, at.month, at.day, at.hour, at.minute, at.second, at.microsecond)
            return kind(*fields, tzinfo=at.tzinfo, fold=at.fold)

        def today() -> Any:
            if issubclass(kind, datetime.datetime):
                return now()
            at = moment()
            return kind(at.year, at.month, at.day)

        return {"now": now, "today": today, "utcnow": lambda: now()}[name]

    return methods


def time_names(scene: Scene) -> dict[str, Any]:
    """Return the names of `time`. Computing takes no time; sleeping does."""
    clock = scene.clock

    def sleep(seconds: float, /) -> None:
        if seconds < 0:
            raise ValueError("sleep length must be non-negative")
        scene.calls.waited()
        scene.hub.sleep(seconds)

    def gmtime(seconds: float | None = None, /) -> time.struct_time:
        return time.gmtime(clock.read() if seconds is None else seconds)

    def localtime(seconds: float | None = None, /) -> time.struct_time:
        return time.struct_time((*gmtime(seconds), "UTC", 0))

    return {
        "time": clock.read,
        "time_ns": lambda: clock.read_us() * 1000,
        **dict.fromkeys(("perf_counter", "monotonic"), clock.elapsed),
        **dict.fromkeys(("perf_counter_ns", "monotonic_ns"), lambda: int(clock.elapsed() * 1e9)),
        **dict.fromkeys(("process_time", "thread_time"), clock.worked),
        **dict.fromkeys(("process_time_ns", "thread_time_ns"), lambda: int(clock.worked() * 1e9)),
        "sleep": sleep,
        "gmtime": gmtime,
        "localtime": localtime,
        "mktime": lambda moment: float(calendar.timegm(moment)),
        "ctime": lambda seconds=None: time.asctime(gmtime(seconds)),
        "asctime": lambda moment=None: time.asctime(gmtime() if moment is None else moment),
        "strftime": lambda form, moment=None: time.strftime(form, gmtime() if moment is None else moment),
        **dict.fromkeys(("timezone", "altzone", "daylight"), 0),
        "tzname": ("UTC", "UTC"),
    }


def timeit_names(scene: Scene) -> dict[str, Any]:
    """Return the names of `timeit`, for functions only: text is never run."""
    clock = scene.clock

    def timeit(stmt: Any, setup: Any = None, timer: Any = None, number: int = 1_000_000, globals: Any = None) -> float:  # noqa: A002  # the library's signature
        if not callable(stmt) or not (setup in (None, "pass") or callable(setup)):
            raise TypeError("timeit() takes functions here, not text: timeit(lambda: f(1), number=100)")
        if callable(setup):
            setup()
        started = clock.elapsed()
        for _ in range(number):
            stmt()
        return clock.elapsed() - started

    def repeat_(
        stmt: Any, setup: Any = None, timer: Any = None, repeat: int = 5, number: int = 1_000_000
    ) -> list[float]:
        return [timeit(stmt, setup, number=number) for _ in range(repeat)]

    return {"timeit": timeit, "repeat": repeat_, "default_timer": clock.elapsed}


def email_names(scene: Scene) -> dict[str, Any]:
    """Return the names of `email.utils` that read the clock."""
    import email.utils  # noqa: PLC0415  # few programs need it

    def formatdate(timeval: float | None = None, localtime: bool = False, usegmt: bool = False) -> str:  # noqa: FBT001, FBT002  # the library's signature
        return email.utils.formatdate(scene.clock.read() if timeval is None else timeval, localtime, usegmt)

    def localtime(dt: datetime.datetime | None = None) -> datetime.datetime:
        return _EPOCH + datetime.timedelta(microseconds=scene.clock.read_us()) if dt is None else dt.astimezone()

    return {"formatdate": formatdate, "localtime": localtime}
