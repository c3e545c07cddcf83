"""Which executions a list shows."""

from __future__ import annotations

from typing import get_args

import pytest

from codemode.executions.types.records import ExecutionStatus, NewExecution, StoredExecution
from codemode.serving.console.execution_list import GROUPS, Period, Wanted, duration_s

DAY_US = 86_400_000_000
NOON_US = 20_000 * DAY_US + DAY_US // 2


def stored(status: ExecutionStatus = "failed", created_us: int = NOON_US, **times: int) -> StoredExecution:
    request = NewExecution("ex_7", "key", "default", "shop.Pay(1)", b"", created_us)
    moments = {"updated_us": created_us, "ended_us": created_us, **times}
    return StoredExecution(request, status, "", 0, created_us, moments["updated_us"], moments["ended_us"])


def test_every_status_belongs_to_one_group() -> None:
    grouped = [status for group in GROUPS.values() for status in group]
    assert sorted(grouped) == sorted(get_args(ExecutionStatus))


@pytest.mark.parametrize(
    ("name", "since_us", "until_us"),
    [
        ("today", 20_000 * DAY_US, 0),
        ("yesterday", 19_999 * DAY_US, 20_000 * DAY_US),
        ("hour", NOON_US - DAY_US // 24, 0),
        ("week", NOON_US - 7 * DAY_US, 0),
        ("", 0, 0),
        ("never", 0, 0),
    ],
)
def test_a_day_begins_at_midnight_utc(name: str, since_us: int, until_us: int) -> None:
    assert Period.named(name, NOON_US) == Period(since_us, until_us)


@pytest.mark.parametrize(
    ("wanted", "fits"),
    [
        (Wanted(), True),
        (Wanted(GROUPS["failed"]), True),
        (Wanted(GROUPS["completed"]), False),
        (Wanted(text="shop.PAY"), True),
        (Wanted(text="refund"), False),
        (Wanted(text="ex_7"), True),
        (Wanted(period=Period(0, NOON_US)), False),
    ],
)
def test_an_execution_fits_by_status_text_and_time(wanted: Wanted, fits: bool) -> None:
    assert wanted.fits(stored()) is fits


def test_a_paused_execution_took_the_time_until_its_pause() -> None:
    assert duration_s(stored("paused", updated_us=NOON_US + 2_000_000, ended_us=0)) == 2.0
    assert duration_s(stored("failed", ended_us=NOON_US + 500_000)) == 0.5
