"""The clocks of services."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from codemode.text.clock import UNKNOWN, Clock, clock_in

EVENING = datetime(2026, 11, 26, 23, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("description", "clock"),
    [
        ("All times are in Europe/Berlin.", Clock(zone="Europe/Berlin")),
        ("Time zone: `America/Argentina/Buenos_Aires`", Clock(zone="America/Argentina/Buenos_Aires")),
        ('"today" is the `today` of get_gym_info.', Clock(today="the `today` of get_gym_info")),
        ("Test data. Today is 2026-01-15, always.", Clock(today="2026-01-15")),
        ("A time zone such as Europe/Berlin is accepted.", UNKNOWN),
        ("timezone, e.g. Europe/Berlin", UNKNOWN),
        ("Times are in Europe/Berlin; dates in America/New_York.", UNKNOWN),
        ("Times are in Europe/Atlantis.", UNKNOWN),
        ("Offices: Europe/Berlin", UNKNOWN),
        ("Today is the best day to start. Times are UTC.", UNKNOWN),
        ("", UNKNOWN),
    ],
)
def test_a_description_states_a_clock_only_without_doubt(description: str, clock: Clock) -> None:
    assert clock_in(description) == clock


@pytest.mark.parametrize(
    ("clock", "day"),
    [
        (UNKNOWN, date(2026, 11, 26)),
        (Clock(zone="Europe/Berlin"), date(2026, 11, 27)),
        (Clock(zone="America/New_York"), date(2026, 11, 26)),
        (Clock(zone="Europe/Berlin", today="2026-01-15"), date(2026, 1, 15)),
        (Clock(now="2026-01-16T09:00:00+01:00"), date(2026, 1, 16)),
        (Clock(today="the `today` of get_gym_info"), None),
    ],
)
def test_the_date_of_a_service(clock: Clock, day: date | None) -> None:
    assert clock.date_at(EVENING) == day


def test_a_clock_in_words() -> None:
    assert str(Clock("Europe/Berlin", "2026-01-15")) == "time zone Europe/Berlin, today is 2026-01-15"
