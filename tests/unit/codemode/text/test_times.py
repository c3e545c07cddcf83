from __future__ import annotations

import pytest

from codemode.text.times import microseconds_of, rfc3339


@pytest.mark.parametrize(
    ("microseconds", "text"),
    [
        (0, "1970-01-01T00:00:00.000Z"),
        (1_764_063_000_125_900, "2025-11-25T09:30:00.125Z"),
        (-1, "1970-01-01T00:00:00.000Z"),
        (10**300, "9999-12-31T23:59:59.000Z"),
    ],
)
def test_a_time_is_utc_with_milliseconds(microseconds: int, text: str) -> None:
    assert rfc3339(microseconds) == text


def test_a_time_is_read_back_to_the_millisecond() -> None:
    assert microseconds_of(rfc3339(1_764_063_000_125_900)) == 1_764_063_000_125_000
    with pytest.raises(ValueError, match="Invalid isoformat string"):
        microseconds_of("yesterday")
