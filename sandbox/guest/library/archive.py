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
        content = bytearray()
        for name, data in items:
            start = len(content)
            content += data
            self._places[name] = slice(start, len(content))
        self._data = _mapped(bytes(content))

    def __getitem__(self, name: str) -> bytes:
        return self._data[self._places[name]]

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


def _mapped(content: bytes) -> mmap | bytes:
    if not content or not hasattr(os, "memfd_create"):  # elsewhere no worker is forked
        return content
    try:
        with io.FileIO(os.memfd_create("archive"), "r+") as file:
            file.write(content)
            return mmap(file.fileno(), len(content), flags=MAP_PRIVATE, prot=PROT_READ)
    except (OSError, ValueError):  # the size of files is limited; the heap holds the content as well
        return content
