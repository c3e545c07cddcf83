"""The faster encoder, for plain data alone: None, booleans, numbers, text, lists, tuples and dicts with text as keys.

orjson trusts what it is given: it runs code of enumerations while it holds pointers into lists, believes the fields of
a UUID, and does not survive that memory ends. So each value goes through marshal first, which runs no code, refuses
all types but the interpreter's own, and tells how much there is. Nothing here, nor in the host, ever loads it.

Neither survives that the value changes under it. On CPython 3.11 a collection of garbage may begin inside of marshal
(it makes lists and tuples of a set), and run code of the program, so there is none meanwhile.
"""

from __future__ import annotations

import gc
import marshal  # noqa: TID251  # written to be measured, and thrown away
import re
from typing import Any

import orjson

#: Smaller values are the standard library's.
_LARGE = 1 << 14
#: What a byte of marshal's can take in all: six bytes of JSON (`\u0000`), in a buffer that doubles and is then copied,
#: and its share of a text's copy as UTF-8.
_ROOM = 6 * 3 + 1
#: NaN and Infinity as marshal writes them; orjson would make them null.
_UNREAL = re.compile(rb"g.{6}[\xf0-\xff][\x7f\xff]", re.DOTALL)
_WITHOUT_REFERENCES = 2
#: What a text is weighed by, and of `null` what is rare in others: picked out in one go.
_NOT_TOLD = bytes(set(range(256)) - set(b"[]{}ul"))


class PlainEncoder:
    """Encodes plain data that nothing happens between: what was found to have room once has room again.

    `brackets` are those of the last JSON, for `weight`.
    """

    __slots__ = ("_room", "brackets")

    def __init__(self) -> None:
        self._room = 0
        self.brackets: bytes | None = None

    def dumps(self, value: Any) -> bytes | None:
        """Return the JSON of large plain data, None for anything else."""
        collects = gc.isenabled()
        gc.disable()
        try:
            return self._dumps(value)
        finally:
            if collects:
                gc.enable()

    def _dumps(self, value: Any) -> bytes | None:
        try:
            marshalled = marshal.dumps(value, _WITHOUT_REFERENCES)
            if len(marshalled) < _LARGE:
                return None
            room = len(marshalled) * _ROOM
            if room > self._room:
                bytes(room + room // 4)  # or MemoryError; no page of it is touched
                self._room = room + room // 4
            data = orjson.dumps(value)
            self.brackets = data.translate(None, _NOT_TOLD)
        except (TypeError, ValueError, MemoryError):
            return None
        has_null = b"ull" in self.brackets and b"null" in data
        return None if has_null and _UNREAL.search(marshalled) else data

    def dumps_within(self, value: Any, depth: int) -> bytes | None:
        """Do the same for data that is not nested deeper than `depth`, None for what is.

        The encoder has a limit of its own: the value goes into as many lists as are between that and `depth`.
        """
        around = _DEEPEST - depth
        if around < 0:
            return None
        for _ in range(around):
            value = [value]
        data = self.dumps(value)
        if data is None or self.brackets is None:
            return None
        self.brackets = self.brackets[around : len(self.brackets) - around]
        return data[around : len(data) - around]


def _deepest() -> int:
    """Return how deep the encoder goes; -1 when there is no end to it."""
    value: list[Any] = []
    for depth in range(1, 1_000):
        try:
            orjson.dumps(value)
        except TypeError:
            return depth - 1
        value = [value]
    return -1


_DEEPEST = _deepest()
