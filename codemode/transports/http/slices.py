"""Parse a large JSON text in slices: other threads get their turns between them.

A parser in C holds the interpreter until it is done: 100 ms for 15 MB. Call `parsed_in_slices` in a thread.
"""

from __future__ import annotations

from typing import Any

import msgspec
import orjson

#: Bytes of a text that is parsed in slices, and of a slice, which takes about 10 ms.
LARGE, _SLICE = 1 << 20, 1 << 20

#: Where a slice may end: the ends of records first. Wrong places are tried, too, but not many.
_ENDS = (b"},", b"],", b",")
_MOST_TRIES = 12

#: The list of an object is found in so many bytes at its beginning.
_BEGINNING = 1_024

_SPACE = b" \t\r\n"
_members = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def parsed_in_slices(text: bytes | memoryview) -> Any:
    """Return the data of a text as `orjson.loads` does. Raises ValueError."""
    if len(text) < LARGE:
        return orjson.loads(text)
    whole = bytes(text).strip(_SPACE)
    if whole.startswith(b"["):
        return _list(whole)
    if whole.startswith(b"{") and b"[" in whole[:_BEGINNING]:
        try:
            return {name: parsed_in_slices(memoryview(part)) for name, part in _members(whole).items()}
        except (msgspec.MsgspecError, RecursionError):
            pass  # orjson explains the error
    return orjson.loads(whole)


def _list(whole: bytes) -> list[Any]:
    """Parse a list. What parses as a list between two commas is a list of items: no comma in a text or part does."""
    items: list[Any] = []
    start, end = 1, len(whole) - 1
    while end - start > _SLICE:
        comma = _next_end(whole, start, items)
        if comma is None:
            return orjson.loads(whole)  # type: ignore[no-any-return]
        start = comma + 1
    if not whole.endswith(b"]") or not whole[start:end].strip(_SPACE):
        return orjson.loads(whole)  # type: ignore[no-any-return]
    items += orjson.loads(b"[" + whole[start:])
    return items


def _next_end(whole: bytes, start: int, items: list[Any]) -> int | None:
    """Parse a slice and add its items. Return the place of the comma after it, None if no slice was found."""
    for sign in _ENDS:
        at = start + _SLICE
        for _ in range(_MOST_TRIES):
            found = whole.find(sign, at)
            if found < 0:
                break
            comma = found + len(sign) - 1
            part = whole[start:comma]
            at = comma + 1
            if not part.strip(_SPACE):
                continue
            try:
                items += orjson.loads(b"[" + part + b"]")
            except ValueError:
                continue
            return comma
    return None
