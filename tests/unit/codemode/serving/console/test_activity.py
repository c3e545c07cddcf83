"""Calls and money of a day."""

from __future__ import annotations

import pytest

from codemode.executions.types.records import LABEL, NewExecution, StoredExecution
from codemode.serving.console.activity import Activity
from codemode.serving.console.execution_list import Figures

HOUR_US = 3_600_000_000
NOW_US = 500_000 * HOUR_US + HOUR_US // 2


def stored(created_us: int, label: str = "") -> StoredExecution:
    settings = {LABEL: label} if label else {}
    request = NewExecution("ex_1", "key:1", "default", "1", b"", created_us, settings=settings)
    return StoredExecution(request, "completed", "", 0, created_us, created_us, created_us)


def test_an_execution_counts_in_its_hour_for_its_key_and_for_its_sources() -> None:
    activity = Activity(NOW_US)
    activity.add(stored(NOW_US, "Ada"), Figures(4, (("gym", 3), ("shop", 1))), 0.4)
    activity.add(stored(NOW_US - HOUR_US), Figures(), 0.1)
    data = activity.to_json(5, has_prices=True)
    assert [(one["calls"], one["cost"]) for one in data["hours"][-2:]] == [(0, 0.1), (4, 0.4)]
    assert data["by_key"] == [{"name": "Ada", "calls": 4, "cost": 0.4}, {"name": "key:1", "calls": 0, "cost": 0.1}]
    assert [one["name"] for one in data["by_source"]] == ["gym", "shop"]
    assert [one["cost"] for one in data["by_source"]] == pytest.approx([0.3, 0.1])


def test_an_execution_of_more_than_a_day_ago_counts_in_the_first_hour() -> None:
    activity = Activity(NOW_US)
    activity.add(stored(NOW_US - 24 * HOUR_US), Figures(2), 0.0)
    first = activity.to_json(5, has_prices=False)["hours"][0]
    assert (first["calls"], first["cost"]) == (2, None)
