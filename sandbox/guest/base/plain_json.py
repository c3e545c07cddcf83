"""A faster encoder for plain data: None, booleans, numbers, text, lists, tuples and dicts with text keys.

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
from typing import Any, NamedTuple

import orjson

#: Smaller values are left to the standard library.
_LARGE = 1 << 14
#: Memory for each byte of marshal: six bytes of JSON (`\u0000`) in a buffer that doubles and is copied, and
#: a copy of the text as UTF-8.
_ROOM = 6 * 3 + 1
#: NaN and Infinity in the format of marshal. orjson would write null.
_UNREAL = re.compile(rb"g.{6}[\xf0-\xff][\x7f\xff]", re.DOTALL)
_WITHOUT_REFERENCES = 2
#: The depth limit of orjson.
_DEEPEST = 254
#: Bytes that marshal writes beside a text, and beside the members of a dict.
_AROUND_TEXT, _AROUND_DICT = 5, 2
#: Bytes of a character in UTF-8.
_MOST_BYTES = 4
#: All bytes except brackets, which decide the weight, and the letters `ul` of `null`.
_NOT_TOLD = bytes(set(range(256)) - set(b"[]{}ul"))


class Encoded(NamedTuple):
    """JSON, and its brackets for `weight`."""

    data: bytes
    brackets: bytes


def dumps(value: Any, depth: int) -> Encoded | None:
    """Return the JSON of large plain data nested at most `depth` deep, None for any other value."""
    collects = gc.isenabled()
    gc.disable()
    try:
        return _dumps(value, _DEEPEST - depth)
    except (TypeError, ValueError, MemoryError):
        return None
    finally:
        if collects:
            gc.enable()


def _dumps(value: Any, around: int) -> Encoded | None:
    """Encode a value. It is wrapped in lists, so that the depth limit of the encoder becomes that of the result."""
    if type(value) is str:
        marshalled, size = b"", len(value) * (1 if value.isascii() else _MOST_BYTES)
        around = min(around, 0)  # nothing is nested in it
    else:
        marshalled, size = measured(value)
    if size < _LARGE or around < 0:
        return None
    bytes(size * _ROOM)  # raises MemoryError if there is no room; touches no page
    for _ in range(around):
        value = [value]
    data = orjson.dumps(value)[around : -around or None]
    brackets = data.translate(None, _NOT_TOLD)
    has_null = b"ull" in brackets and b"null" in data
    return None if has_null and _UNREAL.search(marshalled) else Encoded(data, brackets)


def measured(value: Any) -> tuple[bytes, int]:
    """Return the marshal data of a value, and an upper bound of its size with all keys.

    Of records it writes the values alone: their keys are most of the rest, and mostly the same. A dict whose keys are
    all text leads the interpreter to its values alone, any other to its keys, too; that is then left to marshal.
    """
    if type(value) is list and set(map(type, value)) == {dict}:
        inside = gc.get_referents(*value)
        if len(inside) == sum(map(len, value)):
            marshalled = marshal.dumps(inside, _WITHOUT_REFERENCES)
            longest = max((len(key.encode()) for key in set().union(*value)), default=0)
            return marshalled, len(marshalled) + len(value) * _AROUND_DICT + len(inside) * (longest + _AROUND_TEXT)
    marshalled = marshal.dumps(value, _WITHOUT_REFERENCES)
    return marshalled, len(marshalled)
