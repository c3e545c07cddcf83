from __future__ import annotations

import enum
import json
import marshal  # noqa: TID251  # to measure by
import math
import uuid
from collections import OrderedDict, namedtuple
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sandbox.guest.base.plain_json import dumps, measured
from sandbox.protocol.strict_json import weight
from tests.unit.sandbox.guest.host_double import run_guest

DEPTH = 64
FILLER = "x" * (1 << 14)
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=20,
)


def encoded(value: Any, depth: int) -> bytes | None:
    found = dumps(value, depth)
    return None if found is None else found.data


@given(value=PLAIN)
@example(value=[None, 4_711_540_480, -1])
def test_plain_data_is_written_as_the_standard_library_does_or_left_to_it(value: Any) -> None:
    data = encoded([FILLER, value], DEPTH)
    try:
        expected = json.dumps([FILLER, value], allow_nan=False, ensure_ascii=False).encode()
    except ValueError:  # NaN, Infinity, half of a surrogate pair
        assert data is None
    else:
        assert data is not None or b"null" in expected  # numbers beside a None may look like NaN: then it is left, too
        assert data is None or json.loads(data) == json.loads(expected)


class Colour(enum.Enum):
    RED = "red"


class Text(str):
    __slots__ = ()


@dataclass
class Point:
    x: int = 1


FOREIGN = [
    *(Colour.RED, uuid.UUID(int=1), Point(), datetime.now(UTC), Decimal(1), Text("x"), OrderedDict(a=1)),
    *(namedtuple("Pair", "a b")(1, 2), {1}, b"x", 1j, 2**64, "\ud800", {1: 2}, {Text("x"): 1}, math.inf, -math.nan),
]


@pytest.mark.parametrize("value", FOREIGN, ids=lambda value: type(value).__name__)
def test_what_is_no_plain_data_is_left_to_the_standard_library(value: Any) -> None:
    assert encoded([FILLER, value, None], DEPTH) is None
    assert encoded([FILLER, {"a": [None, (value,)]}], DEPTH) is None


RECORDS = st.lists(st.dictionaries(st.text(max_size=12), PLAIN, max_size=4), min_size=1, max_size=6)


@given(records=RECORDS)
def test_records_are_written_as_the_standard_library_does_or_left_to_it(records: Any) -> None:
    value = [*records, {"filler": FILLER}]
    data = encoded(value, DEPTH)
    try:
        expected = json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    except ValueError:
        assert data is None
    else:
        assert data is not None or b"null" in expected
        assert data is None or json.loads(data) == json.loads(expected)


@given(records=RECORDS)
def test_records_are_never_taken_for_smaller_than_they_are(records: Any) -> None:
    """Room for their JSON is asked for by this, and the encoder does not survive that there is none."""
    try:
        _, size = measured(records)
    except UnicodeEncodeError:
        return
    assert len(marshal.dumps(records, 2)) <= size


class Key:
    """Says that it was asked."""

    def __init__(self) -> None:
        self.asked = 0

    def __hash__(self) -> int:
        return hash("x")

    def __eq__(self, other: object) -> bool:
        self.asked += 1
        return False


@pytest.mark.parametrize("key", [1, None, 1.5, (), Text("x"), Colour.RED, Key()], ids=lambda key: type(key).__name__)
def test_records_with_a_key_that_is_no_text_are_left_to_the_standard_library_unasked(key: Any) -> None:
    assert encoded([{"x": FILLER}, {key: 1}], DEPTH) is None
    assert encoded([{key: FILLER}, {"x": 1}], DEPTH) is None
    assert getattr(key, "asked", 0) == 0


@pytest.mark.parametrize("value", FOREIGN, ids=lambda value: type(value).__name__)
def test_records_of_what_is_no_plain_data_are_left_to_the_standard_library(value: Any) -> None:
    assert encoded([{"x": FILLER}, {"x": value}], DEPTH) is None
    assert encoded([{"x": FILLER}, {"y": [(value,)]}], DEPTH) is None


@pytest.mark.parametrize("text", ["x", 'é"null', "\0\n\x7f", "\U0001f600]["])
def test_a_long_text_is_written_as_the_standard_library_does(text: str) -> None:
    value = text * 20_000
    assert json.loads(encoded(value, DEPTH) or b"") == value
    assert encoded(value + "\ud800", DEPTH) is None


def test_small_data_is_left_to_the_standard_library() -> None:
    assert encoded([1], DEPTH) is None


@pytest.mark.parametrize("depth", [1, 2, 64, 253, 254, 255, 1_000])
def test_data_one_level_below_the_limit_is_left_to_those_who_say_so(depth: int) -> None:
    value: Any = FILLER
    for _ in range(depth):
        value = [value]
    assert encoded(value, depth - 1) is None
    if depth <= 200:
        assert json.loads(encoded(value, depth) or b"") == value


@given(value=PLAIN)
def test_the_brackets_of_a_text_weigh_what_the_text_does(value: Any) -> None:
    found = dumps([FILLER, value, *[[]] * 4_000], 64)
    assert found is None or weight(*found) == weight(found.data) > len(found.data)


ROWS = "rows = [{'id': n, 'name': 'row ' + str(n), 'none': None} for n in range(5000)]\n"


@pytest.mark.parametrize("result", ["rows", "{'rows': rows}"])
def test_infinity_in_a_large_result_is_text_and_none_is_null(result: str) -> None:
    value = run_guest(ROWS + f"rows[4321]['id'] = float('inf')\n{result}").value
    rows = value if isinstance(value, list) else value["rows"]
    assert [rows[4320], rows[4321]] == [
        {"id": 4320, "name": "row 4320", "none": None},
        {"id": "inf", "name": "row 4321", "none": None},
    ]


def test_an_enumeration_that_changes_the_list_while_it_is_read_gives_a_result() -> None:
    program = """
from enum import Enum
rows = [["x" * 40] for n in range(5000)]
class Trap(Enum):
    ONE = 1
    @property
    def value(self):
        rows.clear()
        return 1
rows[2500].append(Trap.ONE)
rows
"""
    assert run_guest(program).status == "completed"


def test_a_uuid_of_something_that_is_no_number_gives_an_error_or_a_result() -> None:
    program = """
import uuid
class Wide:
    def __ge__(self, other): return True
    def __le__(self, other): return True
    def __lt__(self, other): return True
    def __gt__(self, other): return False
["x" * 20_000, uuid.UUID(int=Wide())]
"""
    assert run_guest(program).status == "failed"
