"""One worker process as the host sees it: a socket to speak through, a pidfd to kill by, a clock to read.

Single use: it gets one program and is killed whatever it says at the end. Killed by pidfd, never by number, so that a
number that was given to somebody else meanwhile cannot matter.
"""

from __future__ import annotations

import asyncio
import os
import signal
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from sandbox.protocol.framing import FrameBuffer, FrameTooLarge

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    from sandbox.protocol.control import Exit

#: One read: about what a stream socket holds by default on Linux. The buffer is there once, for all workers: to
#: allocate this much for each read takes longer than to read and answer a call.
_BUFFER = memoryview(bytearray(208 * 1024))

_KIBIBYTE = 1024


class Worker:
    """Handle of one worker.

    `ended` becomes what the kernel says of its end (None: nobody can say, the fork server died with it). Before a
    program is given to it nothing may arrive; `listen` says who gets what arrives then.
    """

    def __init__(self, number: int, channel: socket.socket, loop: asyncio.AbstractEventLoop) -> None:
        self.number = number
        self.ended: asyncio.Future[Exit | None] = loop.create_future()
        self._loop = loop
        self._channel = channel
        self._descriptor = channel.fileno()
        self._pidfd: int | None = None
        self._process: int | None = None
        self._status: int | None = None
        self._is_doomed = False
        self._unsent = bytearray()
        self._on_bytes: Callable[[bytes], None] | None = None
        self._early: list[bytes] = []
        #: Called when everything that waited to be sent has gone.
        self.on_drained: Callable[[], None] | None = None
        loop.add_reader(self._descriptor, self._read)

    # --- speaking ---------------------------------------------------------------------------------------------

    def listen(self, on_bytes: Callable[[bytes], None]) -> None:
        """Hand on everything that arrives, b"" for the end of the stream, from now on."""
        self._on_bytes = on_bytes
        for chunk in self._early:
            on_bytes(chunk)

    def pause(self) -> None:
        """Read nothing more until `go_on`: what was read before is still being looked at."""
        if self._descriptor >= 0:
            self._loop.remove_reader(self._descriptor)

    def go_on(self) -> None:
        """Read again."""
        if self._descriptor >= 0:
            self._loop.add_reader(self._descriptor, self._read)

    def send(self, data: bytes) -> None:
        """Send, now as much as the socket takes and the rest when it takes more. A dead worker is no error."""
        if self._unsent:
            self._unsent += data
            return
        try:
            sent = self._channel.send(data)
        except BlockingIOError:
            sent = 0
        except OSError:
            return  # it is gone: the end of the stream arrives by itself
        if sent < len(data):
            self._unsent += memoryview(data)[sent:]
            self._loop.add_writer(self._descriptor, self._send_rest)

    def send_soon(self, data: bytes) -> None:
        """Send in one piece with what else is sent in this turn of the event loop."""
        if not self._unsent:
            self._loop.call_soon(self._send_rest)
        self._unsent += data

    def _send_rest(self) -> None:
        if self._descriptor < 0:
            return  # discarded meanwhile
        try:
            sent = self._channel.send(self._unsent)
        except BlockingIOError:
            sent = 0
        except OSError:
            sent = len(self._unsent)
        del self._unsent[:sent]
        if self._unsent:
            self._loop.add_writer(self._descriptor, self._send_rest)
            return
        self._loop.remove_writer(self._descriptor)
        if self.on_drained is not None:
            self.on_drained()

    @property
    def unsent_bytes(self) -> int:
        """How much waits for the worker to read."""
        return len(self._unsent)

    def _read(self) -> None:
        try:
            chunk = bytes(_BUFFER[: self._channel.recv_into(_BUFFER)])
        except BlockingIOError:
            return
        except OSError:
            chunk = b""
        if not chunk:
            self._loop.remove_reader(self._descriptor)
        if self._on_bytes is None:
            self._early.append(chunk)
            self._loop.remove_reader(self._descriptor)  # it must not speak yet: whoever takes it will see
        else:
            self._on_bytes(chunk)

    # --- living and dying -------------------------------------------------------------------------------------

    @property
    def early(self) -> bytes:
        """What it said before it was asked: nothing, unless something is wrong with it."""
        return b"".join(self._early)

    @property
    def has_started(self) -> bool:
        """Whether there is a process."""
        return self._pidfd is not None

    @property
    def is_usable(self) -> bool:
        """Whether it lives, and has said nothing yet."""
        return not (self._early or self._is_doomed or self.ended.done())

    def started(self, pidfd: int) -> None:
        """Take the pidfd that came from the fork server."""
        self._pidfd = pidfd
        # Its number in the host's process namespace; -1 if it has ended and been reaped.
        process = _read_field(f"/proc/self/fdinfo/{pidfd}", b"\nPid:")
        if process is not None and process > 0:
            self._process = process
            with suppress(OSError):
                self._status = os.open(f"/proc/{process}/status", os.O_RDONLY | os.O_CLOEXEC)
        if self._is_doomed:
            self.kill()

    def kill(self) -> None:
        """End it now: SIGKILL, which nothing in the process can catch or delay. Again is no error."""
        self._is_doomed = True
        if self._pidfd is not None:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)

    def ask_for_last_word(self) -> None:
        """Have the guest tell where its program is; it ends then by itself, or is killed."""
        if self._pidfd is not None:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._pidfd, signal.SIGUSR1)

    def finished(self, end: Exit | None) -> None:
        """Take the news that the process is gone and reaped."""
        for descriptor in (self._pidfd, self._status):
            if descriptor is not None:
                os.close(descriptor)
        self._pidfd = self._status = self._process = None
        self._is_doomed = True
        if not self.ended.done():
            self.ended.set_result(end)

    def discard(self) -> None:
        """Kill it and hang up."""
        self.kill()
        if self._descriptor >= 0:
            self._loop.remove_reader(self._descriptor)
            self._loop.remove_writer(self._descriptor)
            self._descriptor = -1
            self._channel.close()

    # --- what it used -----------------------------------------------------------------------------------------

    def cpu_s(self) -> float | None:
        """Return the processor time it has used, in seconds; None when it cannot be read (any more)."""
        if self._process is None:
            return None
        try:
            return time.clock_gettime(~self._process << 3 | _SCHEDULED_TIME)
        except OSError:
            return None

    def peak_memory_bytes(self) -> int | None:
        """Return the most memory that was resident, pages shared with the fork server included."""
        if self._status is None:
            return None
        try:
            found = _find_field(os.pread(self._status, 4096, 0), b"VmHWM:")
        except OSError:
            return None
        return None if found is None else found * _KIBIBYTE


async def read_frame(worker: Worker, *, budget: int, timeout_s: float) -> bytes:
    """Return the first frame of a worker that is asked one thing.

    Raises TimeoutError, EOFError where it ends or hangs up before, FrameTooLarge.
    """
    frames = FrameBuffer()
    answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    def take(chunk: bytes) -> None:
        if answer.done():
            return
        frames.feed(chunk)
        try:
            body = frames.next_frame(budget=budget)
        except FrameTooLarge as error:
            answer.set_exception(error)
            return
        if body is not None:
            answer.set_result(body)
        elif not chunk:
            answer.set_exception(EOFError())

    worker.listen(take)
    async with asyncio.timeout(timeout_s):
        return await answer


def _read_field(path: str, name: bytes) -> int | None:
    """Return a number from one of the kernel's files."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        return _find_field(os.read(descriptor, 4096), name)
    except OSError:
        return None
    finally:
        os.close(descriptor)


def _find_field(text: bytes, name: bytes) -> int | None:
    _, found, rest = text.partition(name)
    return int(rest.split(None, 1)[0]) if found else None


#: Clock of a whole process, by its number: see CPUCLOCK_SCHED in the kernel's posix-timers_types.h.
_SCHEDULED_TIME = 2
