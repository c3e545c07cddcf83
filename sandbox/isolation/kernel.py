"""System calls that Python does not expose, by ctypes. Each failure raises an OSError that names the call."""

from __future__ import annotations

import ctypes
import os

#: Which table of system call numbers this machine uses; empty for an unknown architecture.
MACHINE = {"x86_64": "x86_64", "amd64": "x86_64", "aarch64": "aarch64", "arm64": "aarch64"}.get(os.uname().machine, "")

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_SECCOMP = 22
PR_CAPBSET_DROP = 24
PR_SET_NO_NEW_PRIVS = 38
SECCOMP_MODE_FILTER = 2

# System calls that older versions of glibc do not wrap. From 424 on, all architectures use the same numbers.
_PIVOT_ROOT_OF = {"x86_64": 155, "aarch64": 41}
_CAPSET_OF = {"x86_64": 126, "aarch64": 91}
_PIVOT_ROOT, _CAPSET = _PIVOT_ROOT_OF.get(MACHINE, -1), _CAPSET_OF.get(MACHINE, -1)
CLOSE_RANGE = 436
LANDLOCK_CREATE_RULESET = 444
LANDLOCK_RESTRICT_SELF = 446

_CAPABILITY_VERSION_3 = 0x20080522

_libc = ctypes.CDLL(None, use_errno=True)
_python = ctypes.PyDLL(None, use_errno=True)  # calls keep the GIL, which the forked child needs
_libc.syscall.restype = ctypes.c_long
_prctl = _libc.prctl  # looked up once, not in each worker


def prctl(option: int, value: int, third: int = 0) -> None:
    """Set a property of this process; see prctl(2)."""
    if _prctl(option, ctypes.c_ulong(value), ctypes.c_ulong(third), 0, 0) != 0:
        _fail(f"prctl {option}")


def unshare(flags: int) -> None:
    """Move this process into new namespaces; see unshare(2)."""
    if _libc.unshare(flags) != 0:
        _fail("unshare")


def mount(source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    """Mount, remount, or change mount propagation; see mount(2)."""
    if _libc.mount(source.encode(), target.encode(), kind.encode(), ctypes.c_ulong(flags), options.encode()) != 0:
        _fail(f"mount {target}")


def detach(target: str) -> None:
    """Unmount lazily: the mount disappears from the tree at once."""
    mnt_detach = 2
    if _libc.umount2(target.encode(), mnt_detach) != 0:
        _fail(f"umount {target}")


def pivot_root(new: str, old: str) -> None:
    """Make `new` the root of this mount namespace and put the old root at `old`."""
    syscall("pivot_root", _PIVOT_ROOT, new.encode(), old.encode())


def fork() -> int:
    """Fork without the hooks that `os.fork` runs in the child, and return the child's number, or 0 in the child.

    The hooks would write to about 200 pages, each of which is then copied: as much work as a small program. Without
    them, the calling process must have a single thread; in any other, the child may hang on a lock.
    """
    process: int = _python.fork()
    if process < 0:
        _fail("fork")
    return process


def close_from(first: int) -> None:
    """Close all descriptors from `first` upwards."""
    syscall("close_range", CLOSE_RANGE, first, ctypes.c_uint(0xFFFFFFFF), 0)


def drop_all_capabilities() -> None:
    """Clear the effective, permitted and inheritable capabilities of this process."""
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    syscall("capset", _CAPSET, header, (ctypes.c_uint32 * 6)())


def read_file(path: str) -> bytes:
    """Return the first 64 KiB of a file."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(descriptor, 1 << 16)
    finally:
        os.close(descriptor)


def write_file(path: str, text: str) -> None:
    """Write to an existing file."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)


def syscall(name: str, number: int, *arguments: object) -> int:
    """Make a system call by number and return its result. `name` is for the error."""
    result: int = _libc.syscall(ctypes.c_long(number), *arguments)
    if result < 0:
        _fail(name)
    return result


def _fail(what: str) -> None:
    code = ctypes.get_errno()
    raise OSError(code, f"{what}: {os.strerror(code)}")
