"""Landlock: this process and its children open no file, TCP or abstract socket, and signal no other process.

The ruleset handles every right of the kernel's Landlock version and contains no rule, so nothing is allowed. It needs
no_new_privs, and no capability. It does not cover UDP or stat; seccomp does. See landlock(7).
"""

from __future__ import annotations

import ctypes
import os

from sandbox.isolation.kernel import LANDLOCK_CREATE_RULESET, LANDLOCK_RESTRICT_SELF, syscall

_CREATE_RULESET_VERSION = 1
#: Number of file rights by Landlock version; versions in between added none.
_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 5: 16}
_TCP_BIND_AND_CONNECT = 0b11  # version 4
_ABSTRACT_SOCKETS_AND_SIGNALS = 0b11  # version 6


def version() -> int:
    """Return the Landlock version of the kernel. Raises OSError if Landlock is unavailable."""
    return syscall("landlock_create_ruleset", LANDLOCK_CREATE_RULESET, None, 0, _CREATE_RULESET_VERSION)


def deny_everything() -> None:
    """Drop all rights that Landlock controls. Raises OSError."""
    attributes = _ruleset(version())
    ruleset = syscall(
        "landlock_create_ruleset", LANDLOCK_CREATE_RULESET, attributes, ctypes.c_size_t(ctypes.sizeof(attributes)), 0
    )
    try:
        syscall("landlock_restrict_self", LANDLOCK_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def missing(abi: int) -> list[str]:
    """Return what this version cannot deny."""
    gaps = {3: "truncation of files", 4: "TCP", 5: "ioctl on devices", 6: "abstract sockets and signals"}
    return [what for since, what in gaps.items() if abi < since]


def _ruleset(abi: int) -> ctypes.Array[ctypes.c_uint64]:
    files = max(bits for since, bits in _FILE_RIGHTS.items() if since <= abi)
    fields = [(1 << files) - 1]
    if abi >= 4:
        fields.append(_TCP_BIND_AND_CONNECT)
    if abi >= 6:
        fields.append(_ABSTRACT_SOCKETS_AND_SIGNALS)
    return (ctypes.c_uint64 * len(fields))(*fields)
