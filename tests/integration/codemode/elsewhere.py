"""A process without the modules and functions that other systems do not have: `python -m …elsewhere COMMAND …`.

Runs `codemode COMMAND …`. What it imports must not be among `ABSENT`; `msvcrt`, which Windows has, is a fake.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from types import ModuleType
from typing import Any

import mcp.server.stdio  # noqa: F401 - it looks at sys.platform, and would import fcntl here

ABSENT = (
    *("fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "syslog"),
    *("sandbox.host.sandbox", "sandbox.host.fork_server", "sandbox.host.unsandboxed_workers"),
    *("sandbox.isolation.seccomp", "sandbox.isolation.landlock", "sandbox.isolation.rlimits"),
    *("sandbox.isolation.namespaces", "sandbox.isolation.probe", "sandbox.guest.process.run"),
)


def _locking(*_: object) -> None:
    """Lock nothing."""


def _no_handler(*_: object) -> None:
    raise NotImplementedError


def leave_linux() -> None:
    """Remove what Windows does not have."""
    for name in ABSENT:
        sys.modules[name] = None  # type: ignore[assignment]
    windows: Any = ModuleType("msvcrt")
    windows.locking, windows.LK_NBLCK = _locking, 2
    sys.modules["msvcrt"] = windows
    asyncio.SelectorEventLoop.add_signal_handler = _no_handler  # type: ignore[method-assign,assignment]
    for owner, name in ((os, "sched_getaffinity"), (signal, "SIGHUP")):
        delattr(owner, name)
    if hasattr(os, "process_cpu_count"):  # from Python 3.13 on
        os.process_cpu_count = os.cpu_count  # type: ignore[assignment,unused-ignore]


if __name__ == "__main__":
    leave_linux()
    from codemode.serving.cli.command import main

    main()
