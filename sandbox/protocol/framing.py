"""Frames: a length of four bytes, big-endian, then that many bytes. No I/O in here.

The length is compared with the budget before a byte of the body is kept, so that nobody can make the reader allocate
by announcing a size.
"""

from __future__ import annotations

from struct import Struct

HEADER = Struct(">I")
HEADER_BYTES = HEADER.size


class FrameTooLarge(Exception):
    """A frame was announced that is larger than its budget. `announced` and `budget` are bytes."""

    def __init__(self, announced: int, budget: int) -> None:
        self.announced = announced
        self.budget = budget
        super().__init__(f"a frame of {announced} bytes was announced, {budget} are allowed")


def frame(body: bytes) -> bytes:
    """Return the body with its length in front."""
    return HEADER.pack(len(body)) + body


class FrameBuffer:
    """Cuts a stream of bytes into frames.

    >>> buffer = FrameBuffer()
    >>> buffer.feed(frame(b"one") + frame(b"two")[:5])
    >>> bytes(buffer.next_frame(budget=10)), buffer.next_frame(budget=10)
    (b'one', None)
    """

    __slots__ = ("_data", "_start")

    def __init__(self) -> None:
        self._data = bytearray()
        self._start = 0

    def __len__(self) -> int:
        """Count the bytes that were fed and not yet taken."""
        return len(self._data) - self._start

    def feed(self, chunk: bytes | memoryview) -> None:
        """Append what was read."""
        if self._start:
            del self._data[: self._start]
            self._start = 0
        self._data += chunk

    def next_frame(self, *, budget: int) -> bytes | None:
        """Take the next whole frame, or None when more bytes are needed.

        Raises FrameTooLarge as soon as the length is known, whether or not the body has arrived.
        """
        available = len(self._data) - self._start
        if available < HEADER_BYTES:
            return None
        (size,) = HEADER.unpack_from(self._data, self._start)
        if size > budget:
            raise FrameTooLarge(size, budget)
        end = self._start + HEADER_BYTES + size
        if len(self._data) < end:
            return None
        with memoryview(self._data) as view:
            body = bytes(view[self._start + HEADER_BYTES : end])
        self._start = end
        return body
