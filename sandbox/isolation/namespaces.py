"""Namespaces that hide other processes, the network and the file tree. Workers inherit those of the fork server."""

from __future__ import annotations

import os
from typing import NoReturn

from sandbox.isolation.kernel import detach, mount, pivot_root, unshare, write_file

_NEW_USER = 0x10000000
_NEW_OTHERS = {
    "mount": 0x00020000,
    "cgroup": 0x02000000,
    "uts": 0x04000000,
    "ipc": 0x08000000,
    "pid": 0x20000000,
    "net": 0x40000000,
}

_READ_ONLY, _NO_SUID, _NO_DEV, _NO_EXEC, _REMOUNT, _RECURSIVE, _PRIVATE = 1, 2, 4, 8, 32, 16384, 1 << 18


def leave_all() -> None:
    """Enter new namespaces of every kind but time. Raises OSError.

    The user namespace lets an ordinary user create the others. The process namespace applies to children only;
    `become_first_process` completes it. See user_namespaces(7).
    """
    uid, gid = os.getuid(), os.getgid()
    unshare(_NEW_USER | sum(_NEW_OTHERS.values()))
    write_file("/proc/self/setgroups", "deny")
    write_file("/proc/self/uid_map", f"{uid} {uid} 1")
    write_file("/proc/self/gid_map", f"{gid} {gid} 1")


def become_first_process() -> None:
    """Fork into the new process namespace. The parent only waits, and exits with the child's status.

    When the first process of a namespace ends, the kernel kills all others in it, so no worker outlives the server.
    See pid_namespaces(7).
    """
    inner = os.fork()
    if inner:
        _wait_for(inner)


def leave_files() -> None:
    """Make an empty, read-only tmpfs the root directory. Raises OSError."""
    mount("none", "/", "", _RECURSIVE | _PRIVATE)
    quiet = _NO_SUID | _NO_DEV | _NO_EXEC
    mount("none", "/proc", "tmpfs", quiet, "size=16k,nr_inodes=8,mode=555")  # any directory that exists would do
    os.chdir("/proc")
    pivot_root(".", ".")  # stacks the old root on the new one; see pivot_root(2)
    detach(".")
    os.chdir("/")
    mount("none", "/", "", _REMOUNT | _READ_ONLY | quiet)


def _wait_for(inner: int) -> NoReturn:
    os.closerange(0, 256)  # the host must see them close when the child ends
    ended = 0
    while ended != inner:  # children from before the lockdown are reaped, too
        ended, status = os.wait()
    os._exit(os.waitstatus_to_exitcode(status) & 0xFF)
