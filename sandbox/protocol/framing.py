"""Frames: a length of four bytes, big-endian, then that many bytes. No I/O in here.

The length is compared with the budget before a byte of the body is kept, so that nobody can make the reader allocate
by announcing a size.
"""

from __future__ import annotations

from collections import deque
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

    __slots__ = ("_body_bytes", "_chunks", "_size", "_taken")

    def __init__(self) -> None:
        self._chunks: deque[bytes] = deque()
        self._size = 0
        #: Bytes of the first chunk that were taken.
        self._taken = 0
        #: Length of the body that comes next, once its header was read.
        self._body_bytes: int | None = None

    def feed(self, chunk: bytes) -> None:
        """Append what was read."""
        if chunk:
            self._chunks.append(chunk)
            self._size += len(chunk)

    def next_frame(self, *, budget: int) -> bytes | None:
        """Take the next whole frame, or None when more bytes are needed.

        Raises FrameTooLarge as soon as the length is known, whether or not the body has arrived.
        """
        size = self._body_bytes
        if size is None:
            if self._size < HEADER_BYTES:
                return None
            (size,) = HEADER.unpack(self._take(HEADER_BYTES))
            if size > budget:
                raise FrameTooLarge(size, budget)
            self._body_bytes = size
        if self._size < size:
            return None
        self._body_bytes = None
        return self._take(size)

    def _take(self, size: int) -> bytes:
        """Cut off the first bytes, each of which is copied once, when a whole frame is there."""
        self._size -= size
        pieces: list[memoryview] = []
        while size:
            chunk, start = self._chunks[0], self._taken
            end = start + size
            if end < len(chunk):
                self._taken = end
            else:
                self._chunks.popleft()
                self._taken, end = 0, len(chunk)
            if not pieces and end - start == size:
                return chunk[start:end]
            pieces.append(memoryview(chunk)[start:end])
            size -= end - start
        return b"".join(pieces)
