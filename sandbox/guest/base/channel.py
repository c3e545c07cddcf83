"""The socket to the host: frames in, frames out. Calls are collected until the program is about to wait."""

from __future__ import annotations

import json
import json.scanner
import os
from functools import cache
from typing import TYPE_CHECKING, Any

from sandbox.protocol.framing import HEADER, HEADER_BYTES
from sandbox.protocol.guest_messages import encode_call, encode_calls, encode_cancel, encode_idle

if TYPE_CHECKING:
    from collections.abc import Callable

    from sandbox.guest.base.output import Output

_CHUNK = 1 << 13


class HostGone(BaseException):
    """The other side of the socket is closed. Programs cannot name it, so they cannot catch it."""


class Connection:
    """A byte stream over read(2) and write(2), because a worker may make no socket calls."""

    __slots__ = ("_reading", "_writing")

    def __init__(self, reading: int, writing: int) -> None:
        self._reading = reading
        self._writing = writing

    def read(self, size: int) -> bytes:
        """Read up to `size` bytes. Returns no bytes at the end of the stream."""
        return os.read(self._reading, size)

    def write(self, data: memoryview) -> int:
        """Write bytes, and return how many were written."""
        return os.write(self._writing, data)


class Channel:
    """Messages over one connection. `object_hook` makes the dicts of answers and inputs."""

    def __init__(self, connection: Connection, object_hook: Callable[[dict[str, Any]], Any]) -> None:
        self.connection = connection
        self._scan_start = _scanner(None)
        self._scan = _scanner(object_hook)
        self._buffer = bytearray()
        self._calls: list[bytes] = []
        self._outgoing: list[bytes] = []
        self._last_id = 0
        self.in_flight: dict[int, Callable[[dict[str, Any]], None]] = {}
        self.wake_told: int | None = None
        self.output: Output | None = None

    # --- calls -----------------------------------------------------------------------------------------------------

    @property
    def has_calls(self) -> bool:
        """Whether there are calls that were not sent yet."""
        return bool(self._calls)

    def call(self, path: str, tool: str, arguments: bytes, answer: Callable[[dict[str, Any]], None]) -> int:
        """Note a call; it is sent when the program waits. `answer` is called with the reply."""
        self._last_id += 1
        self._calls.append(encode_call(self._last_id, path, tool, arguments))
        self.in_flight[self._last_id] = answer
        return self._last_id

    def cancel(self, call_id: int) -> None:
        """Cancel a call. A late reply is dropped."""
        if self.in_flight.pop(call_id, None) is not None:
            if self._calls:
                self.send_calls(None, None)
            self._outgoing.append(encode_cancel(call_id))

    def answer(self, message: dict[str, Any]) -> None:
        """Pass a reply to the caller that waits for it."""
        waiting = self.in_flight.pop(message["id"], None)
        if waiting is not None:
            waiting(message)

    # --- frames ----------------------------------------------------------------------------------------------------

    def send_calls(self, wake: int | None, delay: int | None) -> None:
        """Queue the collected calls, with the timers that the program waits for."""
        message = encode_calls(self._calls, wake=wake, delay=delay)
        self._calls.clear()
        self.wake_told = wake
        self.send(message)

    def send_idle(self) -> None:
        """Say that nothing but a timer is awaited."""
        self.send(encode_idle())

    def send(self, data: bytes) -> None:
        """Queue a frame, behind the output that came before it."""
        self._queue_output()
        self._outgoing.append(data)

    def flush(self) -> None:
        """Write everything that is queued, in one go."""
        self._queue_output()
        if self._outgoing:
            data = b"".join(self._outgoing)
            self._outgoing.clear()
            self._write(data)

    def _queue_output(self) -> None:
        printed = None if self.output is None else self.output.take()
        if printed:
            self._outgoing.append(printed)

    def _write(self, data: bytes) -> None:
        rest = memoryview(data)
        try:
            while (written := self.connection.write(rest)) < len(rest):
                rest = rest[written:]
        except OSError:
            raise HostGone from None

    def read_start(self) -> dict[str, Any]:
        """Read the message that starts a program, or that asks to compile one."""
        start: dict[str, Any] = self._scan_start(self._read_text(), 0)[0]
        if start["t"] == "run":
            start["inputs"] = self.read() if start["inputs"] else {}
        return start

    def read(self) -> dict[str, Any]:
        """Read one frame."""
        message: dict[str, Any] = self._scan(self._read_text(), 0)[0]
        return message

    def _read_text(self) -> str:
        if not self._buffer:  # the usual case: one frame in one piece
            chunk = self._read_some(_CHUNK)
            if len(chunk) > HEADER_BYTES and HEADER.unpack_from(chunk)[0] == len(chunk) - HEADER_BYTES:
                return str(chunk[HEADER_BYTES:], "utf-8")
            self._buffer += chunk
        return str(self._take(HEADER.unpack(self._take(HEADER_BYTES))[0]), "utf-8")

    def _take(self, size: int) -> bytes:
        while len(self._buffer) < size:
            self._buffer += self._read_some(max(_CHUNK, size - len(self._buffer)))
        data = bytes(self._buffer[:size])
        del self._buffer[:size]
        return data

    def _read_some(self, size: int) -> bytes:
        try:
            chunk = self.connection.read(size)
        except OSError:
            raise HostGone from None
        if not chunk:
            raise HostGone
        return chunk


@cache
def _scanner(object_hook: Callable[[dict[str, Any]], Any] | None) -> Callable[[str, int], tuple[Any, int]]:
    """Make the JSON parser once, without the search for white space in `json.loads`: the host sends none."""
    make: Any = json.scanner.make_scanner
    scan: Callable[[str, int], tuple[Any, int]] = make(json.JSONDecoder(object_hook=object_hook))
    return scan
