"""Privileges of the process: user, capabilities, no_new_privs, dumpable, and death with its parent."""

from __future__ import annotations

import contextlib
import os
import signal

from sandbox.isolation.kernel import (
    PR_CAPBSET_DROP,
    PR_SET_DUMPABLE,
    PR_SET_NO_NEW_PRIVS,
    PR_SET_PDEATHSIG,
    drop_all_capabilities,
    prctl,
)

#: Users that no distribution assigns (systemd's dynamic users are 61,184 to 65,519), below the 65,536 that containers
#: map. Fork servers use different ones, so that they cannot reach each other.
_FIRST_UNUSED_USER, _UNUSED_USERS = 61_200, 4_000

#: A capability set has 64 bits; kernels use 41 of them so far.
_CAPABILITIES = 64


def become_nobody() -> None:
    """Change from root to a user and a group that own nothing; do nothing for other users. Raises OSError."""
    if os.getuid() != 0:
        return
    user = _FIRST_UNUSED_USER + os.getpid() % _UNUSED_USERS
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    prctl(PR_SET_DUMPABLE, 1)  # else root owns /proc/self/uid_map; `hide_memory` undoes it


def forbid_new_privileges() -> None:
    """Set no_new_privs, which seccomp and Landlock require: exec never adds privileges. Raises OSError."""
    prctl(PR_SET_NO_NEW_PRIVS, 1)


def drop_capabilities() -> None:
    """Drop every capability, including those of the user namespace. Raises OSError."""
    for capability in range(_CAPABILITIES):
        with contextlib.suppress(OSError):  # the kernel does not know it, or this process may not drop it
            prctl(PR_CAPBSET_DROP, capability)
    drop_all_capabilities()


def hide_memory() -> None:
    """Forbid other processes, except root's, to trace this process and its children or to read their memory."""
    prctl(PR_SET_DUMPABLE, 0)


def die_with_parent() -> None:
    """Have the kernel kill this process when its parent ends. A fork or a change of user resets it."""
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
