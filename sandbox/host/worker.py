"""The handle of one worker process: a socket to send and receive, a pidfd to kill it, a clock to read.

A worker is used for one program and then killed. It is killed by pidfd and never by number, which the kernel may have
given to another process.
"""

from __future__ import annotations

import asyncio
import os
import signal
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from sandbox.protocol.conversation import LEAST_READ
from sandbox.protocol.framing import FrameBuffer, FrameTooLarge

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    from sandbox.protocol.control import Exit

#: Buffer of one read, about as large as a Unix socket's by default. All workers share it: allocating it for each read
#: would take longer than reading and answering a call.
_BUFFER = memoryview(bytearray(208 * 1024))

_KIBIBYTE = 1024


class Worker:
    """Handle of one worker.

    `ended` becomes the kernel's report of its end, or None if the fork server died with it. A worker that sends
    anything before `listen` is called is unusable.
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
        #: What the worker sent before `listen`; b"" if it hung up.
        self.early: bytes | None = None
        #: Called when the socket has taken everything that waited to be sent.
        self.on_drained: Callable[[], None] | None = None
        loop.add_reader(self._descriptor, self._read)

    def listen(self, on_bytes: Callable[[bytes], None]) -> None:
        """Pass everything that arrives to `on_bytes`; b"" is the end of the stream."""
        self._on_bytes = on_bytes

    def pause(self) -> None:
        """Stop reading until `go_on`."""
        if self._descriptor >= 0:
            self._loop.remove_reader(self._descriptor)

    def go_on(self) -> None:
        """Continue reading after `pause`."""
        if self._descriptor >= 0:
            self._loop.add_reader(self._descriptor, self._read)

    def send(self, data: bytes) -> None:
        """Send as much as the socket takes, and the rest when it takes more. A dead worker is not an error."""
        if self._unsent:
            self._unsent += data
            return
        sent = self._send_now(data)
        if sent < len(data):
            self._unsent += memoryview(data)[sent:]
            self._loop.add_writer(self._descriptor, self._send_rest)

    def send_soon(self, data: bytes) -> None:
        """Send together with everything else of this turn of the event loop."""
        if not self._unsent:
            self._loop.call_soon(self._send_rest)
        self._unsent += data

    def _send_rest(self) -> None:
        if self._descriptor < 0:
            return  # discarded meanwhile
        del self._unsent[: self._send_now(self._unsent)]
        if self._unsent:
            self._loop.add_writer(self._descriptor, self._send_rest)
            return
        self._loop.remove_writer(self._descriptor)
        if self.on_drained is not None:
            self.on_drained()

    def _send_now(self, data: bytes | bytearray) -> int:
        """Return how many bytes were sent, or will never be."""
        try:
            return self._channel.send(data)
        except BlockingIOError:
            return 0
        except OSError:
            return len(data)  # the worker is gone; the end of the stream follows

    @property
    def unsent_bytes(self) -> int:
        """How much waits until the socket takes it."""
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
            self.early = chunk
            self._loop.remove_reader(self._descriptor)
        else:
            self._on_bytes(chunk)

    @property
    def has_started(self) -> bool:
        """Whether the fork server has reported the process."""
        return self._pidfd is not None

    @property
    def is_usable(self) -> bool:
        """Whether the worker lives and has sent nothing yet."""
        return self.early is None and not self._is_doomed and not self.ended.done()

    def started(self, pidfd: int) -> None:
        """Take the worker's pidfd from the fork server."""
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
        """Kill the worker by SIGKILL, as soon as it has started. Repeated calls are not an error."""
        self._is_doomed = True
        self._signal(signal.SIGKILL)

    def ask_for_last_word(self) -> None:
        """Ask the guest, by SIGUSR1, to end with the line that its program was running."""
        self._signal(signal.SIGUSR1)

    def _signal(self, number: signal.Signals) -> None:
        if self._pidfd is not None:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._pidfd, number)

    def finished(self, end: Exit | None) -> None:
        """Note that the process has ended and been reaped."""
        for descriptor in (self._pidfd, self._status):
            if descriptor is not None:
                os.close(descriptor)
        self._pidfd = self._status = self._process = None
        self._is_doomed = True
        if not self.ended.done():
            self.ended.set_result(end)

    def discard(self) -> None:
        """Kill the worker and close its socket. For who listens, its stream ends."""
        self.kill()
        if self._descriptor >= 0:
            self._loop.remove_reader(self._descriptor)
            self._loop.remove_writer(self._descriptor)
            self._descriptor = -1
            self._channel.close()
            if self._on_bytes is not None:
                self._loop.call_soon(self._on_bytes, b"")

    def cpu_s(self) -> float | None:
        """Return the processor time of the worker in seconds, or None if it has ended."""
        if self._process is None:
            return None
        try:
            return time.clock_gettime(~self._process << 3 | _SCHEDULED_TIME)
        except OSError:
            return None

    def peak_memory_bytes(self) -> int | None:
        """Return the peak resident memory, including pages shared with the fork server; None if it has ended."""
        if self._status is None:
            return None
        try:
            found = _find_field(os.pread(self._status, 4096, 0), b"VmHWM:")
        except OSError:
            return None
        return None if found is None else found * _KIBIBYTE


async def read_frame(worker: Worker, *, budget: int, timeout_s: float) -> bytes:
    """Return the first frame of a worker.

    Raises TimeoutError, FrameTooLarge, or EOFError if the worker hangs up before or sends the frame in tiny pieces.
    """
    frames = FrameBuffer()
    reads_left = budget // LEAST_READ
    answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    def take(chunk: bytes) -> None:
        nonlocal reads_left
        if answer.done():
            return
        reads_left -= 1
        frames.feed(chunk)
        try:
            body = frames.next_frame(budget=budget)
        except FrameTooLarge as error:
            answer.set_exception(error)
            return
        if body is not None:
            answer.set_result(body)
        elif not chunk or reads_left < 0:
            answer.set_exception(EOFError())

    worker.listen(take)
    async with asyncio.timeout(timeout_s):
        return await answer


def _read_field(path: str, name: bytes) -> int | None:
    """Return a number from a file of /proc, or None if the file or the field is missing."""
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


#: Kind of the clock of a process: CPUCLOCK_SCHED in the kernel's posix-timers_types.h.
_SCHEDULED_TIME = 2
