"""Who the process is and what it may become: user, capabilities, no_new_privs, dumpable, death with its parent."""

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
    read_file,
)

#: Users that no distribution gives to anybody (systemd's dynamic users start at 61,184 and end at 65,519). One of
#: them for each fork server, so that two of them cannot reach each other; below 65,536, which containers map.
_FIRST_UNUSED_USER, _UNUSED_USERS = 61_200, 4_000

_LAST_CAPABILITY = "/proc/sys/kernel/cap_last_cap"


def become_nobody() -> None:
    """As root: take a user and a group that own nothing. As anyone else: nothing to do. Raises OSError."""
    if os.getuid() != 0:
        return
    user = _FIRST_UNUSED_USER + os.getpid() % _UNUSED_USERS
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    prctl(PR_SET_DUMPABLE, 1)  # else /proc/self/uid_map belongs to root; taken back by `hide_memory`


def forbid_new_privileges() -> None:
    """No program started from here gains rights by its file. seccomp and Landlock ask for it. Raises OSError."""
    prctl(PR_SET_NO_NEW_PRIVS, 1)


def drop_capabilities() -> None:
    """Give up every capability, those inside the user namespace too. Raises OSError."""
    try:
        last = int(read_file(_LAST_CAPABILITY))
    except OSError:
        last = 40
    for capability in range(last + 1):
        with contextlib.suppress(PermissionError):  # an ordinary user without a namespace has none to drop
            prctl(PR_CAPBSET_DROP, capability)
    drop_all_capabilities()


def hide_memory() -> None:
    """Nobody but root may attach, read the memory, or get a core of this process and its children."""
    prctl(PR_SET_DUMPABLE, 0)


def die_with_parent() -> None:
    """Be killed when the parent ends. A fork and a change of user undo it: call it after."""
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
