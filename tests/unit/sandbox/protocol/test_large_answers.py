from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox.protocol.large_answers import encode_large, is_large
from sandbox.protocol.strict_json import InvalidJson, encode

BIG = 10**4_000
VALUES = {
    "numbers near infinity": [1e308] * 100_000,
    "records": [{"id": 1, "name": "é", "tags": ["a", None]}] * 20_000,
    "an object of lists": {"a": [1] * 300_000, "b": {"c": ["x"] * 200_000}},
    "integers of many digits": {"a": [BIG] * 100},
    "an integer beyond 64 bits at the end": [1] * 200_000 + [2**64],
    "large texts": ["x" * 400_000, "y" * 400_000],
    "large items": [[0.5] * 100_000, [{"a": [1e-7] * 100_000}], []],
    "one member": {"a": {"b": {"c": "x" * 500_000}}},
    "keys that are no text": {1: [1] * 200_000, None: 2**70},
}


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_slices_are_the_same_text(value: object) -> None:
    assert is_large(value)
    assert encode_large(value) == encode(value)


def test_a_small_answer_is_not_large() -> None:
    assert not is_large([1] * 1_000)
    assert not is_large("x" * 200_000)
    assert not is_large({"a": [{"b": "x" * 100, "c": 1}] * 400})
    assert is_large([10**4_000] * 1_000)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1, 2}, "\ud800"], ids=repr)
def test_what_json_cannot_carry_is_rejected_in_a_large_answer(value: object) -> None:
    with pytest.raises((InvalidJson, TypeError)):
        encode_large({"a": [1] * 200_000, "b": [value] * 100_000})


SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()


@settings(deadline=None, max_examples=25)
@given(
    value=st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20),
    times=st.sampled_from([1, 20_000]),
)
def test_a_large_answer_is_read_as_it_was(value: object, times: int) -> None:
    try:
        whole = encode([value] * times)
    except InvalidJson:
        return
    assert encode_large([value] * times) == whole
    assert json.loads(whole)[:1] == [value]
