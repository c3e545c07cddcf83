"""Times as text, in the one form that every interface uses."""

from __future__ import annotations

from datetime import UTC, datetime

#: Microseconds of a second.
SECOND_US = 1_000_000

#: 9999-12-31T23:59:59Z, the last second that the form can express.
_LAST_US = 253_402_300_799 * SECOND_US


def has_passed(deadline: float, now: float) -> bool:
    """Return whether a deadline has passed. Every deadline is compared by this rule whenever what it bounds is used.

    Both times are in the same unit. What holds until a time is over at that time. Removing what is over only tidies up.
    """
    return now >= deadline


def rfc3339(microseconds: float) -> str:
    """Return microseconds since 1970 as RFC 3339 in UTC with milliseconds: `2026-11-25T09:30:00.125Z`.

    Times before 1970 and after the year 9999, which only damaged data holds, become the nearest valid time.
    """
    moment = datetime.fromtimestamp(min(max(microseconds, 0), _LAST_US) / SECOND_US, UTC)
    return moment.isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


def microseconds_of(text: str) -> int:
    """Return the microseconds since 1970 of an RFC 3339 time. Raises ValueError."""
    return round(datetime.fromisoformat(text).timestamp() * SECOND_US)
