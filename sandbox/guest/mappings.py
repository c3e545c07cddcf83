"""Fewer mappings of memory: the kernel copies each one at a fork, and takes it down at the end of a process.

A shared library is mapped in five pieces: its code between two pieces that are only read, and its data, of which the
loader has made the first part read-only when it had filled it in. There are some fifty libraries. Neighbours of one
file become one mapping when they have the same rights, so what is only read may be executed as well, and what the
loader filled in may be written to again.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

from sandbox.isolation.kernel import PROT_EXEC, PROT_READ, PROT_WRITE, protect_memory


class Mapping(NamedTuple):
    """A line of /proc/PID/maps (proc_pid_maps(5)): where it is, its rights, and which part of which file it shows."""

    start: int
    end: int
    access: str
    offset: int
    file: str
    name: str

    @property
    def size(self) -> int:
        """Bytes."""
        return self.end - self.start


def read_mappings() -> list[Mapping]:
    """Return those of this process, by address. Raises OSError."""
    with open("/proc/self/maps", encoding="utf-8") as lines:  # noqa: PTH123 - pathlib is half a megabyte
        return [_read(line) for line in lines]


def _read(line: str) -> Mapping:
    span, access, offset, device, inode, *name = line.split(maxsplit=5)
    start, end = (int(address, 16) for address in span.split("-"))
    file = f"{device} {inode}" if int(inode) else ""
    return Mapping(start, end, access, int(offset, 16), file, "".join(name).strip())


def join_mappings() -> None:
    """Give neighbours of one file the same rights: data and what the loader filled in, code and what is only read.

    Raises OSError where the system forbids it; what was done until then does no harm.
    """
    for before, piece in pairwise(read_mappings()):
        if (before.access, piece.access) == ("r--p", "rw-p") and _follows(before, piece):
            protect_memory(before.start, before.size, PROT_READ | PROT_WRITE)
    for run in _runs(read_mappings()):
        if any(piece.access == "r-xp" for piece in run):
            protect_memory(run[0].start, run[-1].end - run[0].start, PROT_READ | PROT_EXEC)


def _follows(before: Mapping, piece: Mapping) -> bool:
    """Tell whether this piece shows what comes next in the same file."""
    is_next = before.end == piece.start and before.offset + before.size == piece.offset
    return is_next and before.file == piece.file != ""


def _runs(pieces: list[Mapping]) -> list[list[Mapping]]:
    """Return what lies side by side of one file and cannot be written to, where it is more than one piece."""
    runs: list[list[Mapping]] = []
    for piece in pieces:
        if piece.access not in {"r--p", "r-xp"}:
            continue
        if runs and _follows(runs[-1][-1], piece):
            runs[-1].append(piece)
        else:
            runs.append([piece])
    return [run for run in runs if len(run) > 1]
