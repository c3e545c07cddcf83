"""The fork server: it imports the guest once, locks itself, and forks one single-use worker for each request.

The host starts it by exec with an empty environment and one socket, so its memory holds nothing of the host. It runs
no program and reads the host's requests alone.
"""

from __future__ import annotations

import gc
import json
import os
import select
import socket
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from traceback import format_exception
from typing import Protocol, cast

from sandbox.isolation.descriptors import CHANNEL, keep_only, silence
from sandbox.isolation.kernel import fork
from sandbox.isolation.lockdown import Lock, lock_server, lock_worker
from sandbox.isolation.probe import probe
from sandbox.protocol.control import FORK_BYTES, Fork, Kind, Purpose, pack_report
from sandbox.protocol.framing import frame
from sandbox.protocol.guest_messages import encode_final

_PROBE, _SERVE_LATER = int(Purpose.PROBE), int(Purpose.SERVE_LATER)
_KIBIBYTE = 1024
_DESCRIPTOR_BYTES = 4
_ONE_DESCRIPTOR = socket.CMSG_SPACE(_DESCRIPTOR_BYTES)


class Program(Protocol):
    """A program module: each worker serves one program with it."""

    def warm_up(self) -> None:
        """Import the guest, and read what it may import later. Called once, before the lockdown."""

    def practise(self) -> None:
        """Run what most programs run, until the interpreter has adapted its code. Called after `warm_up`."""

    def rehearse(self) -> None:
        """Touch the memory that a program will touch. Called in a worker that is forked before its program comes."""

    def serve(self, channel: int) -> None:
        """Read one program from the socket, run it, and write its outcome."""


def main(channel: int, program_name: str) -> None:
    """Serve the host until it closes its socket, whose descriptor is `channel`."""
    os.environ.clear()  # noqa: TID251 - emptied, not read
    keep_only(channel)
    program = cast("Program", import_module(program_name))
    program.warm_up()
    silence()  # until here standard error was a pipe to the host, for failed imports
    program.practise()
    gc.collect()
    gc.freeze()  # a collection in a worker would write to every shared object and copy its page
    gc.disable()
    report: dict[str, str] = {}
    lock = lock_server(report)
    control = socket.socket(fileno=CHANNEL)
    control.send(pack_report(Kind.READY, 0) + json.dumps(report).encode())
    _Server(program, lock, control).run()


@dataclass
class _Server:
    program: Program
    lock: Lock
    control: socket.socket
    poll: select.poll = field(default_factory=select.poll)
    #: Number and process of each living worker, by its pidfd.
    workers: dict[int, tuple[int, int]] = field(default_factory=dict)

    def run(self) -> None:
        self.poll.register(self.control, select.POLLIN)
        while True:
            for descriptor, _ in self.poll.poll():
                if descriptor != CHANNEL:
                    self._reap(descriptor)
                elif not self._take_request():
                    os._exit(0)  # the host is gone; the kernel kills the workers with this process

    def _take_request(self) -> bool:
        datagram, ancillary, _, _ = self.control.recvmsg(FORK_BYTES, _ONE_DESCRIPTOR, socket.MSG_CMSG_CLOEXEC)
        if not datagram:
            return False
        channel = int.from_bytes(ancillary[0][2], sys.byteorder)
        self._fork(datagram, channel)
        return True

    def _fork(self, datagram: bytes, channel: int) -> None:
        number, *_ = Fork.unpack(datagram)
        try:
            process = fork()
        except OSError as error:
            self.control.send(pack_report(Kind.FAILED, number, errno=error.errno or 0))
        else:
            if not process:
                _work(self.program, self.lock, datagram, channel)
            self._announce(number, process)
        os.close(channel)

    def _announce(self, worker: int, process: int) -> None:
        pidfd = os.pidfd_open(process)
        self.workers[pidfd] = (worker, process)
        self.poll.register(pidfd, select.POLLIN)
        passed = (socket.SOL_SOCKET, socket.SCM_RIGHTS, pidfd.to_bytes(_DESCRIPTOR_BYTES, sys.byteorder))
        self.control.sendmsg((pack_report(Kind.STARTED, worker),), (passed,))

    def _reap(self, pidfd: int) -> None:
        worker, process = self.workers.pop(pidfd)
        self.poll.unregister(pidfd)
        os.close(pidfd)
        _, status, used = os.wait4(process, 0)
        cpu_s, peak = used.ru_utime + used.ru_stime, used.ru_maxrss * _KIBIBYTE
        self.control.send(pack_report(Kind.EXITED, worker, status=status, cpu_s=cpu_s, peak_memory_bytes=peak))


def _work(program: Program, lock: Lock, datagram: bytes, channel: int) -> None:
    """Run as a worker. Never returns."""
    try:
        request = Fork.unpack(datagram)
        if request[-1] == _PROBE:
            _, memory_bytes, cpu_s, _ = request
            found = probe(lock, channel=channel, memory_bytes=memory_bytes, cpu_s=cpu_s)
            os.write(CHANNEL, frame(json.dumps(found).encode()))
            os._exit(0)
        _prepare_and_serve(program, lock, request, channel)
        with suppress(OSError):
            os.read(CHANNEL, 1)  # the host reads the usage of this process first, then kills it or hangs up
    finally:
        os._exit(0)  # in any case: the server's loop must not run in a worker


def _prepare_and_serve(program: Program, lock: Lock, request: tuple[int, int, int, int], channel: int) -> None:
    _, memory_bytes, cpu_s, purpose = request
    gc.enable()
    try:
        if purpose == _SERVE_LATER:
            program.rehearse()  # before the memory limit is set
        lock_worker(lock, channel=channel, memory_bytes=memory_bytes, cpu_s=cpu_s)
        channel = CHANNEL
        program.serve(CHANNEL)
    except Exception as error:  # noqa: BLE001 - the host reports a defect of the guest as a failure
        _report_defect(channel, error)


def _report_defect(channel: int, error: Exception) -> None:
    text = "".join(format_exception(error))[-4_000:]
    failure = dict.fromkeys(("excerpt", "hint"), "")
    failure |= {"type": "GuestDefect", "message": f"{type(error).__name__}: {error}"[:4_000], "traceback": text}
    end = encode_final("failed", failure={**failure, "line": None, "column": None, "refusals": []})
    with suppress(OSError):
        os.write(channel, end)
