"""Resource limits, hard ones: memory and processor time of a worker, and no files, processes or locks at all."""

from __future__ import annotations

import resource
import sys
from dataclasses import dataclass

from sandbox.isolation.kernel import read_file

_PAGE = resource.getpagesize()

#: Descriptors of a worker: 0 to 2 are /dev/null, 3 is the socket. So no further one can be opened or received.
WORKER_DESCRIPTORS = 4
#: What recursion in C may use. The kernel's usual default, fixed so that results do not depend on the machine.
_STACK_BYTES = 8 * 1024 * 1024

_FOR_WORKERS = (resource.RLIMIT_AS, resource.RLIMIT_DATA, resource.RLIMIT_NOFILE, resource.RLIMIT_NPROC)
_FOR_ALL = {
    "CORE": 0,  # a core file would hold the program's data
    "FSIZE": 0,  # no file grows
    "MEMLOCK": 0,
    "MSGQUEUE": 0,
    "NICE": 0,
    "RTPRIO": 0,
    "SIGPENDING": 0,
    "STACK": _STACK_BYTES,
}


@dataclass(frozen=True, slots=True)
class Footprint:
    """What an idle worker maps, in bytes: the limits on memory come on top. And what it may raise no limit above."""

    address_space: int
    data: int
    hardest: dict[int, int]


def measure() -> Footprint:
    """Read the footprint of this process; needs /proc."""
    fields = read_file("/proc/self/statm").split()
    hardest = {which: _hardest(which) for which in _FOR_WORKERS}
    return Footprint(address_space=int(fields[0]) * _PAGE, data=int(fields[5]) * _PAGE, hardest=hardest)


def limit_server() -> None:
    """Set what holds for the fork server and all its workers. Raises OSError, ValueError."""
    for name, value in _FOR_ALL.items():
        which = getattr(resource, f"RLIMIT_{name}")
        most = min(value, _hardest(which))
        resource.setrlimit(which, (most, most))


def limit_worker(footprint: Footprint, *, memory_bytes: int, cpu_s: int) -> None:
    """Set what holds for one worker. The kernel ends it one second after the processor time is used up."""
    values = footprint.address_space + memory_bytes, footprint.data + memory_bytes, WORKER_DESCRIPTORS, 0
    for which, value in zip(_FOR_WORKERS, values, strict=True):
        most = min(value, footprint.hardest[which])
        resource.setrlimit(which, (most, most))
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s + 1))


def _hardest(which: int) -> int:
    """Return what the limit can be raised to; only a privileged process could go beyond."""
    hardest = resource.getrlimit(which)[1]
    return sys.maxsize if hardest == resource.RLIM_INFINITY else hardest
