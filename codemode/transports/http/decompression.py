"""Decompression of answers (`Content-Encoding`) in bounded steps, so that a small input cannot become a huge output."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Accepted encodings. Brotli and zstd are not requested, and rejected.
ACCEPTED = "gzip, deflate"

#: Largest output of one step, in bytes.
_PIECE = 256 * 1024

#: Largest number of nested encodings. In practice there are none.
_MOST_LAYERS = 2


class PackedWrongly(ValueError):
    """An answer that cannot be decompressed. The message says why."""


class Unpacker:
    """Decompresses `gzip`, with several members, and `deflate`, with or without a zlib header."""

    def __init__(self, encoding: str) -> None:
        names = [name for name in (part.strip().lower() for part in encoding.split(",")) if name != "identity"]
        names = [name.removeprefix("x-") for name in names if name]
        unknown = [name for name in names if name not in ("gzip", "deflate")]
        if unknown or len(names) > _MOST_LAYERS:
            message = f"its encoding is {encoding[:60]!r}, which was not requested"
            raise PackedWrongly(message)
        self._layers = [_Layer(name) for name in reversed(names)]

    def pieces(self, chunk: bytes) -> Iterator[bytes]:
        """Return the decompressed pieces of a chunk. Raises PackedWrongly."""
        return _through(self._layers, chunk)

    def end(self) -> None:
        """Raise PackedWrongly if the answer ended too early."""
        if any(not layer.is_done for layer in self._layers):
            raise PackedWrongly("it ends too early")


class _Layer:
    def __init__(self, name: str) -> None:
        self._name = name
        self._unpack = zlib.decompressobj(zlib.MAX_WBITS | 16 if name == "gzip" else zlib.MAX_WBITS)
        self._has_begun = False

    @property
    def is_done(self) -> bool:
        return self._unpack.eof or not self._has_begun

    def pieces(self, data: bytes) -> Iterator[bytes]:
        piece = b""
        while data or len(piece) == _PIECE:  # a full piece: more output may need no further input
            if self._unpack.eof:  # the next member of a gzip file (RFC 1952, 2.2)
                self._unpack = zlib.decompressobj(zlib.MAX_WBITS | 16)
            piece = self._step(data)
            if piece:
                yield piece
            data = self._unpack.unconsumed_tail or (self._unpack.unused_data if self._name == "gzip" else b"")

    def _step(self, data: bytes) -> bytes:
        try:
            piece = self._unpack.decompress(data, _PIECE)
        except zlib.error as error:
            if self._name == "gzip" or self._has_begun:
                message = f"it is not valid {self._name}: {error}"
                raise PackedWrongly(message) from None
            self._unpack, self._has_begun = zlib.decompressobj(-zlib.MAX_WBITS), True
            return self._step(data)
        self._has_begun = True
        return piece


def _through(layers: list[_Layer], data: bytes) -> Iterator[bytes]:
    if not layers:
        yield data
        return
    for piece in layers[0].pieces(data):
        yield from _through(layers[1:], piece)
