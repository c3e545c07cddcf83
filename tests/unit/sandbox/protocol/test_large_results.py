from __future__ import annotations

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sandbox.protocol.large_results import STEP_BYTES, ResultCheck
from sandbox.protocol.strict_json import InvalidJson, SlowNumbers, loads_checked, weight

NEAR = STEP_BYTES - 2  # a text that begins here is cut by the end of a step


def check_result(data: bytes, depth: int) -> int:
    """Check a text in one go, and return its weight."""
    numbers = SlowNumbers()
    check = ResultCheck(data, depth, numbers)
    for _ in check.steps():
        pass
    numbers.check()
    return check.weight


@pytest.mark.parametrize(
    "text",
    [b"1e308", b'"\\\\\\""', b'"[[["', b'"1e999"', "\u00e9\U0001f600".encode().join((b'"', b'"')), b"7" * 4_300],
    ids=repr,
)
@pytest.mark.parametrize("before", [0, NEAR - 4, NEAR - 3, NEAR - 2, NEAR - 1, NEAR])
def test_what_is_good_is_good_across_steps(text: bytes, before: int) -> None:
    data = b"[" + b" " * before + text + b",[]]"
    assert check_result(data, 2) == weight(data)


@pytest.mark.parametrize(
    "text",
    [
        b"1e309",
        b"1e999",
        b"NaN",
        b"01",
        b'"\xff"',
        b'"\\ud800"',
        b'"\x01"',
        b"[[]]",
        b"]",
        b'"',
        b"7" * 4_301,
        b"1 2",
        b"1e999.5",
    ],
    ids=lambda text: repr(text[:8]),
)
def test_what_is_bad_is_bad_across_steps(text: bytes) -> None:
    for before in (0, NEAR - 4, NEAR - 3, NEAR - 2, NEAR - 1, NEAR):
        with pytest.raises(InvalidJson):
            check_result(b"[" + b" " * before + text + b",[]]", 2)


def test_a_large_text_takes_many_steps() -> None:
    data = b"[" + b"1e308," * (STEP_BYTES // 2) + b"1]"
    assert sum(1 for _ in ResultCheck(data, 2, SlowNumbers()).steps()) == -(-len(data) // STEP_BYTES)


TOKENS = ["1e100", "-1e-308", "12345678901234567890", "-0", "1.5", '"\\u00e9"', '"[1e999"', "{}", '{"a":1,"a":[2]}']


@settings(deadline=None)
@given(tokens=st.lists(st.sampled_from(TOKENS), min_size=1, max_size=9), times=st.sampled_from([1, 2_001]))
@example(tokens=["1e100", "12345678901234567890"], times=2_001)
def test_a_result_that_is_accepted_can_be_read(tokens: list[str], times: int) -> None:
    data = ("[" + " " * STEP_BYTES + ",".join(tokens * times) + "]").encode()
    try:
        check_result(data, 3)
    except InvalidJson:
        assert "e" in "".join(tokens)
        return
    assert repr(loads_checked(data)) == repr(json.loads(data))


@pytest.mark.parametrize("exact", ["-0", "1234567890123456789"])
@pytest.mark.parametrize("before", [0, NEAR - 19, NEAR - 9, NEAR - 1])
def test_many_exponents_beside_a_number_for_the_slow_parser_are_rejected(exact: str, before: int) -> None:
    data = "[" + " " * before + exact + ",1e100" * 2_001 + "]"
    with pytest.raises(InvalidJson, match="-0 or an integer of 19 digits, beside over 2000 numbers"):
        check_result(data.encode(), 1)


@pytest.mark.parametrize("number", [b"7" * 4_300, b"-" + b"7" * 4_200, b"7" * 250])
def test_long_numbers_may_have_so_many_digits_together(number: bytes) -> None:
    few = b"[" + b" " * STEP_BYTES + b",".join([number] * (60_000 // len(number))) + b"]"
    assert check_result(few, 1) == len(few)
    many = b"[" + b",".join([number] * (1_500_000 // len(number))) + b"]"
    with pytest.raises(InvalidJson, match="more than 100,000 digits in long numbers: return text"):
        check_result(many, 1)


def test_digits_in_texts_are_no_numbers() -> None:
    data = b'["' + b"7" * 1_000_000 + b'"]'
    assert check_result(data, 1) == len(data)


def test_a_number_as_long_as_what_is_looked_back_is_too_long() -> None:
    data = b"[" + b" " * (STEP_BYTES - 4_500) + b"1." + b"7" * 4_200 + b"e" + b"7" * 4_200 + b"]"
    with pytest.raises(InvalidJson):
        check_result(data, 1)
