"""Data that few programs read, kept outside of the heap."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Mapping
from mmap import MAP_PRIVATE, PROT_READ, mmap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class Archive(Mapping[str, bytes]):
    """Bytes by name, in one read-only mapping of a nameless file.

    A fork copies the page table of the heap. It copies none of a file that nobody has written to through the mapping.
    A worker closes the descriptor, and what it writes to its private mapping is its own.
    """

    def __init__(self, items: Iterable[tuple[str, bytes]]) -> None:
        self._places: dict[str, slice] = {}
        is_linux = hasattr(os, "memfd_create")  # elsewhere no worker is forked
        with io.FileIO(os.memfd_create("archive"), "r+") if is_linux else io.BytesIO() as file:
            for name, content in items:
                start = file.tell()
                file.write(content)
                self._places[name] = slice(start, file.tell())
            self._data = _mapped(file) if isinstance(file, io.FileIO) else file.getvalue()

    def __getitem__(self, name: str) -> bytes:
        return self._data[self._places[name]]

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


def _mapped(file: io.FileIO) -> mmap | bytes:
    size = file.tell()
    return mmap(file.fileno(), size, flags=MAP_PRIVATE, prot=PROT_READ) if size else b""
