"""Long results in parts: the host reads one while the next is encoded."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from sandbox.guest.process.plain_json import dumps
from sandbox.guest.process.values import encode_plain
from sandbox.protocol.parts import LEAST_PART, NO_PARTS, part_of
from sandbox.protocol.strict_json import InvalidJson, check_depth, weight

if TYPE_CHECKING:
    from collections.abc import Callable

#: Items in the first part. The size of each part decides the number of items in the next one.
PART_ITEMS = 250
#: The size of a part in bytes: about as much as a socket takes at once.
_PART_BYTES = 160_000


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
            return self._send_slices(value)
        except (_Indivisible, InvalidJson, RuntimeError):  # RuntimeError: a dict that changed meanwhile
            if self._has_sent:
                self._send(NO_PARTS)
            return None

    def _send_slices(self, value: Any) -> bytes:
        kind: type[Any] = type(value)
        rest = iter(value if kind is list else value.items())
        items, left = PART_ITEMS, len(value)
        while True:
            part = self._encode(kind(islice(rest, items)))
            left -= items
            if left <= 0:
                return part
            self._has_sent = True
            self._send(part_of(part))
            items = min(max(1, _PART_BYTES * items // len(part)), 8 * items)

    def _encode(self, part: Any) -> bytes:
        encoded = dumps(part, self._limit_depth)
        data = encode_plain(part) if encoded is None else encoded.data
        if data is None:
            raise _Indivisible
        if encoded is None:
            check_depth(data, self._limit_depth)
        self._left -= max(weight(data, encoded and encoded.brackets), LEAST_PART)  # as the host counts
        if self._left < 0 or len(data) >= self._part_bytes:
            raise _Indivisible
        return data


def is_long(value: Any) -> bool:
    """Return whether a value is a list or a dict that is sent in parts."""
    return type(value) in (list, dict) and len(value) > PART_ITEMS
