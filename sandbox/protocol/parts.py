"""Parts of a value: the host reads one while the guest encodes the next. This module does no I/O.

    [item,…]    items of the open list
    ={…}        members of the open object
    +[          open a list as the next item of the open list; +["key" as a member of the open object
    +{          open an object in the same way
    -           close the list or object that was opened last
    []          withdraw all parts so far

The value itself is open from the beginning; the first part decides whether it is a list or an object. The last part is
the bare JSON that follows the final message.
"""

from __future__ import annotations

from sandbox.errors import GuestProtocolError
from sandbox.protocol.strict_json import InvalidJson, encode, loads, loads_result

#: Least weight of a part, in bytes: bounds the number of parts.
LEAST_PART = 4_096
#: The part that withdraws all parts so far.
NO_PARTS = b"[]"
CLOSE = b"-"
#: First bytes of a frame that is a part.
KINDS = (b"[", b"=", b"+", b"-")
_MARKS: dict[type, bytes] = {list: b"[", dict: b"{"}
_SPACE = b" \t\r\n"
_ENDS: dict[type, bytes] = {list: b"]", dict: b"}"}
_TYPES: dict[bytes, type] = {mark: kind for kind, mark in _MARKS.items()}


def part_of(data: bytes) -> bytes:
    """Return the part that carries a JSON list of items, or a JSON object of members."""
    return data if data.startswith(b"[") else b"=" + data


def opening(kind: type, key: str | None) -> bytes:
    """Return the part that opens a list or an object, with a key for a member. Raises InvalidJson."""
    return b"+" + _MARKS[kind] + (b"" if key is None else encode(key))


class Parts:
    """Join untrusted parts to the text of one value, nested at most `depth` levels. No value is made of it."""

    def __init__(self, depth: int) -> None:
        self._depth = depth
        self._texts: list[bytes] = []
        #: Each open list or object: its type, and whether it has contents.
        self._open: list[tuple[type, bool]] = []

    @property
    def depth_left(self) -> int:
        """Nesting that is left for the next part."""
        return self._depth - max(len(self._open) - 1, 0)

    def take(self, part: bytes, *, is_checked: bool = False) -> None:
        """Take one part, whose JSON may have been checked before. Raises GuestProtocolError or InvalidJson."""
        text = checked_text(part)
        if text and not is_checked:
            loads_result(text, depth=self.depth_left)
        if part == NO_PARTS:
            self._open.clear()
            self._texts.clear()
        elif part.startswith(b"["):
            self._put(list, part)
        elif part.startswith(b"={"):
            self._put(dict, part[1:])
        elif part.startswith(b"+"):
            self._begin(_TYPES.get(part[1:2]), part[2:])
        elif part == CLOSE and len(self._open) > 1:
            kind, _ = self._open.pop()
            self._texts.append(_ENDS[kind])
        else:
            raise GuestProtocolError("the guest sent a malformed part of a value")

    def complete(self, last: bytes) -> bytes:
        """Return the text of the whole value, given its last part. Raises GuestProtocolError."""
        if not self._open:
            return last
        kind, _ = self._open[0]
        if len(self._open) > 1 or not last.startswith(_MARKS[kind]):
            raise GuestProtocolError("the guest sent a last part that does not fit the parts before")
        self._put(kind, last)
        self._texts.append(_ENDS[kind])
        return b"".join(self._texts)

    def _put(self, kind: type, text: bytes) -> None:
        self._enter(kind)
        inside = text.rstrip(_SPACE)[1:-1].strip(_SPACE)
        if inside:
            self._next(kind)
            self._texts.append(inside)

    def _begin(self, kind: type | None, key: bytes) -> None:
        if kind is None or (key and type(loads(key)) is not str):
            raise GuestProtocolError("the guest opened something other than a list or an object in a value")
        self._enter(dict if key else list)
        self._next(dict if key else list)
        self._texts.append((key + b":" if key else b"") + _MARKS[kind])
        self._open.append((kind, False))
        if len(self._open) > self._depth:
            message = f"nested more than {self._depth} deep"
            raise InvalidJson(message)

    def _enter(self, kind: type) -> None:
        """Check the type of the open container; the first part opens the value itself."""
        if not self._open:
            self._open.append((kind, False))
            self._texts.append(_MARKS[kind])
        if self._open[-1][0] is not kind:
            raise GuestProtocolError("the guest sent items for an object, or members for a list")

    def _next(self, kind: type) -> None:
        if self._open[-1][1]:
            self._texts.append(b",")
        self._open[-1] = (kind, True)


def checked_text(part: bytes) -> bytes:
    """Return the JSON in a part; empty for parts that open, close or withdraw."""
    if part.startswith(b"[") and part != NO_PARTS:
        return part
    return part[1:] if part.startswith(b"={") else b""
