from __future__ import annotations

import pytest

from sandbox.protocol.large_results import STEP_BYTES, ResultCheck
from sandbox.protocol.strict_json import InvalidJson, weight

NEAR = STEP_BYTES - 2  # a text that begins here is cut by the end of a step


def check_result(data: bytes, depth: int) -> int:
    """Check a text in one go, and return its weight."""
    check = ResultCheck(data, depth)
    for _ in check.steps():
        pass
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
    [b"1e309", b"1e999", b"NaN", b"01", b'"\xff"', b'"\\ud800"', b'"\x01"', b"[[]]", b"]", b'"', b"7" * 4_301, b"1 2"],
    ids=lambda text: repr(text[:8]),
)
@pytest.mark.parametrize("before", [0, NEAR - 4, NEAR - 3, NEAR - 2, NEAR - 1, NEAR])
def test_what_is_bad_is_bad_across_steps(text: bytes, before: int) -> None:
    with pytest.raises(InvalidJson):
        check_result(b"[" + b" " * before + text + b",[]]", 2)


def test_a_large_text_takes_many_steps() -> None:
    data = b"[" + b"1e308," * (STEP_BYTES // 2) + b"1]"
    assert sum(1 for _ in ResultCheck(data, 2).steps()) == -(-len(data) // STEP_BYTES)
