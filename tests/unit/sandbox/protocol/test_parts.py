from __future__ import annotations

import json
from typing import Any

import pytest

from sandbox.errors import GuestProtocolError
from sandbox.protocol.parts import CLOSE, NO_PARTS, Parts, opening, part_of
from sandbox.protocol.strict_json import InvalidJson

DEPTH = 3


def whole(*parts: bytes, last: Any) -> Any:
    taken = Parts(DEPTH)
    for part in parts:
        taken.take(part)
    return json.loads(taken.complete(json.dumps(last, separators=(",", ":")).encode()))


LIST, OBJECT = opening(list, None), opening(dict, None)


@pytest.mark.parametrize(
    ("parts", "last", "value"),
    [
        ((), 5, 5),
        ((b"[1,2]",), [3], [1, 2, 3]),
        ((part_of(b'{"a":1,"b":2}'),), {"a": 3, "c": 4}, {"a": 3, "b": 2, "c": 4}),
        ((part_of(b'{"n":0}'), opening(list, "a"), b"[1]", b"[2]", CLOSE), {"z": 9}, {"n": 0, "a": [1, 2], "z": 9}),
        ((b"[0]", OBJECT, part_of(b'{"a":1}'), CLOSE, LIST, CLOSE), [9], [0, {"a": 1}, [], 9]),
        ((opening(dict, 'a"'), opening(list, "b"), b"[1]", CLOSE, CLOSE), {}, {'a"': {"b": [1]}}),
        ((b"[1]", LIST, NO_PARTS), {"a": 1}, {"a": 1}),
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
        ((LIST,), [1]),
        ((CLOSE,), [1]),
        ((b"[1]", CLOSE), [1]),
        ((b"[1]", part_of(b"{}")), [1]),
        ((b"[1]", opening(list, "a")), [1]),
        ((part_of(b"{}"), LIST), {}),
        *(((part,), [1]) for part in (b"", b"=", b"=1", b"=[1]", b"+", b"+5", b"+[1", b"+{[]", b"--", b"1")),
    ],
)
def test_parts_that_make_none_are_refused(parts: tuple[bytes, ...], last: Any) -> None:
    with pytest.raises((GuestProtocolError, InvalidJson)):
        whole(*parts, last=last)


@pytest.mark.parametrize("part", [b"[[[1]]]", b"[[1]", b"[NaN]", b'={"a":1e999}', b'+["\\ud800"', b'+{"a"x'])
def test_a_part_is_read_as_strictly_as_a_value(part: bytes) -> None:
    taken = Parts(2)
    with pytest.raises(InvalidJson):
        taken.take(part)


def test_depth_is_that_of_the_whole() -> None:
    assert whole(LIST, LIST, b"[1]", CLOSE, CLOSE, last=[]) == [[[1]]]
    assert whole(LIST, b"[[1]]", CLOSE, last=[]) == [[[1]]]
    for parts in ((LIST, LIST, b"[[1]]"), (LIST, b"[[[1]]]"), (LIST, LIST, LIST), (LIST, LIST, OBJECT)):
        with pytest.raises(InvalidJson, match="nested more than"):
            whole(*parts, last=[])
