"""Test which layers hold on this machine: a child attempts forbidden operations and reports the result.

The lockdown's own return codes are not evidence. Each attempt is chosen so that its layer alone refuses it: Landlock
refuses to list the root (which is empty but readable in the namespace), the network namespace refuses a UDP packet
(which Landlock does not cover), and so on. The attempts on seccomp come last, under the filter.
"""

from __future__ import annotations

import mmap
import os
import socket
from contextlib import closing
from typing import TYPE_CHECKING

from sandbox.isolation import descriptors, landlock, rlimits, seccomp

if TYPE_CHECKING:
    from collections.abc import Callable

    from sandbox.isolation.lockdown import Lock

IN_FORCE = "in force"

#: The layers, in the order of the report.
LAYERS = ("seccomp", "rlimits", "fork_server", "user", "capabilities", "namespaces", "landlock")

#: Most processes in a new process namespace when it is probed.
_OWN_PROCESSES = 8

_Attempts = dict[str, "Callable[[], object]"]


def probe(lock: Lock, *, channel: int, memory_bytes: int, cpu_s: int) -> dict[str, str]:
    """Probe every layer in this process, a new child of the fork server, which is locked afterwards.

    Returns for each layer `"in force"`, or what was possible. The channel is moved as in a worker.
    """
    found = {
        "fork_server": _inheritance(),
        "user": _try_all({"become root": lambda: os.setresuid(0, 0, 0)}),
        "capabilities": _try_all({"change the root directory": lambda: os.chroot("/")}),
        "namespaces": _namespaces(lock.outer_process),
        "landlock": _landlock(),
    }
    descriptors.keep_only(channel)
    found["rlimits"] = _rlimits(lock, memory_bytes, cpu_s)
    found["seccomp"] = _seccomp(lock)
    return {layer: found[layer] for layer in LAYERS}


def _try_all(attempts: _Attempts) -> str:
    """Make each attempt. Returns `"in force"` if the system refused all of them."""
    possible = [what for what, attempt in attempts.items() if not _is_refused(attempt)]
    return IN_FORCE if not possible else "possible: " + ", ".join(possible)


def _is_refused(attempt: Callable[[], object]) -> bool:
    try:
        attempt()
    except (OSError, MemoryError):
        return True
    return False


def _inheritance() -> str:
    """Check that the environment is empty and the standard descriptors are /dev/null."""
    variables = dict(os.environb)
    if variables:
        return f"possible: read {len(variables)} variables of the environment"
    null = os.fstat(0).st_rdev
    if any(os.fstat(standard).st_rdev != null for standard in (1, 2)):
        return "possible: use the standard descriptors of the host"
    return IN_FORCE


def _namespaces(outer_process: int) -> str:
    attempts: _Attempts = {
        "see the machine's files": lambda: os.stat("/proc"),  # noqa: PTH116 - pathlib stays unloaded
        "send a packet": _send_packet,
    }
    if outer_process > _OWN_PROCESSES:  # else it may be the number of a process in the namespace
        attempts["see other processes"] = lambda: os.kill(outer_process, 0)
    return _try_all(attempts)


def _landlock() -> str:
    try:
        abi = landlock.version()
    except OSError as error:
        return f"not there: {error.strerror}"
    found = _try_all({"list the root directory": lambda: list(os.scandir("/"))})
    gaps = landlock.missing(abi)
    return f"{found} (version {abi}, which cannot deny {', '.join(gaps)})" if gaps and found == IN_FORCE else found


def _rlimits(lock: Lock, memory_bytes: int, cpu_s: int) -> str:
    try:
        rlimits.limit_worker(lock.footprint, memory_bytes=memory_bytes, cpu_s=cpu_s)
    except (OSError, ValueError) as error:
        return f"not there: {error}"
    return _try_all(
        {
            f"take {memory_bytes + (1 << 20)} bytes of memory": lambda: mmap.mmap(-1, memory_bytes + (1 << 20)),
            "open a descriptor": lambda: os.dup(0),
        }
    )


def _seccomp(lock: Lock) -> str:
    if lock.filter is None:
        return "not there: no list of system calls for this architecture"
    try:
        seccomp.install(lock.filter)
    except OSError as error:
        return f"not there: {error}"
    return _try_all(_SECCOMP)


def _send_packet() -> None:
    with closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as udp:
        udp.sendto(b"", ("127.0.0.1", 9))


def _fork() -> None:
    if os.fork() == 0:
        os._exit(0)


_SECCOMP: _Attempts = {
    "start a process": _fork,
    "open a file": lambda: os.open("/", os.O_RDONLY),
    "open a socket": lambda: socket.socket(socket.AF_UNIX, socket.SOCK_STREAM),
    "signal": lambda: os.kill(os.getpid(), 0),
    "map executable memory": lambda: mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_EXEC),
}
