"""Arenas of the interpreter in huge pages: a program that makes many objects waits for few pages.

A page that is touched for the first time costs two to three microseconds, and a list of 10 MB touches ten thousand of
them. The interpreter maps its arenas (obmalloc.c) one by one, and each, of 1 MiB, is too small for a huge page. So it
is told to take them from malloc, whose heap is enlarged by room that is marked for huge pages (madvise(2)) and that
nobody touches before a program does.
"""

from __future__ import annotations

import sys
from ctypes import CDLL, Structure, byref, c_int, c_size_t, c_void_p, cast, pythonapi
from resource import getpagesize
from typing import NamedTuple

#: What a program can fill before its arenas are in ordinary pages again. It counts as memory of the program.
_ROOM_BYTES = 64 << 20
#: In front of it, in ordinary pages: small programs need no more, and a huge page takes as long as 60 of these.
_ORDINARY_BYTES = 1536 << 10
_HUGE_PAGE, _PAGE = 2 << 20, 4 << 10
#: The pools of an arena begin at multiples of this.
_POOL_BYTES = 16 << 10
#: The largest object that has a place in a pool.
_POOLED_BYTES = 512
#: Larger blocks are mapped each for itself, as they would be in any process: there they can grow.
_MAPPED_BYTES = 4 << 20

#: The heap of malloc is farther than this from what is mapped.
_FAR = 1 << 36
#: Objects that fill 16 MiB, more than there is to fill: this interpreter has no arenas, or no heap.
_MOST_FILLING = 1 << 15

# Parameters of mallopt(3), and what the last two are by themselves.
_M_TRIM_THRESHOLD, _M_TOP_PAD, _M_MMAP_THRESHOLD = -1, -2, -3
_DEFAULT_BYTES, _NEVER = 128 << 10, (1 << 31) - 1
_MADV_HUGEPAGE = 14
_PYMEM_DOMAIN_RAW = 0


class Room(NamedTuple):
    """Memory that is mapped and untouched, `size` bytes from the address `start` on."""

    start: int
    size: int

    def cut(self, memory_bytes: int) -> None:
        """Give back what is more than a program may use."""
        if memory_bytes < self.size:
            CDLL(None).malloc_trim(c_size_t(memory_bytes))


NO_ROOM = Room(0, 0)


class _Allocator(Structure):
    """PyMemAllocatorEx, of the C API."""

    _fields_ = tuple((name, c_void_p) for name in ("context", "malloc", "calloc", "realloc", "free"))


class _Arenas(Structure):
    """PyObjectArenaAllocator, of the C API."""

    _fields_ = (("context", c_size_t), ("allocate", c_void_p), ("free", c_void_p))


#: Fills the arenas that were mapped: none of them is ever empty.
_FILLING: list[bytes] = []


def take_arenas_from_malloc() -> None:
    """Let the interpreter take its arenas from malloc, and give them back to it.

    Those that it has must never be given to malloc, and an arena is given back when it is empty. So what room they have
    is filled for good, and this process must never end in order. To be called early, when there are few. Does nothing
    where the C library is not GNU's, pages have not 4 KiB, or this interpreter checks blocks.
    """
    libc = CDLL(None)
    if getpagesize() != _PAGE or not hasattr(libc, "mallopt") or hasattr(sys, "gettotalrefcount"):
        return
    raw, arenas = _Allocator(), _Arenas()
    pythonapi.PyMem_GetAllocator(c_int(_PYMEM_DOMAIN_RAW), byref(raw))
    arenas.context = _POOL_BYTES  # the alignment, for aligned_alloc in the place of allocate(context, size)
    arenas.allocate, arenas.free = cast(libc.aligned_alloc, c_void_p), raw.free
    pythonapi.PyObject_SetArenaAllocator(byref(arenas))
    libc.mallopt(_M_MMAP_THRESHOLD, _MAPPED_BYTES)  # so that the next arena is where it can be told from the others
    while len(_FILLING) < _MOST_FILLING and not _is_in_heap(libc):
        _FILLING.append(bytes(_POOLED_BYTES - sys.getsizeof(b"")))
    libc.mallopt(_M_MMAP_THRESHOLD, _DEFAULT_BYTES)


def _is_in_heap(libc: CDLL) -> bool:
    """Tell whether what came last is in the heap of malloc, and so all arenas are full that are elsewhere."""
    libc.sbrk.restype = c_size_t
    return len(_FILLING) > 0 and abs(id(_FILLING[-1]) - libc.sbrk(0)) < _FAR


def make_room() -> Room:
    """Enlarge the heap of malloc by room for what programs make; of no size where arenas are not taken from malloc."""
    libc = CDLL(None)
    if not _is_in_heap(libc):
        return NO_ROOM
    libc.malloc.restype = c_size_t
    libc.mallopt(_M_TRIM_THRESHOLD, _NEVER)
    libc.mallopt(_M_MMAP_THRESHOLD, _MAPPED_BYTES)
    libc.mallopt(_M_TOP_PAD, _ROOM_BYTES)
    first = libc.malloc(c_size_t(_ORDINARY_BYTES))  # more than the heap has
    libc.free(c_size_t(first))
    libc.mallopt(_M_TOP_PAD, _DEFAULT_BYTES)
    start, end = _up(first, _PAGE), libc.sbrk(0)
    huge = _up(first + _ORDINARY_BYTES + _PAGE, _HUGE_PAGE)
    if not first < huge < end:
        return NO_ROOM
    libc.madvise(c_size_t(huge), c_size_t(end - huge), _MADV_HUGEPAGE)  # where there are none, these are ordinary pages
    return Room(start, end - start)


def _up(address: int, step: int) -> int:
    return -(-address // step) * step
