"""Encode a large answer in slices: other threads get their turns between them.

The encoder of the standard library holds the interpreter for the whole of a value: half a second for 12 MB of numbers
near infinity. Call `encode_large` in a thread.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sandbox.protocol.strict_json import JsonValue, encode

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Values of an answer that is not large. So many characters of a text, or bits of an integer, count as one.
_MOST_VALUES, _CHARACTERS, _BITS = 4_000, 64, 256

#: Bytes of a slice. The worst takes about 10 ms.
SLICE_BYTES = 1 << 18

#: Items of a list of unknown size that make a slice; integers of 4,300 digits take 0.5 ms each.
_FEW = 16


def is_large(answer: JsonValue) -> bool:
    """Return whether an answer may take long to encode. Looks at some thousand values at most."""
    stack, left = [answer], _MOST_VALUES
    while stack and left >= 0:
        value = stack.pop()
        if isinstance(value, (list, dict)):
            left -= len(value)
            if left >= 0:
                stack.extend(value.values() if isinstance(value, dict) else value)
        elif type(value) is str:
            left -= len(value) // _CHARACTERS
        elif type(value) is int:
            left -= value.bit_length() // _BITS
    return left < 0


def encode_large(answer: JsonValue) -> bytes:
    """Return an answer as `strict_json.encode` does. Raises InvalidJson, or TypeError for other types."""
    return b"".join(_slices(answer))


def _size(value: JsonValue) -> int | None:
    """Return the size of a value as JSON, None if only the standard library can encode it."""
    import orjson

    try:
        return len(orjson.dumps(value))
    except (TypeError, ValueError, RecursionError):  # an integer beyond 64 bits, half of a surrogate pair, a wrong type
        return None


def _slices(value: JsonValue) -> Iterator[bytes]:
    size = _size(value) if type(value) in (list, dict) else 0
    if size is not None and size < SLICE_BYTES:
        yield encode(value)
    elif type(value) is list:
        yield from _of_list(value, size)
    else:
        yield from _of_object(value)


def _of_list(items: list[JsonValue], size: int | None) -> Iterator[bytes]:
    step = _FEW if size is None else max(1, len(items) * SLICE_BYTES // size)
    sign = b"["
    for start in range(0, len(items), step):
        part = items[start : start + step]
        yield sign
        sign = b","
        if len(part) > 1 and len(items) > step:
            yield b"".join(_slices(part))[1:-1]
        else:
            yield b",".join(b"".join(_slices(item)) for item in part)
    yield b"[]" if sign == b"[" else b"]"


def _of_object(members: dict[str, JsonValue]) -> Iterator[bytes]:
    sign = b"{"
    for key, value in members.items():
        yield sign + encode({key: None})[1:-5]
        yield from _slices(value)
        sign = b","
    yield b"{}" if sign == b"{" else b"}"
