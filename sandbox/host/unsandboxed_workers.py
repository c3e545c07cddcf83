"""Workers without a fork server, for platforms that have no process wall.

Each is a process of its own, started by exec with an empty environment and one socket, and killed at its end. It is
not locked: only the language policy stands between a program and the rights of the user.
"""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from math import ceil
from typing import TYPE_CHECKING

from sandbox.errors import WorkerError
from sandbox.host.launch import start_process
from sandbox.host.worker import Worker
from sandbox.protocol.control import Exit, Fork, Purpose

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    from sandbox.limits import Limits

#: Interval between two checks whether a worker has ended; there is no pidfd to wait for.
_LOOK_AGAIN_S = 0.01
_PREPARATION_CPU_S = 2
#: Unit of the peak memory that the kernel reports, in bytes.
_PEAK_UNIT = 1 if sys.platform == "darwin" else 1024


class UnsandboxedWorker(Worker):
    """A worker without a pidfd. This process reaps it, so the number cannot be reused before."""

    def __init__(
        self, number: int, channel: socket.socket, loop: asyncio.AbstractEventLoop, process: subprocess.Popen[bytes]
    ) -> None:
        super().__init__(number, channel, loop)
        self._child = process
        self._look()

    @property
    def has_started(self) -> bool:
        """Always true: the process is started first."""
        return True

    def kill(self) -> None:
        """Kill the worker. Repeated calls are not an error."""
        self._is_doomed = True
        if not self.ended.done():
            os.kill(self._child.pid, 9)

    def _look(self) -> None:
        process, status, used = os.wait4(self._child.pid, os.WNOHANG)
        if not process:
            self._loop.call_later(_LOOK_AGAIN_S, self._look)
            return
        self._child.returncode = os.waitstatus_to_exitcode(status)
        assert self._child.stderr is not None  # noqa: S101 - `start_process` makes it a pipe
        self._child.stderr.close()
        self.finished(Exit(status, used.ru_utime + used.ru_stime, used.ru_maxrss * _PEAK_UNIT))


class UnsandboxedWorkers:
    """Start workers, with the methods of `ForkServer` that a pool and a sandbox use."""

    def __init__(self, *, program: str, folders: tuple[str, ...] = ()) -> None:
        self.is_alive = False
        self.on_death: Callable[[], None] | None = None
        self._program = program
        self._folders = folders
        self._workers: list[UnsandboxedWorker] = []
        self._last_number = 0

    async def start(self) -> None:
        """Check that this platform can run workers. Raises WorkerError."""
        if not hasattr(socket, "AF_UNIX") or not hasattr(os, "wait4"):
            message = f"{sys.platform} has no Unix sockets or no wait4: programs cannot run here"
            raise WorkerError(message)
        self.is_alive = True

    def fork(self, limits: Limits, purpose: Purpose) -> Worker:
        """Start a worker. Data sent to it waits in its socket until it is ready. Raises WorkerError."""
        channel, its_end = socket.socketpair()
        with its_end:
            process = start_process(its_end, program=self._program, folders=self._folders, main="unsandboxed_worker")
        channel.setblocking(False)
        self._last_number += 1
        worker = UnsandboxedWorker(self._last_number, channel, asyncio.get_running_loop(), process)
        cpu_s = ceil(limits.cpu_s) + _PREPARATION_CPU_S
        worker.send(Fork(worker.number, limits.memory_bytes, cpu_s, purpose).pack())
        self._workers = [other for other in self._workers if not other.ended.done()]
        self._workers.append(worker)
        return worker

    async def aclose(self) -> None:
        """Kill all workers and wait until they have ended."""
        self.is_alive = False
        for worker in self._workers:
            worker.discard()
        if self._workers:
            await asyncio.wait([worker.ended for worker in self._workers], timeout=5)
