"""The waterfall tells calls apart and has a clock that reads well."""

from __future__ import annotations

from typing import Any

import pytest

from codemode.executions.types.ledger import LedgerEntry
from codemode.executions.types.waterfall import call_labels, tick_step
from codemode.gateway.call import CallState


def call(path: str, tool: str, **arguments: Any) -> LedgerEntry:
    return LedgerEntry(path, tool, arguments, CallState.READ, 0.0, 1.0)


def test_a_label_has_the_arguments_in_which_a_call_differs() -> None:
    calls = [
        call("0", "weather.points.get_data", lat=1, lon=10.2),
        call("1", "weather.points.get_data", lat=1, lon=11),
        call("2", "weather.points.list", area={"of": ["é"]}),
        call("3", "pay"),
    ]
    assert call_labels(calls) == {
        "0": "…get_data(lon=10.2)",
        "1": "…get_data(lon=11)",
        "2": '…list(area={"of":["é"]})',
        "3": "pay()",
    }


@pytest.mark.parametrize(
    ("end", "step"), [(6.0, 1.0), (0.43, 0.1), (1.0, 0.2), (60, 10), (61, 20), (0.001, 0.0002), (13, 5)]
)
def test_ticks_are_one_two_or_five_times_a_power_of_ten(end: float, step: float) -> None:
    assert tick_step(end) == pytest.approx(step)
