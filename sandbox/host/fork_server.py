"""The handle of the fork server: start it, request workers, and receive reports of their end."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import socket
from math import ceil
from typing import TYPE_CHECKING

from sandbox.errors import WorkerError
from sandbox.host.launch import start_process
from sandbox.host.worker import Worker
from sandbox.protocol.control import DATAGRAM_BYTES, REPORT_BYTES, Fork, Kind, Purpose, Report

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    from sandbox.limits import Limits

_logger = logging.getLogger(__name__)

#: The guest's program module, as it ships.
PROGRAM = "sandbox.guest.program"

#: The imports take a third of a second on a slow machine; this leaves room for a busy one.
_START_TIMEOUT_S = 30.0

#: Processor time added for lockdown and rehearsal, in the kernel's unit of whole seconds. The host ends a program on
#: time by the worker's clock; the kernel's limit is for a host that is late.
_PREPARATION_CPU_S = 1


class ForkServer:
    """One fork server process. Once it has died (`is_alive` is false), start another."""

    def __init__(self, *, program: str = PROGRAM, folders: tuple[str, ...] = ()) -> None:
        self.is_alive = False
        #: The lockdown's result for each layer: "taken", or the error. Evidence comes from the probe.
        self.lockdown: dict[str, str] = {}
        self.on_death: Callable[[], None] | None = None
        self._program = program
        self._folders = folders
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._ready: asyncio.Future[None] | None = None
        self._workers: dict[int, Worker] = {}
        self._last_number = 0

    async def start(self) -> None:
        """Start the process and wait until it is locked and ready. Raises WorkerError with its last line of output."""
        loop = asyncio.get_running_loop()
        control, its_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with its_end:
            self._process = start_process(its_end, program=self._program, folders=self._folders)
        control.setblocking(False)
        self._control = control
        self._ready = loop.create_future()
        self.is_alive = True
        loop.add_reader(control.fileno(), self._hear)
        try:
            await asyncio.wait_for(self._ready, _START_TIMEOUT_S)
        except (TimeoutError, WorkerError) as error:
            written = self._end().strip().rpartition("\n")[2]  # the last line of a traceback
            message = f"the fork server did not start: {written or type(error).__name__}"
            raise WorkerError(message) from None
        except BaseException:  # the start was cancelled
            self._end()
            raise

    def fork(self, limits: Limits, purpose: Purpose) -> Worker:
        """Request a worker. Data can be sent at once; it waits in the socket.

        Raises WorkerError if the server is dead or cannot take the request.
        """
        if self._control is None or not self.is_alive:
            raise WorkerError("the fork server is not running")
        try:
            channel, its_end = socket.socketpair()
        except OSError as error:
            message = f"no socket for another worker: {os.strerror(error.errno or 0)}"
            raise WorkerError(message) from error
        self._last_number += 1
        request = Fork(self._last_number, limits.memory_bytes, ceil(limits.cpu_s) + _PREPARATION_CPU_S, purpose)
        with its_end:
            try:
                socket.send_fds(self._control, [request.pack()], [its_end.fileno()])
            except OSError as error:
                channel.close()
                message = f"the fork server did not take the request: {os.strerror(error.errno or 0)}"
                raise WorkerError(message) from error
        channel.setblocking(False)
        worker = Worker(self._last_number, channel, asyncio.get_running_loop())
        self._workers[worker.number] = worker
        return worker

    async def aclose(self) -> None:
        """Kill the server and all its workers, and wait until they have ended."""
        workers = list(self._workers.values())
        for worker in workers:
            worker.discard()
        try:
            if workers:
                await asyncio.wait([worker.ended for worker in workers], timeout=5)
        finally:
            self._end()

    def _hear(self) -> None:
        """Take one report from the server."""
        assert self._control is not None  # noqa: S101 - the reader is registered while it is there
        try:
            datagram, descriptors, _, _ = socket.recv_fds(self._control, DATAGRAM_BYTES, 1, socket.MSG_CMSG_CLOEXEC)
        except BlockingIOError:
            return
        except OSError:
            datagram, descriptors = b"", []
        if not datagram:
            self._died()
            return
        report = Report.unpack(datagram)
        if report.kind is Kind.READY:
            self.lockdown = json.loads(datagram[REPORT_BYTES:])
            if self._ready is not None and not self._ready.done():
                self._ready.set_result(None)
        elif report.kind is Kind.STARTED and not descriptors:
            _logger.error("no descriptor was left for the pidfd of a worker: the fork server was killed")
            self._died()
        elif report.kind is Kind.STARTED:
            self._workers[report.worker].started(descriptors[0])
        else:
            worker = self._workers.pop(report.worker)
            worker.finished(report.exit if report.kind is Kind.EXITED else None)
            if report.kind is Kind.FAILED:
                worker.discard()

    def _died(self) -> None:
        """Release the server, which died with its workers."""
        self._stop_hearing()
        if self._ready is not None and not self._ready.done():
            self._ready.set_exception(WorkerError(""))
            return
        self._end()
        if self.on_death is not None:
            self.on_death()

    def _end(self) -> str:
        """Release everything, and return what the process wrote to standard error while it started."""
        self.is_alive = False
        for worker in self._workers.values():
            worker.kill()
            worker.finished(None)
        self._workers.clear()
        self._stop_hearing()
        if self._process is None:
            return ""
        self._process.kill()
        _, written = self._process.communicate()
        self._process = None
        return written.decode(errors="replace").strip()[-2_000:]

    def _stop_hearing(self) -> None:
        if self._control is not None:
            asyncio.get_running_loop().remove_reader(self._control.fileno())
            self._control.close()
            self._control = None
