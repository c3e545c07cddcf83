from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codemode.text.safe_integers import LARGEST, safe_integers


def as_javascript(text: str) -> Any:
    """Parse JSON as clients in JavaScript do: each number is a double."""
    return json.loads(text, parse_int=float)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (LARGEST, LARGEST),
        (-LARGEST, -LARGEST),
        (LARGEST + 1, "9007199254740992"),
        (-(2**70), "-1180591620717411303424"),
        (True, True),
        (1e300, 1e300),
        (
            {"id": 2**60, "ids": [1, 2**60], "text": "a"},
            {"id": "1152921504606846976", "ids": [1, "1152921504606846976"], "text": "a"},
        ),
    ],
)
def test_integers_that_a_double_would_round_are_text(data: Any, expected: Any) -> None:
    assert safe_integers(data) == expected


_DATA = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=3), inner),
)


@given(_DATA)
def test_what_javascript_reads_is_what_was_written(data: Any) -> None:
    safe = safe_integers(data)
    assert as_javascript(json.dumps(safe)) == safe


@given(_DATA)
def test_data_without_such_integers_is_the_same_object(data: Any) -> None:
    safe = safe_integers(data)
    assert (safe is data) == (safe == data)
