"""Run a command as another user, or where unshare and Landlock are refused, as containers do.

    python in_setting.py SETTING COMMAND…          SETTING: any of these, joined by a comma

`nobody` is uid 65534; when that user may not read the interpreter's folder, a private mount namespace lets it.
`filtered` installs a seccomp filter that answers EPERM to unshare and landlock_*.
`stuck` is a root that has lost the rights to change its user and group.
`rootless` is root inside of a user namespace that has no other user: to everybody outside it is still who it was.
"""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path
from struct import Struct

from sandbox.isolation import kernel

_NOBODY = 65534
_NEW_MOUNT = 0x20000
_NEW_USER = 0x10000000
_CHANGE_USER_AND_GROUP = (6, 7)
_BIND, _RECURSIVE, _PRIVATE = 4096, 16384, 1 << 18
_REFUSED = {"x86_64": (272, 444, 445, 446), "aarch64": (97, 444, 445, 446)}[kernel.MACHINE]


def main() -> None:
    """Take the setting, then become the command."""
    setting, command = sys.argv[1].split(","), sys.argv[2:]
    if "nobody" in setting:
        _open_the_way(Path(sys.base_prefix).resolve())
    if "stuck" in setting:
        for capability in _CHANGE_USER_AND_GROUP:
            kernel.prctl(kernel.PR_CAPBSET_DROP, capability)
    if "nobody" in setting:
        os.setgroups([])
        os.setresgid(_NOBODY, _NOBODY, _NOBODY)
        os.setresuid(_NOBODY, _NOBODY, _NOBODY)
    if "rootless" in setting:
        _become_root_of_a_namespace()
    if "filtered" in setting:
        _refuse_calls()
    os.execv(command[0], command)  # noqa: S606 - a test's own command


def _open_the_way(folder: Path) -> None:
    """Let everyone read `folder`, although a folder above it is closed to others: in this process's mounts only."""
    closed = [parent for parent in reversed(folder.parents) if not parent.stat().st_mode & 1]
    if not closed:
        return
    kernel.unshare(_NEW_MOUNT)
    kernel.mount("none", "/", "", _RECURSIVE | _PRIVATE)
    source = os.open(folder, os.O_PATH)
    kernel.mount("none", str(closed[0]), "tmpfs", 0, "mode=755")
    folder.mkdir(parents=True)
    kernel.mount(f"/proc/self/fd/{source}", str(folder), "", _BIND)
    os.close(source)


def _become_root_of_a_namespace() -> None:
    user, group = os.getuid(), os.getgid()
    kernel.prctl(kernel.PR_SET_DUMPABLE, 1)  # else /proc/self/uid_map belongs to root
    kernel.unshare(_NEW_USER)
    kernel.write_file("/proc/self/setgroups", "deny")
    kernel.write_file("/proc/self/uid_map", f"0 {user} 1")
    kernel.write_file("/proc/self/gid_map", f"0 {group} 1")


def _refuse_calls() -> None:
    instruction = Struct("=HBBI")
    code = instruction.pack(0x20, 0, 0, 0)
    for number in _REFUSED:
        code += instruction.pack(0x15, 0, 1, number) + instruction.pack(6, 0, 0, 0x00050001)
    code += instruction.pack(6, 0, 0, 0x7FFF0000)
    instructions = ctypes.create_string_buffer(code, len(code))
    program = ctypes.create_string_buffer(Struct("@HP").pack(len(code) // 8, ctypes.addressof(instructions)))
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    kernel.prctl(kernel.PR_SET_SECCOMP, kernel.SECCOMP_MODE_FILTER, ctypes.addressof(program))


if __name__ == "__main__":
    main()
