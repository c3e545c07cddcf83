from __future__ import annotations

import json

import pytest

from codemode.serving.http.intake import is_slow

SLOW = {
    "numbers near infinity": [1e308] * 20_000,
    "exponents": [1e-101] * 20_000,
    "integers of many digits": [10**4_000] * 30,
}
FAST = {
    "few of them": [1e308] * 1_900 + ["x" * 70_000],
    "hexadecimal text": "1e101" * 100_000,
    "digits in a text": "7" * 500_000,
    "escaped quotes": '"1e308,' * 50_000,
    "records": [{"id": 12345, "amount": 1.5e10}] * 5_000,
    "small": [1e308] * 5_000,
}


@pytest.mark.parametrize("value", SLOW.values(), ids=SLOW)
def test_a_body_of_slow_numbers_is_known(value: object) -> None:
    assert is_slow(json.dumps({"inputs": value}).encode())


@pytest.mark.parametrize("value", FAST.values(), ids=FAST)
def test_other_bodies_are_not(value: object) -> None:
    assert not is_slow(json.dumps({"inputs": value}).encode())
