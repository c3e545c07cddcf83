"""A value that comes in parts, so that the host reads one while the guest encodes the next. No I/O in here.

    [item,…]    items of the list that is open
    ={…}        members of the object that is open
    +[          opens a list, the next item of the list that is open; +["key" the member of an object
    +{          opens an object in the same way
    -           what was opened last is complete
    []          takes back all that came before

The value itself is open from the beginning, and what it is the first part says. Its last part is bare JSON again: it
is the value that follows the final message.
"""

from __future__ import annotations

from typing import Any

from sandbox.errors import GuestProtocolError
from sandbox.protocol.strict_json import InvalidJson, JsonValue, Structure, encode, loads, loads_result

#: The part that takes back those before it.
NO_PARTS = b"[]"
CLOSE = b"-"
#: How a frame begins that is a part.
KINDS = (b"[", b"=", b"+", b"-")
_MARKS: dict[type, bytes] = {list: b"[", dict: b"{"}
_TYPES: dict[bytes, type] = {mark: kind for kind, mark in _MARKS.items()}


def part_of(data: bytes) -> bytes:
    """Return the part that carries these items or members, given as JSON."""
    return data if data.startswith(b"[") else b"=" + data


def opening(kind: type, key: str | None) -> bytes:
    """Return the part that opens a list or an object, under a key where it is a member. Raises InvalidJson."""
    return b"+" + _MARKS[kind] + (b"" if key is None else encode(key))


class Parts:
    """Puts a value together from what nobody trusts. `depth` is how deep the whole may be nested."""

    def __init__(self, depth: int) -> None:
        self._depth = depth
        self._open: list[Any] = []

    def take(self, part: bytes, structure: Structure | None = None) -> None:
        """Take one part; `structure` is its own, for whom it is known. Raises GuestProtocolError, InvalidJson."""
        if part == NO_PARTS:
            self._open.clear()
        elif part.startswith(b"["):
            self._innermost(list).extend(self._read(part, structure))
        elif part.startswith(b"={"):
            self._innermost(dict).update(self._read(part[1:], structure))
        elif part.startswith(b"+"):
            self._begin(_TYPES.get(part[1:2]), part[2:])
        elif part == CLOSE and len(self._open) > 1:
            self._open.pop()
        else:
            raise GuestProtocolError("the guest sent a part of a value that is none")

    def complete(self, last: JsonValue) -> JsonValue:
        """Return the whole value, given its last part. Raises GuestProtocolError."""
        if not self._open:
            return last
        if len(self._open) > 1 or type(last) is not type(self._open[0]):
            raise GuestProtocolError("the guest sent parts of a value, and a last one that does not belong to them")
        whole = self._innermost(type(last))
        whole.extend(last) if type(last) is list else whole.update(last)
        return whole

    def _read(self, data: bytes, structure: Structure | None) -> JsonValue:
        return loads_result(data, depth=self._depth - max(len(self._open) - 1, 0), structure=structure)

    def _begin(self, kind: type | None, key: bytes) -> None:
        name = loads(key) if key else None
        if kind is None or (key and type(name) is not str):
            raise GuestProtocolError("the guest opened something in a value that is no list and no object")
        inside = kind()
        if key:
            self._innermost(dict)[name] = inside
        else:
            self._innermost(list).append(inside)
        self._open.append(inside)
        if len(self._open) > self._depth:
            message = f"nested more than {self._depth} deep"
            raise InvalidJson(message)

    def _innermost(self, kind: type) -> Any:
        """Return what is open; the value itself if nothing came before."""
        if not self._open:
            self._open.append(kind())
        if type(self._open[-1]) is not kind:
            raise GuestProtocolError("the guest sent items of a list for an object, or the other way round")
        return self._open[-1]
