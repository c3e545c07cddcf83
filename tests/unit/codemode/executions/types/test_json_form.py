from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import pytest

from codemode.executions.types.json_form import json_of, record_of
from codemode.executions.types.ledger import LedgerEntry
from codemode.executions.types.outcome import CANCELLED, ExecutionOutcome
from codemode.executions.types.planned import PlannedCall
from codemode.executions.types.records import PendingCall
from codemode.gateway.call import CallState
from sandbox import Failure, Refusal, Usage

CALL = LedgerEntry("0", "shop.pay", {"id": 1}, CallState.PENDING, 0.5, 0.25, "ask", "a rule", question="ap_1")
QUESTION = PendingCall(
    "ap_1", "ex_1", "0", "shop.pay", {"id": 1}, "d", "a person looks", asked_us=1_700_000_000_125_000
)
OUTCOME = ExecutionOutcome(
    "ex_1",
    "paused",
    result={"a": [1]},
    has_value=True,
    output="text",
    failure=Failure("Refused", "no", refusals=(Refusal("rule", "message", 1),)),
    calls=(CALL,),
    usage=Usage(wall_s=1.5, calls=1),
    isolation=("seccomp",),
    limit="wall_s",
    notes=("a note",),
    pending=(QUESTION,),
    planned=(PlannedCall("0", "shop.pay #1", "shop.pay", "write", "host", {}, "ask", "a rule"),),
)


def test_an_outcome_comes_back_from_its_json_form() -> None:
    assert ExecutionOutcome.from_json(OUTCOME.to_json()) == OUTCOME
    assert type(ExecutionOutcome.from_json(OUTCOME.to_json()).calls[0].state) is CallState


def test_every_field_has_its_own_name_except_those_that_say_so() -> None:
    assert list(OUTCOME.to_json()) == [
        "value" if name == "result" else name for name in ExecutionOutcome.__dataclass_fields__ if name != "JSON_NAMES"
    ]
    assert OUTCOME.to_json()["calls"] == (CALL._asdict(),)
    assert OUTCOME.to_json()["failure"]["refusals"][0]["message"] == "message"


def test_times_are_rfc_3339_without_their_unit() -> None:
    data = QUESTION.to_json()
    assert (data["asked"], data["decided"]) == ("2023-11-14T22:13:20.125Z", None)
    assert "asked_us" not in data
    assert PendingCall.from_json(data) == QUESTION


def test_the_interface_of_a_decision_is_left_out() -> None:
    decided = replace(QUESTION, via="http 192.0.2.7")
    assert "via" not in decided.to_json()
    assert PendingCall.from_json(decided.to_json()).via == ""


def test_data_of_earlier_versions_has_times_in_microseconds_and_other_fields() -> None:
    data: dict[str, Any] = QUESTION.to_json() | {"asked_us": QUESTION.asked_us, "gone": 1}
    del data["asked"]
    assert PendingCall.from_json(data) == QUESTION


def test_absent_fields_are_empty() -> None:
    assert ExecutionOutcome.from_json({"id": "ex_1", "status": "cancelled"}) == ExecutionOutcome("ex_1", "cancelled")
    with pytest.raises(TypeError, match="status"):
        ExecutionOutcome.from_json({"id": "ex_1"})


def test_a_cancelled_outcome_counts_the_calls_that_were_made() -> None:
    ended = ExecutionOutcome.cancelled("ex_1", (CALL, CALL))
    assert (ended.status, ended.failure, ended.usage.calls, ended.has_value) == ("cancelled", CANCELLED, 2, False)


class Point(NamedTuple):
    """A point."""

    x: int
    at_us: int = 0


@dataclass(frozen=True, slots=True)
class Line:
    """A line."""

    JSON_NAMES: ClassVar = {"start": "from", "secret": ""}

    start: Point
    end: Point | None = None
    more: tuple[Point, ...] = ()
    names: tuple[str, ...] = ()
    secret: str = ""


def test_records_in_records_follow_the_same_rule() -> None:
    line = Line(Point(1), more=(Point(2, 1_000_000),), names=("a",), secret="s")
    data = {
        "from": {"x": 1, "at": None},
        "end": None,
        "more": ({"x": 2, "at": "1970-01-01T00:00:01.000Z"},),
        "names": ("a",),
    }
    assert json_of(line) == data
    assert record_of(Line, {**data, "names": ["a"]}) == replace(line, secret="")
