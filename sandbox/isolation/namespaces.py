"""Namespaces: no other process, no network, no file tree. Taken once, in the fork server; its workers inherit them."""

from __future__ import annotations

import os
import stat
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
    """Enter fresh namespaces of every kind, as an ordinary user. Raises OSError.

    The user namespace lets an ordinary user take the others. The process namespace holds for children only:
    `become_first_process` completes it.
    """
    uid, gid = os.getuid(), os.getgid()
    unshare(_NEW_USER | sum(_NEW_OTHERS.values()))
    write_file("/proc/self/setgroups", "deny")
    write_file("/proc/self/uid_map", f"{uid} {uid} 1")
    write_file("/proc/self/gid_map", f"{gid} {gid} 1")


def become_first_process() -> None:
    """Fork into the new process namespace; the outer half only waits, and ends as the inner half ends.

    When the first process of a namespace ends, the kernel kills all others in it: no worker can be left behind.
    """
    inner = os.fork()
    if inner:
        _wait_for(inner)


def leave_files() -> None:
    """Make an empty, read-only, in-memory directory the root of everything. Raises OSError."""
    mount("none", "/", "", _RECURSIVE | _PRIVATE)
    place = next(path for path in ("/tmp", "/mnt", "/var", "/usr") if _is_folder(path))  # noqa: S108 - mounted over
    quiet = _NO_SUID | _NO_DEV | _NO_EXEC
    mount("none", place, "tmpfs", quiet, "size=16k,nr_inodes=8,mode=555")
    os.chdir(place)
    pivot_root(".", ".")  # the old root is stacked on the new one
    detach(".")
    os.chdir("/")
    mount("none", "/", "", _REMOUNT | _READ_ONLY | quiet)


def _is_folder(path: str) -> bool:
    try:
        return stat.S_ISDIR(os.stat(path).st_mode)  # noqa: PTH116 - pathlib is half a megabyte in each worker
    except OSError:
        return False


def _wait_for(inner: int) -> NoReturn:
    os.closerange(0, 256)  # the descriptors are the inner half's: the host must see them close with it
    ended = 0
    while ended != inner:  # what was started before the lockdown ends, too
        ended, status = os.wait()
    os._exit(os.waitstatus_to_exitcode(status) & 0xFF)
