"""Resource limits, hard ones: memory and processor time of a worker, and no files, processes or locks at all."""

from __future__ import annotations

import resource
from dataclasses import dataclass

from sandbox.isolation.kernel import read_file

_PAGE = resource.getpagesize()

#: Descriptors of a worker: 0 to 2 are /dev/null, 3 is the socket. So no further one can be opened or received.
WORKER_DESCRIPTORS = 4
#: What recursion in C may use. The kernel's usual default, fixed so that results do not depend on the machine.
_STACK_BYTES = 8 * 1024 * 1024

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
    """What an idle worker maps, in bytes: the limits on memory come on top."""

    address_space: int
    data: int


def measure() -> Footprint:
    """Read the footprint of this process; needs /proc."""
    fields = read_file("/proc/self/statm").split()
    return Footprint(address_space=int(fields[0]) * _PAGE, data=int(fields[5]) * _PAGE)


def limit_server() -> None:
    """Set what holds for the fork server and all its workers. Raises OSError, ValueError."""
    for name, value in _FOR_ALL.items():
        _set(getattr(resource, f"RLIMIT_{name}"), value)


def limit_worker(footprint: Footprint, *, memory_bytes: int, cpu_s: int) -> None:
    """Set what holds for one worker. The kernel ends it one second after the processor time is used up."""
    _set(resource.RLIMIT_AS, footprint.address_space + memory_bytes)
    _set(resource.RLIMIT_DATA, footprint.data + memory_bytes)
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s + 1))
    _set(resource.RLIMIT_NOFILE, WORKER_DESCRIPTORS)
    _set(resource.RLIMIT_NPROC, 0)


def _set(which: int, value: int) -> None:
    hardest = resource.getrlimit(which)[1]
    if hardest != resource.RLIM_INFINITY and hardest < value:
        value = hardest
    resource.setrlimit(which, (value, value))
