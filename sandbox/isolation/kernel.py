"""The few system calls that Python has no name for, through ctypes. Failure is always OSError with the call's name."""

from __future__ import annotations

import ctypes
import os

#: Which of the two tables of system call numbers this machine uses.
MACHINE = {"x86_64": "x86_64", "amd64": "x86_64", "aarch64": "aarch64", "arm64": "aarch64"}.get(os.uname().machine, "")

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_SECCOMP = 22
PR_CAPBSET_DROP = 24
PR_SET_NO_NEW_PRIVS = 38
SECCOMP_MODE_FILTER = 2

# Calls that glibc wraps only from some version on: by number, which is the same on both machines from 424 on.
_PIVOT_ROOT_OF = {"x86_64": 155, "aarch64": 41}
_CAPSET_OF = {"x86_64": 126, "aarch64": 91}
_PIVOT_ROOT, _CAPSET = _PIVOT_ROOT_OF.get(MACHINE, -1), _CAPSET_OF.get(MACHINE, -1)
CLOSE_RANGE = 436
LANDLOCK_CREATE_RULESET = 444
LANDLOCK_RESTRICT_SELF = 446

_CAPABILITY_VERSION_3 = 0x20080522

_libc = ctypes.CDLL(None, use_errno=True)
_python = ctypes.PyDLL(None, use_errno=True)  # keeps the interpreter's lock, which the child inherits
_libc.syscall.restype = ctypes.c_long
_prctl = _libc.prctl  # looked up here once, and not in each worker


def prctl(option: int, value: int, third: int = 0) -> None:
    """Set one property of this process."""
    if _prctl(option, ctypes.c_ulong(value), ctypes.c_ulong(third), 0, 0) != 0:
        _fail(f"prctl {option}")


def unshare(flags: int) -> None:
    """Leave the namespaces that `flags` name for fresh ones."""
    if _libc.unshare(flags) != 0:
        _fail("unshare")


def mount(source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    """Mount, remount, or change how mounts propagate."""
    if _libc.mount(source.encode(), target.encode(), kind.encode(), ctypes.c_ulong(flags), options.encode()) != 0:
        _fail(f"mount {target}")


def detach(target: str) -> None:
    """Unmount lazily: nobody finds the mount any more."""
    mnt_detach = 2
    if _libc.umount2(target.encode(), mnt_detach) != 0:
        _fail(f"umount {target}")


def pivot_root(new: str, old: str) -> None:
    """Make `new` the root of this mount namespace and put the old root at `old`."""
    syscall("pivot_root", _PIVOT_ROOT, new.encode(), old.encode())


def fork() -> int:
    """Fork as the C library does, without the hooks that Python's own `os.fork` runs in the child.

    The hooks (of threading, logging, random) are for processes with threads or an inherited generator. Here they
    would write to some 200 pages, each of which is then copied: as much work as a small program.
    """
    process: int = _python.fork()
    if process < 0:
        _fail("fork")
    return process


def close_from(first: int) -> None:
    """Close every descriptor from `first` on."""
    syscall("close_range", CLOSE_RANGE, first, ctypes.c_uint(0xFFFFFFFF), 0)


def drop_all_capabilities() -> None:
    """Empty the effective, permitted and inheritable sets of this process."""
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    syscall("capset", _CAPSET, header, (ctypes.c_uint32 * 6)())


def read_file(path: str) -> bytes:
    """Return the beginning of a file, up to 64 KiB. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(descriptor, 1 << 16)
    finally:
        os.close(descriptor)


def write_file(path: str, text: str) -> None:
    """Write to a file that is there. Raises OSError."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)


def syscall(name: str, number: int, *arguments: object) -> int:
    """Make a system call by number and return its result. Raises OSError that names it."""
    result: int = _libc.syscall(ctypes.c_long(number), *arguments)
    if result < 0:
        _fail(name)
    return result


def _fail(what: str) -> None:
    code = ctypes.get_errno()
    raise OSError(code, f"{what}: {os.strerror(code)}")
