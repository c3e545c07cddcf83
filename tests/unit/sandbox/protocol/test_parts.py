from __future__ import annotations

import json
from typing import Any

import pytest

from sandbox.errors import GuestProtocolError
from sandbox.protocol.parts import NO_PARTS, Parts, part_of
from sandbox.protocol.strict_json import InvalidJson

DEPTH = 3


def whole(*parts: bytes, last: Any) -> Any:
    taken = Parts(DEPTH)
    for part in parts:
        taken.take(part)
    return json.loads(taken.complete(json.dumps(last, separators=(",", ":")).encode()))


@pytest.mark.parametrize(
    ("parts", "last", "value"),
    [
        ((), 5, 5),
        ((b"[1,2]",), [3], [1, 2, 3]),
        ((part_of(b'{"a":1,"b":2}'),), {"a": 3, "c": 4}, {"a": 3, "b": 2, "c": 4}),
        ((b"[1]", b"[2]", NO_PARTS), {"a": 1}, {"a": 1}),
        ((b"[1]", NO_PARTS, b"[2]"), [3], [2, 3]),
        ((b"[ ]", b"[1]", b"[\n2 ]"), [], [1, 2]),
    ],
)
def test_parts_make_a_value(parts: tuple[bytes, ...], last: Any, value: Any) -> None:
    assert repr(whole(*parts, last=last)) == repr(value)


@pytest.mark.parametrize(
    ("parts", "last"),
    [
        ((b"[1]",), 1),
        ((b"[1]",), {}),
        ((part_of(b"{}"),), [1]),
        ((b"[1]", part_of(b"{}")), [1]),
        *(((part,), [1]) for part in (b"", b"=", b"=1", b"=[1]", b"+", b"-", b"1")),
    ],
)
def test_parts_that_make_none_are_refused(parts: tuple[bytes, ...], last: Any) -> None:
    with pytest.raises((GuestProtocolError, InvalidJson)):
        whole(*parts, last=last)


@pytest.mark.parametrize("part", [b"[[[1]]]", b"[[1]", b"[NaN]", b'={"a":1e999}'])
def test_a_part_is_read_as_strictly_as_a_value(part: bytes) -> None:
    taken = Parts(2)
    with pytest.raises(InvalidJson):
        taken.take(part)


def test_depth_is_that_of_the_whole() -> None:
    assert whole(b"[[[1]]]", last=[]) == [[[1]]]
    with pytest.raises(InvalidJson, match="nested more than"):
        whole(b"[[[[1]]]]", last=[])
