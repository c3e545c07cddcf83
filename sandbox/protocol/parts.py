"""Parts of a value: the host reads one while the guest encodes the next. This module does no I/O.

    [item,…]    items of the list
    ={…}        members of the object
    []          withdraw all parts so far

The first part decides whether the value is a list or an object. The last part is the bare JSON that follows the final
message.
"""

from __future__ import annotations

from sandbox.errors import GuestProtocolError
from sandbox.protocol.strict_json import loads_result

#: Least weight of a part, in bytes: bounds the number of parts.
LEAST_PART = 4_096
#: The part that withdraws all parts so far.
NO_PARTS = b"[]"
#: First bytes of a frame that is a part.
KINDS = (b"[", b"=")
_SPACE = b" \t\r\n"
_ENDS = {b"[": b"]", b"{": b"}"}


def part_of(data: bytes) -> bytes:
    """Return the part that carries a JSON list of items, or a JSON object of members."""
    return data if data.startswith(b"[") else b"=" + data


class Parts:
    """Join untrusted parts to the text of one value, nested at most `depth` levels. No value is made of it."""

    def __init__(self, depth: int) -> None:
        self._depth = depth
        self._kind = b""
        self._texts: list[bytes] = []

    def take(self, part: bytes, *, is_checked: bool = False) -> None:
        """Take one part, whose JSON may have been checked before. Raises GuestProtocolError or InvalidJson."""
        text = checked_text(part)
        if text and not is_checked:
            loads_result(text, depth=self._depth)
        if part == NO_PARTS:
            self._kind = b""
            self._texts.clear()
        elif text[:1] in _ENDS:
            self._put(text)
        else:
            raise GuestProtocolError("the guest sent a malformed part of a value")

    def complete(self, last: bytes) -> bytes:
        """Return the text of the whole value, given its last part. Raises GuestProtocolError."""
        if not self._kind:
            return last
        self._put(last)
        return self._kind + b",".join(self._texts) + _ENDS[self._kind]

    def _put(self, text: bytes) -> None:
        self._kind = self._kind or text[:1]
        if text[:1] != self._kind:
            raise GuestProtocolError("the guest sent parts of a list and of an object for one value")
        inside = text.rstrip(_SPACE)[1:-1].strip(_SPACE)
        if inside:
            self._texts.append(inside)


def checked_text(part: bytes) -> bytes:
    """Return the JSON in a part; empty for one that withdraws."""
    if part.startswith(b"[") and part != NO_PARTS:
        return part
    return part[1:] if part.startswith(b"={") else b""
