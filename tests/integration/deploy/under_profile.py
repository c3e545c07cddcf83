"""Run a command under a seccomp profile of a container: `python under_profile.py PROFILE COMMAND …`.

The profile has the format of the OCI runtime specification and is loaded with libseccomp, as runc does it.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
from pathlib import Path
from typing import Any

_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_COMPARISONS = {"SCMP_CMP_NE": 1, "SCMP_CMP_EQ": 4}
_LIBRARY = ctypes.CDLL("libseccomp.so.2", use_errno=True)


class _Comparison(ctypes.Structure):
    """`struct scmp_arg_cmp` of seccomp.h."""

    _fields_ = (
        ("arg", ctypes.c_uint),
        ("op", ctypes.c_int),
        ("datum_a", ctypes.c_uint64),
        ("datum_b", ctypes.c_uint64),
    )


def load(profile: dict[str, Any]) -> None:
    """Apply a profile to this process. Names that libseccomp does not know are skipped, as in runc."""
    _LIBRARY.seccomp_init.restype = ctypes.c_void_p
    default = _action(profile["defaultAction"], profile["defaultErrnoRet"])
    context = ctypes.c_void_p(_LIBRARY.seccomp_init(ctypes.c_uint32(default)))
    for rule in profile["syscalls"]:
        action = _action(rule["action"], rule.get("errnoRet", 1))
        checks = (_Comparison * len(rule.get("args", ())))(
            *(_Comparison(each["index"], _COMPARISONS[each["op"]], each["value"], 0) for each in rule.get("args", ()))
        )
        for name in rule["names"]:
            number = _LIBRARY.seccomp_syscall_resolve_name(name.encode())
            if number >= 0:
                _checked(
                    _LIBRARY.seccomp_rule_add_array(context, ctypes.c_uint32(action), number, len(checks), checks), name
                )
    _checked(_LIBRARY.seccomp_load(context), "load")


def _action(name: str, errno: int) -> int:
    return _ALLOW if name == "SCMP_ACT_ALLOW" else _ERRNO | errno


def _checked(result: int, what: str) -> None:
    if result:
        raise OSError(-result, f"{what}: {os.strerror(-result)}")


if __name__ == "__main__":
    load(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    os.execvp(sys.argv[2], sys.argv[2:])  # noqa: S606 -- the command is that of the test
