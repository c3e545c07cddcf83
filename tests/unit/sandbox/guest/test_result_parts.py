from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.guest.process.result_parts import LONG, PART_ITEMS, PartSender, has_long
from sandbox.limits import Limits
from sandbox.protocol.parts import NO_PARTS, Parts
from tests.unit.sandbox.guest.host_double import run_guest

MANY = LONG + 1
DEPTH = 8


def sent(value: Any, *, limit_bytes: int = 1 << 24, part_bytes: int = 1 << 22) -> tuple[list[bytes], Any]:
    """Return the parts of a value and what the host makes of them."""
    parts: list[bytes] = []
    sender = PartSender(parts.append, limit_bytes=limit_bytes, part_bytes=part_bytes, limit_depth=DEPTH)
    last = sender.send_most(value) if has_long(value) else None
    host = Parts(DEPTH)
    for part in parts:
        host.take(part)
    return parts, None if last is None else json.loads(host.complete(last))


ROWS = [{"id": n, "name": f"row {n}", "none": None} for n in range(3 * LONG)]
VALUES = {
    "list": ROWS,
    "list in a dict": {"total": 5, "rows": ROWS, "more": [1, 2]},
    "lists in a dict": {"id": list(range(MANY)), "name": [str(n) for n in range(MANY)], "end": None},
    "dict": {str(n): [n] for n in range(MANY)},
    "dict in lists": [[{str(n): n for n in range(MANY)}], 7, list(range(MANY))],
    "deep": {"a": {"b": {"rows": ROWS, "c": 1}, "d": 2}},
    "a row that is long": [*ROWS, list(range(MANY))],
    "nothing else": {"rows": ROWS},
}


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES.keys())
def test_what_is_long_goes_in_parts_and_comes_whole(value: Any) -> None:
    parts, whole = sent(value)
    assert parts
    assert json.dumps(whole) == json.dumps(value)  # the order of keys, too


MEMBERS = st.sampled_from([1, "x", None, [], {}, [1], {"a": 1}, ["y"] * MANY, dict.fromkeys(map(str, range(MANY)), 0)])


@given(
    value=st.recursive(
        MEMBERS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4)
    )
)
def test_any_value_comes_whole_or_does_not_go_in_parts(value: Any) -> None:
    parts, whole = sent(value)
    if whole is None:
        assert parts == [] or parts[-1] == NO_PARTS
    else:
        assert json.dumps(whole) == json.dumps(value)


@pytest.mark.parametrize("value", [5, "x" * 100_000, [1] * PART_ITEMS, {"a": [1] * LONG}, {"a": ["x"], "b": {}}])
def test_what_is_short_does_not_go_in_parts(value: Any) -> None:
    assert sent(value) == ([], None)


def holds_itself() -> Any:
    value: dict[str, Any] = {"rows": ROWS}
    value["self"] = value
    return value


UNFIT = {
    "a number as key": {"rows": ROWS, 5: ROWS},
    "no data at the end": {"rows": ROWS, "set": {1}},
    "infinity": {"rows": [*ROWS, float("inf")]},
    "holds itself": holds_itself(),
    "too deep": {"rows": [*ROWS, [[[[[[[1]]]]]]]]},
}


@pytest.mark.parametrize("value", UNFIT.values(), ids=UNFIT.keys())
def test_what_was_sent_of_a_value_that_does_not_go_in_parts_is_taken_back(value: Any) -> None:
    parts, whole = sent(value)
    assert whole is None
    assert parts[-1] == NO_PARTS


def test_parts_keep_to_their_limits() -> None:
    assert sent({"rows": ROWS}, limit_bytes=100_000)[0][-1] == NO_PARTS
    assert sent({"rows": ["x" * 1_000] * MANY}, part_bytes=100_000) == ([b'+["rows"', NO_PARTS], None)


PROGRAMS = {
    "{'rows': [[n] for n in range(5000)], 'n': 1}": {"rows": [[n] for n in range(5000)], "n": 1},
    "{str(n): {'n': n} for n in range(5000)}": {str(n): {"n": n} for n in range(5000)},
}


@pytest.mark.parametrize(("code", "value"), PROGRAMS.items(), ids=PROGRAMS.keys())
def test_a_program_gives_a_long_result_in_parts(code: str, value: object) -> None:
    ended = run_guest(code)
    assert ended.value == value
    assert ended.parts > 1


def test_a_set_in_a_long_result_is_a_list_and_the_rest_is_as_it_was() -> None:
    ended = run_guest("{'rows': [[n] for n in range(5000)], 'set': {1, 2}, 5: 6}")
    assert ended.value == {"rows": [[n] for n in range(5000)], "set": [1, 2], "5": 6}


def test_a_long_result_that_is_too_large_is_an_error_of_the_program() -> None:
    ended = run_guest("{'rows': ['x' * 100 for n in range(200_000)]}", limits=Limits(result_bytes=1 << 20))
    assert ended.status == "failed"
    assert "allowed" in ended.message
