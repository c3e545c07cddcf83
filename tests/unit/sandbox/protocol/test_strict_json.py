from __future__ import annotations

import gc
import json
import math
import re
import subprocess
import sys

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sandbox.protocol.strict_json import (
    LEAST_LIST,
    LEAST_OBJECT,
    InvalidJson,
    check_depth,
    check_shape,
    encode,
    loads,
    loads_checked,
    loads_result,
    weight,
)

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.sampled_from(
    ['"', "\\", '[{"\\', "]}", "\\ud"]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=20,
)


@given(value=VALUES)
def test_what_is_encoded_is_decoded_to_the_same(value: object) -> None:
    assert loads(encode(value)) == value
    assert loads_result(encode(value), depth=64) == value
    assert json.loads(encode(value)) == value


def depth_of(value: object) -> int:
    if isinstance(value, list):
        return 1 + max(map(depth_of, value), default=0)
    if isinstance(value, dict):
        return 1 + max(map(depth_of, value.values()), default=0)
    return 0


@given(value=VALUES, limit=st.integers(0, 6), ascii_only=st.booleans())
def test_depth_is_counted_exactly_whatever_stands_in_strings(value: object, limit: int, *, ascii_only: bool) -> None:
    data = json.dumps(value, ensure_ascii=ascii_only).encode()
    if depth_of(value) > limit:
        with pytest.raises(InvalidJson, match=f"nested more than {limit} deep"):
            check_shape(data, depth=limit, digits=100)
    else:
        check_shape(data, depth=limit, digits=100)


@given(data=st.binary(max_size=80))
def test_any_bytes_are_decoded_or_refused_as_invalid(data: bytes) -> None:
    try:
        value = loads(data)
    except InvalidJson:
        return
    assert value == json.loads(data)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"NaN", "NaN is not a JSON number"),
        (b"[-Infinity]", "-Infinity is not a JSON number"),
        (b"1e999", "Out of range float values"),
        (b"[1e+0400]", "Out of range float values"),
        (b"9" * 101, "a number of more than 100 digits"),
        (b"-0." + b"1" * 101, "a number of more than 100 digits"),
        (b'"\\ud800"', "half of a surrogate pair"),
        (b'{"\\uDC00":1}', "half of a surrogate pair"),
        (b'"\xed\xa0\x80"', "not UTF-8"),
        (b'"\xff"', "not UTF-8"),
        (b'{"a":1,"a":2}', "the same key twice"),
        (b'{"a":1,"\\u0061":2}', "the same key twice"),
        (b"", "not JSON"),
        (b"[1]]", "not JSON"),
        (b"\xef\xbb\xbf1", "not JSON"),
        (b"[" * 100_000, "nested more than 72 deep"),
        (b'{"a":' * 100_000, "nested more than 72 deep"),
        (b'["]"' + b',["]"' * 200 + b"]" * 201, "nested more than 72 deep"),
    ],
)
def test_what_is_not_strict_json_is_refused_with_the_reason(data: bytes, reason: str) -> None:
    with pytest.raises(InvalidJson, match=reason):
        loads(data)


@pytest.mark.parametrize("text", ["9" * 5_000, "1e999 NaN", "\\ud800", "[[[[" * 100, '"]' * 100])
def test_text_may_hold_what_a_number_or_a_bracket_may_not(text: str) -> None:
    assert loads(json.dumps([text]).encode()) == [text]


def test_a_result_may_have_a_whole_number_as_long_as_python_reads_one() -> None:
    assert loads_result(b"7" * 4_300, depth=1) == int("7" * 4_300)
    with pytest.raises(InvalidJson, match="a number of more than 4300 digits"):
        loads_result(b"7" * 4_301, depth=1)


def test_a_number_just_within_a_float_is_accepted() -> None:
    assert loads(b"1.7976931348623157e308") == 1.7976931348623157e308
    assert loads(b"1e-400") == 0.0


@pytest.mark.parametrize("value", [math.nan, math.inf, "\ud800", [["x", "\udfff"]]])
def test_values_that_json_cannot_carry_are_not_encoded(value: object) -> None:
    with pytest.raises(InvalidJson):
        encode(value)


