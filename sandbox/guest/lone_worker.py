"""A worker without fork server and without process wall: one program in a process that was started by exec.

For platforms that are not Linux, after the explicit opt-in alone. What holds the program here is the language policy;
the limits are those that POSIX has.
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
    """Read what it may use, then serve one program; the host kills it, or hangs up."""
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
    """Take the limits that every POSIX system has. There is none on memory that all of them enforce."""
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
