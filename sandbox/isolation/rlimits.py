"""Hard resource limits: memory and processor time of a worker, and no new files, processes or locked memory."""

from __future__ import annotations

import resource
import sys
from dataclasses import dataclass

from sandbox.isolation.kernel import read_file

_PAGE = resource.getpagesize()

#: Descriptors of a worker: 0 to 2 are /dev/null, 3 is the socket. No other can be opened or received.
WORKER_DESCRIPTORS = 4
#: Stack for recursion in C: the usual default, fixed so that results do not depend on the machine.
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
    """Memory that an idle worker maps, in bytes, to which its limit is added; and the hard limits it inherits."""

    address_space: int
    data: int
    hardest: dict[int, int]


def measure() -> Footprint:
    """Return the footprint of this process. Needs /proc; raises OSError."""
    fields = read_file("/proc/self/statm").split()
    hardest = {which: _hardest(which) for which in _FOR_WORKERS}
    return Footprint(address_space=int(fields[0]) * _PAGE, data=int(fields[5]) * _PAGE, hardest=hardest)


def limit_server() -> None:
    """Set the limits of the fork server and all its workers. Raises OSError or ValueError."""
    for name, value in _FOR_ALL.items():
        which = getattr(resource, f"RLIMIT_{name}")
        most = min(value, _hardest(which))
        resource.setrlimit(which, (most, most))


def limit_worker(footprint: Footprint, *, memory_bytes: int, cpu_s: int) -> None:
    """Set the limits of one worker. The kernel kills it at `cpu_s + 1` seconds. Raises OSError or ValueError."""
    values = footprint.address_space + memory_bytes, footprint.data + memory_bytes, WORKER_DESCRIPTORS, 0
    for which, value in zip(_FOR_WORKERS, values, strict=True):
        most = min(value, footprint.hardest[which])
        resource.setrlimit(which, (most, most))
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s + 1))


def _hardest(which: int) -> int:
    """Return the hard limit, which an unprivileged process cannot raise."""
    hardest = resource.getrlimit(which)[1]
    return sys.maxsize if hardest == resource.RLIM_INFINITY else hardest