def test_a_value_that_holds_itself_is_not_encoded() -> None:
    loop: list[object] = []
    loop.append(loop)
    with pytest.raises(InvalidJson, match="nested too deeply, or holds itself"):
        encode(loop)


def test_other_types_are_named() -> None:
    with pytest.raises(TypeError, match="set is not JSON data"):
        encode({"a": {1}})


LARGE = b'["' + b"x" * (1 << 16) + b'",%b]'


@pytest.mark.parametrize(
    "text",
    [
        *(b"NaN", b"-Infinity", b"1e400", b"1" * 250 + b"e99", b"1" * 5_000),
        *(b'"\\ud800"', b'"\xff"', b"01", b"1 2", b"[" * 80),
    ],
    ids=lambda text: repr(text[:12]),
)
def test_a_large_result_is_refused_for_what_a_small_one_is(text: bytes) -> None:
    for data in (b"[" + text + b"]", LARGE % text):
        with pytest.raises(InvalidJson):
            loads_result(data, depth=64)


@pytest.mark.parametrize("depth", [1, 2, 64, 150, 400])
@pytest.mark.parametrize(
    ("left", "inner", "right"),
    [(b"[", b"", b"]"), (b"[", b"1", b"]"), (b'{"a":', b"0", b"}"), (b'["]",', b"{}", b"]"), (b'{"}":', b'"["', b"}")],
)
def test_a_large_text_is_refused_one_level_below_the_limit(depth: int, left: bytes, inner: bytes, right: bytes) -> None:
    data = left * depth + inner + right * depth
    depth += inner == b"{}"
    assert loads_result(LARGE % data, depth=depth + 1)[1] == json.loads(data)
    with pytest.raises(InvalidJson, match=f"nested more than {depth} deep"):
        loads_result(LARGE % data, depth=depth)


def test_depth_is_refused_before_any_parser_can_follow_it() -> None:
    """An application may have raised the interpreter's limit on recursion beyond what the stack of C holds."""
    code = """
import sys
from sandbox.protocol.strict_json import InvalidJson, loads_result
sys.setrecursionlimit(1_000_000)
for data in (b"[" * 200_000 + b"]" * 200_000, b'{"":' * 200_000, b'["]",' * 200_000, b'["\\\\\\\\",' * 200_000):
    try:
        loads_result(data, depth=64)
    except InvalidJson as error:
        print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "nested more than 64 deep\n" * 4)


def test_depth_is_refused_in_a_thread_with_a_small_stack() -> None:
    code = """
import threading
from sandbox.protocol.strict_json import InvalidJson, loads_result
def read():
    try:
        loads_result(b"[" * 9_000 + b" " * 70_000 + b"]" * 9_000, depth=64)
    except InvalidJson as error:
        print(error)
threading.stack_size(512 * 1024)
thread = threading.Thread(target=read)
thread.start()
thread.join()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "nested more than 64 deep\n")


def test_reading_a_large_text_leaves_the_collector_as_it_was() -> None:
    gc.enable()
    loads_result(LARGE % b"1", depth=64)
    assert gc.isenabled()


@settings(deadline=None)
@given(value=VALUES, limit=st.integers(1, 6))
def test_the_depth_of_a_large_text_is_counted_exactly(value: object, limit: int) -> None:
    data = LARGE % encode(value)
    if depth_of(value) >= limit:
        with pytest.raises(InvalidJson, match=f"nested more than {limit} deep"):
            loads_result(data, depth=limit)
    else:
        assert loads_result(data, depth=limit)[1] == value


@pytest.mark.parametrize("text", ["-0", "-0.0", "1E5", "0.1e-7", "9" * 19, "-" + "9" * 20, "7" * 4_300, "1e-400"])
def test_a_number_in_a_large_text_is_what_the_standard_library_reads(text: str) -> None:
    data, expected = LARGE % text.encode(), json.loads(text)
    assert repr(loads_result(data, depth=64)[1]) == repr(loads_checked(data)[1]) == repr(expected)


