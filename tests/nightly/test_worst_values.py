"""The worst values for each parser of the host, as a ratio to benign data of the same size."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from codemode.transports.content import ContentStore
from codemode.transports.http.answers import decode
from sandbox.protocol.large_results import ResultCheck
from sandbox.protocol.strict_json import InvalidJson, SlowNumbers, loads, loads_result

if TYPE_CHECKING:
    from collections.abc import Callable

SIZE = 1 << 20
DEPTH = 64

#: The standard library's parser takes 60 times as long for `1e308` as for the benign value.
MOST = 30

#: Answers of services are walked level by level, by Python code in a thread, where the loop has its turns.
MOST_OF_ANSWERS = 200

BENIGN = b'{"id":12345,"name":"a name of some length","email":"someone@example.com","amount":12.5}'
WORST = {
    "near infinity": b"1e308",
    "near zero": b"1e-308",
    "long numbers": b"9" * 99,
    "long fractions": b"0." + b"1234567890" * 9,
    "whole numbers of 64 bits": b"1234567890123456789",
    "short numbers": b"1",
    "short texts": b'""',
    "escapes": b'"' + b"\\n" * 500 + b'"',
    "surrogate pairs": b'"' + b"\\ud83d\\ude00" * 100 + b'"',
    "brackets in texts": b'"[{"',
    "deep lists": b"[" * (DEPTH - 2) + b"]" * (DEPTH - 2),
    "empty objects": b"{}",
}


def listed(item: bytes, last: bytes = b"1") -> bytes:
    return b"[" + b",".join([item] * (SIZE // (len(item) + 1))) + b"," + last + b"]"


def answered(data: bytes) -> None:
    decode(data, {"content-type": "application/json"}, wants_json=True, status=200, contents=ContentStore().of(""))


PARSERS: dict[str, Callable[[bytes], object]] = {
    "message": lambda data: loads(data, depth=DEPTH),
    "result": lambda data: loads_result(data, depth=DEPTH),
    "large result": lambda data: list(ResultCheck(data, DEPTH, SlowNumbers()).steps()),
    "answer": answered,
}


def cost_s(parse: Callable[[bytes], object], data: bytes) -> float:
    """The least processor time of three runs."""
    took = []
    for _ in range(3):
        begun = time.process_time()
        with suppress(InvalidJson):  # to refuse it takes time, too
            parse(data)
        took.append(time.process_time() - begun)
    return min(took)


@pytest.mark.parametrize("parser", PARSERS)
@pytest.mark.parametrize("last", [b"1", b"12345678901234567890"], ids=["", "and one beyond 64 bits"])
def test_no_value_costs_a_parser_much_more_than_a_benign_one(parser: str, last: bytes) -> None:
    parse = PARSERS[parser]
    benign = cost_s(parse, listed(BENIGN))
    ratios = {name: cost_s(parse, listed(item, last)) / benign for name, item in WORST.items()}
    most = MOST_OF_ANSWERS if parser == "answer" else MOST
    assert {name: round(ratio, 1) for name, ratio in ratios.items() if ratio > most} == {}
