"""Vectors of texts: kept on disk by the hash of their text, and compared as small whole numbers.

A vector is kept with unit length as 8-bit numbers and one scale: a quarter of the memory of 32-bit floats, as quick to
compare, and cosines differ by less than .005.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from codemode.search.semantic.embeddings import Vectors

_KEY_BYTES = 16
_MAGIC = b"codemode vectors"
_HEAD_BYTES = 64  # the magic, and the size of a vector
_STEPS = 127  # of an 8-bit number on either side of zero
_LARGEST = 65_536  # numbers in a vector that a file is believed to hold
_BLOCK = 512  # rows made into floats at a time: they stay in the processor's cache


@dataclass(frozen=True, slots=True)
class VectorTable:
    """Vectors of unit length, one a row: 8-bit numbers, and what each row is to be multiplied by."""

    numbers: NDArray[np.int8]
    scales: Vectors

    @property
    def size(self) -> int:
        """Numbers in one vector."""
        return int(self.numbers.shape[1])

    def cosines(self, vector: Vectors) -> Vectors:
        """Of each row to a vector of any length."""
        unit = vector / max(float(np.linalg.norm(vector)), 1e-9)
        blocks = [
            self.numbers[start : start + _BLOCK].astype(np.float32).dot(unit)
            for start in range(0, len(self.numbers), _BLOCK)
        ]
        return np.asarray(np.concatenate(blocks) * self.scales if blocks else self.scales, np.float32)


class VectorCache:
    """A file of vectors for each embedder, by the hash of their text. Appended to; several processes may do so."""

    def __init__(self, folder: Path, name: str) -> None:
        self._path = folder / f"{hashlib.blake2b(name.encode(), digest_size=12).hexdigest()}.vectors"
        self.size = 0  # numbers in a vector; 0 while there is none
        self._places: dict[bytes, int] = {}
        self._records: NDArray[np.void] = np.zeros(0, _record(0))
        self.read()

    def read(self) -> None:
        """Read the file, as this and other processes left it."""
        try:
            with self._path.open("rb") as file:
                self.size = _size(file.read(_HEAD_BYTES))
        except OSError:
            self.size = 0
        record = _record(self.size)
        count = (self._path.stat().st_size - _HEAD_BYTES) // record.itemsize if self.size else 0
        self._records = np.memmap(self._path, record, "r", _HEAD_BYTES, (count,)) if count else np.zeros(0, record)
        keys = self._records["key"].tobytes()
        self._places = {keys[at : at + _KEY_BYTES]: at // _KEY_BYTES for at in range(0, len(keys), _KEY_BYTES)}

    def missing(self, texts: Sequence[str]) -> list[str]:
        """The texts that had no vector when the file was last read, each once."""
        return [text for text in dict.fromkeys(texts) if _key(text) not in self._places]

    def table(self, texts: Sequence[str]) -> VectorTable:
        """The vectors of texts in their order. Raises KeyError for one that is missing."""
        found = self._records[[self._places[_key(text)] for text in texts]]
        return VectorTable(np.ascontiguousarray(found["numbers"]), np.ascontiguousarray(found["scale"]))

    def add(self, texts: Sequence[str], vectors: Vectors) -> None:
        """Keep vectors; those of another size than the file's replace all that it has. Raises OSError.

        A write that is cut off leaves a part of a record, which nothing reads and the next write removes.
        """
        records = _quantized(texts, vectors)
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self._path.open("a+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            if _size(file.read(_HEAD_BYTES)) != vectors.shape[1]:
                file.truncate(0)
                file.write((_MAGIC + vectors.shape[1].to_bytes(4, "little")).ljust(_HEAD_BYTES, b"\0"))
            end = file.seek(0, os.SEEK_END)
            file.truncate(end - (end - _HEAD_BYTES) % records.itemsize)
            file.write(records.tobytes())


def _quantized(texts: Sequence[str], vectors: Vectors) -> NDArray[np.void]:
    unit = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    scales = np.maximum(np.abs(unit).max(axis=1), 1e-9) / _STEPS
    records = np.zeros(len(texts), _record(vectors.shape[1]))
    records["key"] = np.frombuffer(b"".join(map(_key, texts)), f"V{_KEY_BYTES}")
    records["scale"] = scales
    records["numbers"] = np.round(unit / scales[:, None])
    return records


def _size(head: bytes) -> int:
    """Of the vectors in a file with this head; 0 where it is none of ours."""
    size = int.from_bytes(head[len(_MAGIC) : len(_MAGIC) + 4], "little") if head.startswith(_MAGIC) else 0
    return size if size <= _LARGEST else 0


def _record(size: int) -> np.dtype[np.void]:
    return np.dtype([("key", f"V{_KEY_BYTES}"), ("scale", "<f4"), ("numbers", np.int8, (size,))])


def _key(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_KEY_BYTES).digest()