def test_of_equal_keys_in_a_large_text_the_last_wins_in_the_place_of_the_first() -> None:
    found = loads_result(LARGE % b'{"a":1,"b":2,"\\u0061":3}', depth=64)[1]
    assert list(found.items()) == [("a", 3), ("b", 2)]


@given(value=VALUES)
def test_a_large_result_is_read_as_a_small_one_is(value: object) -> None:
    data = encode(value)
    assert loads_result(LARGE % data, depth=64)[1] == loads_result(data, depth=64)


def test_a_list_weighs_at_least_eight_bytes_and_an_object_sixteen_and_text_does_not() -> None:
    assert weight(b"[[],[],[]]") == 4 * 8
    assert weight(b"[{},{},[]]") == 2 * 16 + 2 * 8
    assert weight(b'"[[[[[[[[[[[["') == 14
    assert weight(b'{"some name": [1, 2, 3, 4]}') == 27


def test_small_records_weigh_what_they_are_long() -> None:
    data = encode([{"id": 100_000 + n, "ok": True} for n in range(1_000)] + [{"id": 100_000}] * 1_000)
    assert weight(data) == len(data)


def one_by_one(data: bytes) -> tuple[int, int, int, bool]:
    """Count lists, objects and levels character by character; is all closed, as often as it is open?"""
    lists = objects = deepest = depth = 0
    in_string = underflows = False
    for character in re.sub(r'\\["\\]', "", data.decode()):
        if character == '"':
            in_string = not in_string
        elif not in_string and character in "[{":
            lists, objects = lists + (character == "["), objects + (character == "{")
            depth += 1
            deepest = max(deepest, depth)
        elif not in_string and character in "]}":
            depth -= 1
            underflows = underflows or depth < 0
    return lists, objects, deepest, not (depth or underflows or in_string)


@given(data=st.text('[]{}"\\,1', max_size=40).map(str.encode), limit=st.integers(0, 9))
@example(data=b"[" * 9 + b"]" * 9, limit=8)
@example(data=b"[" * 8 + b'"' + b"]" * 7, limit=8)
@example(data=b"[" * 6 + b"]" * 7 + b"[", limit=8)
@example(data=b"[][", limit=1)
@example(data=b'[][]"', limit=1)
@example(data=b'["]"' * 3, limit=2)
@example(data=b'"""["""[]', limit=2)
@example(data=b'["\\\\"]', limit=1)
@example(data=b'["\\\\\\"]"]', limit=1)
def test_structure_is_what_a_look_at_each_character_finds(data: bytes, limit: int) -> None:
    lists, objects, deepest, is_closed = one_by_one(data)
    if is_closed:
        assert weight(data) == max(len(data), lists * LEAST_LIST + objects * LEAST_OBJECT)
    if data.count(b"[") + data.count(b"{") <= limit or (is_closed and deepest <= limit):
        check_depth(data, limit)
    else:
        with pytest.raises(InvalidJson, match=f"nested more than {limit} deep"):
            check_depth(data, limit)


def test_a_string_without_end_is_looked_for_once() -> None:
    """From each escaped quote in it, this would take hours."""
    data = b'"' + b'\\"[' * 1_000_000
    assert weight(data) == 8 * 1_000_000
    with pytest.raises(InvalidJson):
        loads(data)


@pytest.mark.parametrize("data", [b"7" * 4_301, LARGE % (b"7" * 4_301)], ids=["small", "large"])
def test_long_numbers_are_refused_where_an_application_has_taken_the_limit_of_int_away(data: bytes) -> None:
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        with pytest.raises(InvalidJson, match="a number of more than 4300 digits"):
            loads_result(data, depth=64)
    finally:
        sys.set_int_max_str_digits(limit)


@pytest.mark.parametrize("data", [b"[" * 9 + b"]" * 9, b'{"a":' * 9 + b"1" + b"}" * 9, b"[" * 9, b'[[[[[[[[["a'])
def test_a_small_text_is_refused_below_the_limit_and_where_it_is_not_closed(data: bytes) -> None:
    with pytest.raises(InvalidJson, match="nested more than 8 deep"):
        check_depth(data, 8)
