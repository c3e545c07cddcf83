"""Messages between the host and its fork server: fixed records, one datagram each. Both sides are trusted.

host -> server   FORK     with the worker's end of its socket
server -> host   READY    followed by the lockdown's report, as JSON
                 STARTED  with a pidfd of the worker
                 FAILED   the fork failed
                 EXITED   the kernel's report of a worker that ended
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from struct import Struct

#: Largest datagram: READY with its report.
DATAGRAM_BYTES = 16 * 1024


class Purpose(IntEnum):
    """The purpose of a new worker."""

    SERVE = 0  # serve a program that is waiting
    SERVE_LATER = 1  # rehearse first, so that the memory is warm
    PROBE = 2  # probe the layers and report


class Kind(IntEnum):
    """The kind of a report from the fork server."""

    READY = 0
    STARTED = 1
    FAILED = 2
    EXITED = 3


@dataclass(frozen=True, slots=True)
class Fork:
    """A request to start one worker with these limits."""

    worker: int
    memory_bytes: int
    cpu_s: int
    purpose: Purpose

    def pack(self) -> bytes:
        """Return the datagram."""
        return _FORK.pack(self.worker, self.memory_bytes, self.cpu_s, self.purpose)

    @staticmethod
    def unpack(datagram: bytes) -> tuple[int, int, int, int]:
        """Return the fields in order. A `Fork` object would cost a worker another copied page."""
        fields: tuple[int, int, int, int] = _FORK.unpack(datagram)
        return fields


@dataclass(frozen=True, slots=True)
class Exit:
    """The wait status, processor time and peak memory of a worker that ended."""

    status: int
    cpu_s: float
    peak_memory_bytes: int


@dataclass(frozen=True, slots=True)
class Report:
    """A report from the fork server, with `exit` for EXITED and `errno` for FAILED."""

    kind: Kind
    worker: int
    errno: int = 0
    exit: Exit = Exit(0, 0.0, 0)

    @classmethod
    def unpack(cls, datagram: bytes) -> Report:
        """Read a datagram, without the JSON that follows READY."""
        kind, worker, errno, status, cpu_s, peak = _REPORT.unpack_from(datagram)
        return cls(Kind(kind), worker, errno, Exit(status, cpu_s, peak))


def pack_report(
    kind: Kind, worker: int, *, errno: int = 0, status: int = 0, cpu_s: float = 0.0, peak_memory_bytes: int = 0
) -> bytes:
    """Return the datagram of a `Report`, without making the object."""
    return _REPORT.pack(kind, worker, errno, status, cpu_s, peak_memory_bytes)


_FORK = Struct("=QQIB")
_REPORT = Struct("=BQiidQ")
FORK_BYTES = _FORK.size
REPORT_BYTES = _REPORT.size
