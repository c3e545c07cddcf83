"""Workers without a fork server: for platforms that have none of what the process wall is made of.

Each is a process of its own, started by exec with an empty environment and one socket, killed at its end. It is not
locked: nothing but the language policy stands between a program and what the user of this process may do.
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

#: How often it is asked whether a worker has ended. There is no pidfd to wait for.
_LOOK_AGAIN_S = 0.01
_PREPARATION_CPU_S = 2
#: Unit of the peak memory that the kernel reports, in bytes.
_PEAK_UNIT = 1 if sys.platform == "darwin" else 1024


class LoneWorker(Worker):
    """A worker that is known by its process alone. It is reaped here, so its number stays its own until then."""

    def __init__(
        self, number: int, channel: socket.socket, loop: asyncio.AbstractEventLoop, process: subprocess.Popen[bytes]
    ) -> None:
        super().__init__(number, channel, loop)
        self._child = process
        self._look()

    @property
    def has_started(self) -> bool:
        """It has, before this object was made."""
        return True

    def kill(self) -> None:
        """End it now. Again is no error."""
        self._is_doomed = True
        if not self.ended.done():
            os.kill(self._child.pid, 9)

    def _look(self) -> None:
        process, status, used = os.wait4(self._child.pid, os.WNOHANG)
        if not process:
            self._loop.call_later(_LOOK_AGAIN_S, self._look)
            return
        self._child.returncode = os.waitstatus_to_exitcode(status)
        if self._child.stderr is not None:
            self._child.stderr.close()
        self.finished(Exit(status, used.ru_utime + used.ru_stime, used.ru_maxrss * _PEAK_UNIT))


class LoneWorkers:
    """Starts workers; has the methods of `ForkServer` that a pool and a sandbox use."""

    def __init__(self, *, program: str, folders: tuple[str, ...] = ()) -> None:
        self.is_alive = False
        self.on_death: Callable[[], None] | None = None
        self._program = program
        self._folders = folders
        self._workers: list[LoneWorker] = []
        self._last_number = 0

    async def start(self) -> None:
        """Check that a worker can be spoken to. Raises WorkerError."""
        if not hasattr(socket, "AF_UNIX") or not hasattr(os, "wait4"):
            message = f"{sys.platform} has no sockets that a process can inherit: programs cannot be run here at all"
            raise WorkerError(message)
        self.is_alive = True

    def fork(self, limits: Limits, purpose: Purpose) -> Worker:
        """Start a worker; what is sent waits in its socket until it has imported all. Raises WorkerError."""
        channel, its_end = socket.socketpair()
        with its_end:
            process = start_process(its_end, program=self._program, folders=self._folders, main="lone_worker")
        channel.setblocking(False)
        self._last_number += 1
        worker = LoneWorker(self._last_number, channel, asyncio.get_running_loop(), process)
        cpu_s = ceil(limits.cpu_s) + _PREPARATION_CPU_S
        worker.send(Fork(worker.number, limits.memory_bytes, cpu_s, purpose).pack())
        self._workers = [other for other in self._workers if not other.ended.done()]
        self._workers.append(worker)
        return worker

    async def aclose(self) -> None:
        """End all workers, and wait until they are gone."""
        self.is_alive = False
        for worker in self._workers:
            worker.discard()
        if self._workers:
            await asyncio.wait([worker.ended for worker in self._workers], timeout=5)
