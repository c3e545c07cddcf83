"""What the host and its fork server say to each other: fixed records, one datagram each. Both sides are trusted.

host -> server   FORK     with the worker's end of its socket
server -> host   READY    the report of the lockdown, as JSON
                 STARTED  with a pidfd of the worker
                 FAILED   the fork did not happen
                 EXITED   what the kernel says of a worker that ended
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from struct import Struct

#: Largest datagram: the report at the start.
DATAGRAM_BYTES = 16 * 1024


class Purpose(IntEnum):
    """What a new worker is for."""

    SERVE = 0  # a program is already waiting
    SERVE_LATER = 1  # rehearse first, so that the program finds warm memory
    PROBE = 2  # try what must not be possible, and report


class Kind(IntEnum):
    """What the fork server reports."""

    READY = 0
    STARTED = 1
    FAILED = 2
    EXITED = 3


@dataclass(frozen=True, slots=True)
class Fork:
    """Start one worker with these limits."""

    worker: int
    memory_bytes: int
    cpu_s: int
    purpose: Purpose

    def pack(self) -> bytes:
        """Return the datagram."""
        return _FORK.pack(self.worker, self.memory_bytes, self.cpu_s, self.purpose)

    @staticmethod
    def unpack(datagram: bytes) -> tuple[int, int, int, int]:
        """Read the fields of a datagram, in their order. No `Fork` is made: what a worker touches is copied."""
        fields: tuple[int, int, int, int] = _FORK.unpack(datagram)
        return fields


@dataclass(frozen=True, slots=True)
class Exit:
    """How a worker ended: the wait status, processor time in seconds, and peak memory in bytes."""

    status: int
    cpu_s: float
    peak_memory_bytes: int


@dataclass(frozen=True, slots=True)
class Report:
    """One record from the fork server; `exit` for EXITED, `errno` for FAILED."""

    kind: Kind
    worker: int
    errno: int = 0
    exit: Exit = Exit(0, 0.0, 0)

    @classmethod
    def unpack(cls, datagram: bytes) -> Report:
        """Read the datagram; what follows the record (the JSON of READY) is left alone."""
        kind, worker, errno, status, cpu_s, peak = _REPORT.unpack_from(datagram)
        return cls(Kind(kind), worker, errno, Exit(status, cpu_s, peak))


def pack_report(
    kind: Kind, worker: int, *, errno: int = 0, status: int = 0, cpu_s: float = 0.0, peak_memory_bytes: int = 0
) -> bytes:
    """Return the datagram of a `Report` without making one: what the fork server touches is copied."""
    return _REPORT.pack(kind, worker, errno, status, cpu_s, peak_memory_bytes)


_FORK = Struct("=QQIB")
_REPORT = Struct("=BQiidQ")
FORK_BYTES = _FORK.size
REPORT_BYTES = _REPORT.size
