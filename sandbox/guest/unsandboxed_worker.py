"""A worker without a fork server and without the process wall: one program in a process started by exec.

It serves platforms other than Linux, after an explicit opt-in. The language policy alone confines its program, within
the limits of POSIX.
"""

from __future__ import annotations

import os
import resource
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, cast

from sandbox.protocol.control import FORK_BYTES, Fork

if TYPE_CHECKING:
    from sandbox.guest.fork_server import Program


def main(channel: int, program_name: str) -> None:
    """Read the limits and serve one program. The host ends the process."""
    os.environ.clear()  # noqa: TID251 - emptied, not read
    program = cast("Program", import_module(program_name))
    program.warm_up()
    _, _, cpu_s, _ = Fork.unpack(_exactly(channel, FORK_BYTES))
    _limit(cpu_s)
    program.serve(channel)
    with suppress(OSError):
        os.read(channel, 1)
    os._exit(0)


def _limit(cpu_s: int) -> None:
    """Set the limits that every POSIX system enforces. None of them limits memory."""
    limits = {"CPU": (cpu_s, cpu_s + 1), "CORE": (0, 0), "FSIZE": (0, 0), "NPROC": (0, 0)}
    for name, limit in limits.items():
        with suppress(OSError, ValueError, AttributeError):
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), limit)


def _exactly(channel: int, size: int) -> bytes:
    data = b""
    while len(data) < size:
        chunk = os.read(channel, size - len(data))
        if not chunk:
            os._exit(0)
        data += chunk
    return data
