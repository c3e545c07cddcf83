"""`time`, and the parts of `datetime` and its like that read a clock: all show the time of the execution."""

from __future__ import annotations

import calendar
import datetime
import email.utils
import time
from typing import TYPE_CHECKING, Any

from sandbox.guest.names.zones import zones
from sandbox.guest.runtime.classes import BASES
from sandbox.guest.runtime.handed_out import handed_out
from sandbox.guest.runtime.loose import loose

if TYPE_CHECKING:
    from collections.abc import Callable

    from sandbox.guest.concurrency.clock import Clock
    from sandbox.guest.names.scene import Scene

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


def clock_now(clock: Clock) -> Callable[[type, str], Callable[..., Any]]:
    """Return what gives `now`, `today` and `utcnow` of a class of dates. The zone without a zone is UTC."""

    def moment() -> datetime.datetime:
        return _EPOCH + datetime.timedelta(microseconds=clock.read_us())

    def methods(kind: Any, name: str) -> Callable[..., Any]:
        def now(tz: datetime.tzinfo | None = None) -> Any:
            at = moment()
            at = at.replace(tzinfo=None) if tz is None else at.astimezone(tz)
            return kind(
                at.year, at.month, at.day, at.hour, at.minute, at.second, at.microsecond, tzinfo=at.tzinfo, fold=at.fold
            )

        def today() -> Any:
            if issubclass(kind, datetime.datetime):
                return now()
            at = moment()
            return kind(at.year, at.month, at.day)

        return {"now": now, "today": today, "utcnow": lambda: now()}[name]

    return methods


def _time(scene: Scene) -> dict[str, Any]:
    clock = scene.clock
    elapsed, worked = loose(clock.elapsed), loose(clock.worked)

    def sleep(seconds: float, /) -> None:
        if seconds < 0:
            raise ValueError("sleep length must be non-negative")
        scene.calls.waited()
        scene.hub.sleep(seconds)

    def seconds_or_now(seconds: float | None) -> float:
        return clock.read() if seconds is None else seconds

    def gmtime(seconds: float | None = None, /) -> time.struct_time:
        return time.gmtime(seconds_or_now(seconds))

    def localtime(seconds: float | None = None, /) -> time.struct_time:
        return time.struct_time((*gmtime(seconds), "UTC", 0))

    def ctime(seconds: float | None = None, /) -> str:
        return time.asctime(gmtime(seconds))

    def asctime(moment: Any = None, /) -> str:
        return time.asctime(gmtime() if moment is None else moment)

    def strftime(form: str, moment: Any = None, /) -> str:
        return time.strftime(form, gmtime() if moment is None else moment)

    return {
        "time": loose(clock.read),
        "time_ns": lambda: clock.read_us() * 1000,
        "perf_counter": elapsed,
        "perf_counter_ns": lambda: int(clock.elapsed() * 1e9),
        "monotonic": elapsed,
        "monotonic_ns": lambda: int(clock.elapsed() * 1e9),
        **dict.fromkeys(("process_time", "thread_time"), worked),
        **dict.fromkeys(("process_time_ns", "thread_time_ns"), lambda: int(worked() * 1e9)),
        "sleep": sleep,
        "gmtime": gmtime,
        "localtime": localtime,
        "mktime": lambda moment: float(calendar.timegm(moment)),
        "ctime": ctime,
        "asctime": asctime,
        "strftime": strftime,
        "strptime": time.strptime,
        "struct_time": time.struct_time,
        "timezone": 0,
        "altzone": 0,
        "daylight": 0,
        "tzname": ("UTC", "UTC"),
    }


def _email(scene: Scene) -> dict[str, Any]:
    def formatdate(timeval: float | None = None, localtime: bool = False, usegmt: bool = False) -> str:  # noqa: FBT001, FBT002  # the library's signature
        return email.utils.formatdate(scene.clock.read() if timeval is None else timeval, localtime, usegmt)

    def localtime(dt: datetime.datetime | None = None) -> datetime.datetime:
        return _EPOCH + datetime.timedelta(microseconds=scene.clock.read_us()) if dt is None else dt.astimezone()

    return {"formatdate": formatdate, "localtime": localtime}


def _zoneinfo(scene: Scene) -> dict[str, Any]:
    return {"available_timezones": lambda: set(zones())}


def _timeit(scene: Scene) -> dict[str, Any]:
    """Measures functions; text is never run."""
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

    def repeat(
        stmt: Any, setup: Any = None, timer: Any = None, repeat: int = 5, number: int = 1_000_000
    ) -> list[float]:
        return [timeit(stmt, setup, number=number) for _ in range(repeat)]

    return {"timeit": timeit, "repeat": repeat, "default_timer": loose(clock.elapsed)}


def _calendar(scene: Scene) -> dict[str, Any]:
    """What prints goes to the output of the program, and its first day of the week is its own."""

    @handed_out
    class TextCalendar(calendar.TextCalendar):
        def prweek(self, theweek: Any, width: int) -> None:
            scene.output.write(self.formatweek(theweek, width))

        def prmonth(self, theyear: int, themonth: int, w: int = 0, l: int = 0) -> None:  # noqa: E741
            scene.output.write(self.formatmonth(theyear, themonth, w, l))

        def pryear(self, theyear: int, w: int = 0, l: int = 0, c: int = 6, m: int = 3) -> None:  # noqa: E741
            scene.output.write(self.formatyear(theyear, w, l, c, m))

    TextCalendar.__module__, TextCalendar.__qualname__ = "calendar", "TextCalendar"
    BASES.add(TextCalendar)
    text = TextCalendar()

    def setfirstweekday(firstweekday: int) -> None:
        if not 0 <= firstweekday <= 6:
            raise calendar.IllegalWeekdayError(firstweekday)
        text.firstweekday = firstweekday

    methods: dict[str, Callable[..., Any]] = {
        "calendar": text.formatyear,
        "month": text.formatmonth,
        "monthcalendar": text.monthdayscalendar,
        "prcal": text.pryear,
        "prmonth": text.prmonth,
        "week": text.formatweek,
        "weekheader": text.formatweekheader,
    }
    return {
        **{name: loose(method) for name, method in methods.items()},
        "TextCalendar": TextCalendar,
        "firstweekday": lambda: text.firstweekday,
        "setfirstweekday": setfirstweekday,
    }


BUILDERS: dict[str, Callable[[Scene], dict[str, Any]]] = {
    "time": _time,
    "calendar": _calendar,
    "email.utils": _email,
    "zoneinfo": _zoneinfo,
    "timeit": _timeit,
}
