"""The heap of the fork server as a file in memory, of which a worker has no more than the pages that it uses.

To fork is to copy an entry for each page of anonymous memory there is, and to end is to take each down again: 4,300 of
them, of which a small program uses 600, and the rest costs as much as the program does. Of a private mapping of a file
a process has entries for what it has touched. So when everything is imported, the heap is copied to a file in memory
(memfd_create(2)) which is mapped in its place, and the pages that workers will use are made anonymous again at once: a
page that is first read would be mapped together with its fifteen neighbours, and written to soon after.
"""

from __future__ import annotations

import os
from array import array
from ctypes import CDLL, c_char, c_size_t, c_void_p
from errno import ENOSYS
from itertools import accumulate, chain
from resource import getpagesize
from typing import TYPE_CHECKING, NamedTuple

from sandbox.guest.c_calls import CallSequence
from sandbox.guest.mappings import read_mappings
from sandbox.isolation.kernel import MAP_FIXED, MAP_PRIVATE, PROT_READ, PROT_WRITE, map_memory, unmap_memory

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_PAGE = getpagesize()
#: A mapping that is smaller costs more to be mapped again than its pages do.
_LEAST_BYTES = 256 * 1024
#: The file goes on behind the heap, with nothing: the C library may enlarge a piece of the heap where it is. Whoever
#: reads of that gives the file pages that stay when a worker has ended and count for none, so it is little.
_ROOM_BYTES = 1 << 24

_MADV_DONTDUMP, _MADV_POPULATE_WRITE = 16, 23
_PRESENT = 1 << 63  # in an entry of /proc/PID/pagemap


class Region(NamedTuple):
    """Memory from the address `start`, `size` bytes."""

    start: int
    size: int


class HeapFile:
    """The large pieces of memory that this process can write to, and a file in memory that can take their place.

    Made while files are in reach, used behind the lockdown. Raises OSError where there is no such file or no /proc.
    """

    def __init__(self) -> None:
        self.regions = _regions()
        self._size = sum(region.size for region in self.regions)
        if not hasattr(os, "memfd_create"):
            raise OSError(ENOSYS, "this Python was built for a C library that cannot make files in memory")
        self._file = os.memfd_create("heap")
        try:
            os.truncate(self._file, self._size + _ROOM_BYTES)
        except OSError:
            self.close()
            raise

    def close(self) -> None:
        """Let the file go: mappings of it stay."""
        os.close(self._file)

    def take_over(self, in_use: array[int]) -> None:
        """Put the file in the place of the heap, with copies for this process of what is `in_use`: see `runs`."""
        sequence = self._replacement()
        for place in range(0, len(in_use), 2):
            sequence.add("madvise", in_use[place], in_use[place + 1], _MADV_POPULATE_WRITE)
        self._run(sequence)

    def take_over_page_by_page(self) -> None:
        """Put it there so that each page is mapped alone, and so only if it is touched.

        Every other page gets a flag of no consequence, so that each is a mapping of its own.
        """
        sequence = self._replacement()
        for start, size in self.regions:
            for page in range(start, start + size, 2 * _PAGE):
                sequence.add("madvise", page, _PAGE, _MADV_DONTDUMP)
        self._run(sequence)

    def _replacement(self) -> CallSequence:
        self._content = map_memory(self._size, self._file)
        sequence = CallSequence()
        offsets = accumulate((region.size for region in self.regions), initial=0)
        for region, offset in zip(self.regions, offsets, strict=False):
            if _is_whole(region):
                sequence.add("memmove", self._content + offset, *region)
                sequence.add("mmap", *region, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, self._file, offset)
        return sequence

    def _run(self, sequence: CallSequence) -> None:
        sequence.run()
        unmap_memory(self._content, self._size)

    def entries(self, process: int) -> list[bytes]:
        """Return what /proc/PID/pagemap says of each region of a process that has them. Raises OSError."""
        descriptor = os.open(f"/proc/{process}/pagemap", os.O_RDONLY | os.O_CLOEXEC)
        try:
            return [os.pread(descriptor, size // _PAGE * 8, start // _PAGE * 8) for start, size in self.regions]
        finally:
            os.close(descriptor)

    def pages(self, entries: Iterable[bytes]) -> Iterator[int]:
        """Give the addresses of the pages that a process has, by its `entries`."""
        for region, told in zip(self.regions, entries, strict=True):
            for place, entry in enumerate(array("Q", told)):
                if entry & _PRESENT:
                    yield region.start + place * _PAGE


def _regions() -> list[Region]:
    found: list[Region] = []
    for piece in read_mappings():
        if piece.access != "rw-p" or (piece.name.startswith("[") and piece.name != "[heap]"):
            continue
        if found and sum(found[-1]) == piece.start:
            found[-1] = Region(found[-1].start, piece.end - found[-1].start)
        else:
            found.append(Region(piece.start, piece.size))
    return [region for region in found if region.size >= _LEAST_BYTES]


def _is_whole(region: Region) -> bool:
    """Tell whether all of it is mapped still: what was freed since is not to be read."""
    residency = (c_char * (region.size // _PAGE))()
    return not CDLL(None).mincore(c_void_p(region.start), c_size_t(region.size), residency)


def runs(pages: Iterable[int]) -> array[int]:
    """Join pages to regions, across single pages between them: address and size of each, one after the other."""
    found: list[Region] = []
    for page in sorted(pages):
        if found and page - sum(found[-1]) <= _PAGE:
            found[-1] = Region(found[-1].start, page + _PAGE - found[-1].start)
        else:
            found.append(Region(page, _PAGE))
    return array("Q", chain.from_iterable(found))
