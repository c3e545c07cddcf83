"""Frames: a four-byte big-endian length, followed by that many bytes. This module does no I/O.

The length is checked against the budget before any of the body is awaited, so an announced size allocates nothing.
"""

from __future__ import annotations

from struct import Struct

HEADER = Struct(">I")
HEADER_BYTES = HEADER.size


class FrameTooLarge(Exception):
    """The announced length of a frame exceeds its budget, both in bytes."""

    def __init__(self, announced: int, budget: int) -> None:
        super().__init__(f"a frame of {announced} bytes was announced, {budget} are allowed")


def frame(body: bytes) -> bytes:
    """Return the body with its length in front."""
    return HEADER.pack(len(body)) + body


class FrameBuffer:
    """Cut a byte stream into frames.

    >>> buffer = FrameBuffer()
    >>> buffer.feed(frame(b"one") + frame(b"two")[:5])
    >>> buffer.next_frame(budget=10), buffer.next_frame(budget=10)
    (b'one', None)
    """

    __slots__ = ("_body_bytes", "_data", "_later", "_size", "_start")

    def __init__(self) -> None:
        self._data = b""
        #: Where the unread part of `_data` begins.
        self._start = 0
        #: Chunks that follow `_data`; they are joined once, when a whole frame has arrived.
        self._later: list[bytes] = []
        #: Unread bytes in all.
        self._size = 0
        #: Length of the next body, once its header has been read.
        self._body_bytes: int | None = None

    def feed(self, chunk: bytes) -> None:
        """Append bytes that were read."""
        if self._size:
            self._later.append(chunk)
        else:  # the usual case: all before was taken, and nothing need be joined
            self._data, self._start = chunk, 0
        self._size += len(chunk)

    def next_frame(self, *, budget: int) -> bytes | None:
        """Return the body of the next frame, or None if it is incomplete.

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
        self._size -= size
        end = self._start + size
        if end > len(self._data):
            self._data = b"".join((self._data[self._start :], *self._later))
            self._later.clear()
            self._start, end = 0, size
        taken = self._data[self._start : end]
        self._start = end
        return taken
