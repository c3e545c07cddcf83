"""The clocks of services: their time zone and their present date, as configured or as their description states."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

_AREAS = "Africa|America|Antarctica|Asia|Atlantic|Australia|Europe|Indian|Pacific"

#: A zone of the IANA database in a sentence about times, which does not only give an example.
_ZONE = re.compile(
    rf"\b(?:time ?zones?|times?|timestamps|dates?|days?)\b(?P<between>[^.\n]{{0,60}}?)"
    rf"\b(?P<zone>(?:{_AREAS})/[A-Z][A-Za-z_]+(?:/[A-Z][A-Za-z_]+)?)",
    re.IGNORECASE,
)
_EXAMPLE = re.compile(r"e\.g|example|such as|like|format", re.IGNORECASE)

#: `Today is 2026-01-15` and `"today" is the `today` of get_info`.
_TODAY = re.compile(r"""\btoday["'`”]? is (\d{4}-\d{2}-\d{2}\b|the `?\w+`? of `?\w+(?:\.\w+)*`?)""", re.IGNORECASE)

_READ = 20_000  # characters of a description


@dataclass(frozen=True, slots=True)
class Clock:
    """The clock of a service.

    `zone` is a name of the IANA time zone database. `today` and `now` are an ISO date and time, or say in words where
    the service states them. Each is "" if nothing is known.
    """

    zone: str = ""
    today: str = ""
    now: str = ""

    def __bool__(self) -> bool:
        return bool(self.zone or self.today or self.now)

    def __str__(self) -> str:
        facts = (("time zone", self.zone), ("today is", self.today), ("now is", self.now))
        return ", ".join(f"{name} {value}" for name, value in facts if value)

    def date_at(self, moment: datetime) -> date | None:
        """Return the date of the service at a moment (with a zone). None if only the service knows it."""
        for text in (self.today, self.now):
            if text:
                return _date(text)
        return moment.astimezone(ZoneInfo(self.zone)).date() if self.zone else moment.date()


UNKNOWN = Clock()


def is_zone(name: str) -> bool:
    """Whether a name is in the time zone database."""
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True


def clock_in(description: str) -> Clock:
    """Return the clock that a description states. A zone counts if it is the only one that is stated."""
    text = description[:_READ]
    stated = [match for match in _ZONE.finditer(text) if not _EXAMPLE.search(match["between"])]
    zones = {match["zone"] for match in stated if is_zone(match["zone"])}
    today = _TODAY.search(text)
    return Clock(zones.pop() if len(zones) == 1 else "", today[1] if today else "")


def _date(text: str) -> date | None:
    try:
        return datetime.fromisoformat(text).date()
    except ValueError:
        return None
