"""Large results in parts: the host reads one while the next is encoded."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from sandbox.guest.base.plain_json import dumps
from sandbox.guest.base.values import encode_plain
from sandbox.protocol.parts import CLOSE, LEAST_PART, NO_PARTS, opening, part_of
from sandbox.protocol.strict_json import InvalidJson, check_depth, weight

if TYPE_CHECKING:
    from collections.abc import Callable

#: Items in the first part of a long list. The size of each part decides the number of items in the next one.
PART_ITEMS = 250
#: A list or a dict inside of the result is sent in parts if it has more items.
LONG = 1_000
#: The size of a part in bytes: about as much as a socket takes at once.
_PART_BYTES = 160_000
#: Long lists are searched in containers of at most `_FEW` items, and `_LEVELS` deep.
_FEW, _LEVELS = 16, 2


class _Indivisible(Exception):
    """The value is not plain data, too large or too deep. The encoder of whole values reports which."""


class PartSender:
    """Sends a value in parts. `send` takes one part without a frame."""

    def __init__(self, send: Callable[[bytes], None], *, limit_bytes: int, part_bytes: int, limit_depth: int) -> None:
        self._send = send
        self._left = limit_bytes
        self._part_bytes = part_bytes
        self._limit_depth = limit_depth
        self._has_sent = False

    def send_most(self, value: Any) -> bytes | None:
        """Send a list or a dict except for its last part, and return that part as JSON.

        Returns None if the value cannot be sent in parts, and takes back the parts that were sent.
        """
        try:
            return self._send_most(value, 0)
        except (_Indivisible, InvalidJson, RuntimeError):  # RuntimeError: a dict that changed meanwhile
            if self._has_sent:
                self._send(NO_PARTS)
            return None

    def _send_most(self, value: Any, level: int) -> bytes:
        if level >= self._limit_depth:
            raise _Indivisible
        if len(value) > LONG or (not level and _is_long_list(value)):
            return self._send_slices(value, level)
        is_list, levels = type(value) is list, _levels_below(value)
        pending: Any = type(value)()
        for key, item in enumerate(value) if is_list else value.items():
            if _holds_long(item, levels):
                self._put(self._encode(pending, level))
                pending.clear()
                self._send_inside(None if is_list else key, item, level + 1)
            elif is_list:
                pending.append(item)
            else:
                pending[key] = item
        return self._encode(pending, level)

    def _send_inside(self, key: Any, item: Any, level: int) -> None:
        if key is not None and type(key) is not str:
            raise _Indivisible
        part = opening(type(item), key)
        self._count(weight(part))
        self._count(len(CLOSE))
        self._send_part(part)
        self._put(self._send_most(item, level))
        self._send_part(CLOSE)

    def _send_slices(self, value: Any, level: int) -> bytes:
        kind: type[Any] = type(value)
        rest = iter(value if kind is list else value.items())
        items, left = PART_ITEMS, len(value)
        while True:
            part = self._encode(kind(islice(rest, items)), level)
            left -= items
            if left <= 0:
                return part
            self._put(part)
            items = min(max(1, _PART_BYTES * items // len(part)), 8 * items)

    def _encode(self, part: Any, level: int) -> bytes:
        depth = self._limit_depth - level
        encoded = dumps(part, depth)
        data = encode_plain(part) if encoded is None else encoded.data
        if data is None:
            raise _Indivisible
        if encoded is None:
            check_depth(data, depth)
        self._count(weight(data, encoded and encoded.brackets))
        if len(data) >= self._part_bytes:
            raise _Indivisible
        return data

    def _count(self, size: int) -> None:
        """Count the size of a part as the host does."""
        self._left -= max(size, LEAST_PART)
        if self._left < 0:
            raise _Indivisible

    def _put(self, data: bytes) -> None:
        if len(data) > len(NO_PARTS):
            self._send_part(part_of(data))

    def _send_part(self, part: bytes) -> None:
        self._has_sent = True
        self._send(part)


def _is_long_list(value: Any) -> bool:
    return type(value) is list and len(value) > PART_ITEMS


def has_long(value: Any) -> bool:
    """Return whether a value is, or holds, a list or a dict that is sent in parts."""
    return _is_long_list(value) or _holds_long(value, _LEVELS + 1)


def _holds_long(value: Any, levels: int) -> bool:
    kind = type(value)
    if kind is not list and kind is not dict:
        return False
    if len(value) > LONG:
        return True
    if not levels:
        return False
    levels = min(levels - 1, _levels_below(value))
    return any(_holds_long(item, levels) for item in (value if kind is list else value.values()))


def _levels_below(value: Any) -> int:
    return _LEVELS if len(value) <= _FEW else 0
