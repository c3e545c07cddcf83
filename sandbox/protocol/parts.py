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

from sandbox.errors import GuestProtocolError
from sandbox.protocol.strict_json import InvalidJson, encode, loads, loads_result

#: The least that a part counts against the limit, in bytes: many empty parts reach it, too.
LEAST_PART = 4_096
#: The part that takes back those before it.
NO_PARTS = b"[]"
CLOSE = b"-"
#: How a frame begins that is a part.
KINDS = (b"[", b"=", b"+", b"-")
_MARKS: dict[type, bytes] = {list: b"[", dict: b"{"}
_SPACE = b" \t\r\n"
_ENDS: dict[type, bytes] = {list: b"]", dict: b"}"}
_TYPES: dict[bytes, type] = {mark: kind for kind, mark in _MARKS.items()}


def part_of(data: bytes) -> bytes:
    """Return the part that carries these items or members, given as JSON."""
    return data if data.startswith(b"[") else b"=" + data


def opening(kind: type, key: str | None) -> bytes:
    """Return the part that opens a list or an object, under a key where it is a member. Raises InvalidJson."""
    return b"+" + _MARKS[kind] + (b"" if key is None else encode(key))


class Parts:
    """Puts the text of a value together from what nobody trusts. `depth` is how deep the whole may be nested.

    No value is made of the parts: their texts are put in their places.
    """

    def __init__(self, depth: int) -> None:
        self._depth = depth
        self._texts: list[bytes] = []
        #: Of what is open: the type, and whether something is in it.
        self._open: list[tuple[type, bool]] = []

    @property
    def depth_left(self) -> int:
        """How deep the next part may be nested."""
        return self._depth - max(len(self._open) - 1, 0)

    def take(self, part: bytes, *, is_checked: bool = False) -> None:
        """Take one part; `is_checked`: its JSON is known to be some. Raises GuestProtocolError, InvalidJson."""
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
            raise GuestProtocolError("the guest sent a part of a value that is none")

    def complete(self, last: bytes) -> bytes:
        """Return the text of the whole value, given its last part. Raises GuestProtocolError."""
        if not self._open:
            return last
        kind, _ = self._open[0]
        if len(self._open) > 1 or not last.startswith(_MARKS[kind]):
            raise GuestProtocolError("the guest sent parts of a value, and a last one that does not belong to them")
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
            raise GuestProtocolError("the guest opened something in a value that is no list and no object")
        self._enter(dict if key else list)
        self._next(dict if key else list)
        self._texts.append((key + b":" if key else b"") + _MARKS[kind])
        self._open.append((kind, False))
        if len(self._open) > self._depth:
            message = f"nested more than {self._depth} deep"
            raise InvalidJson(message)

    def _enter(self, kind: type) -> None:
        """See to it that what is open is of this kind; the value itself, if nothing came before."""
        if not self._open:
            self._open.append((kind, False))
            self._texts.append(_MARKS[kind])
        if self._open[-1][0] is not kind:
            raise GuestProtocolError("the guest sent items of a list for an object, or the other way round")

    def _next(self, kind: type) -> None:
        if self._open[-1][1]:
            self._texts.append(b",")
        self._open[-1] = (kind, True)


def checked_text(part: bytes) -> bytes:
    """Return what of a part is JSON to be checked; nothing of one that opens or closes."""
    if part.startswith(b"[") and part != NO_PARTS:
        return part
    return part[1:] if part.startswith(b"={") else b""
