"""An MCP server as a child process: lines of JSON over pipes. It ends with this process, however this process ends."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import shutil
import signal
import sys
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
from mcp.client.stdio import get_default_environment
from mcp.shared.message import SessionMessage
from mcp_types import INTERNAL_ERROR, PARSE_ERROR, ErrorData, JSONRPCError, jsonrpc_message_adapter

from codemode.transports.http.answers import MOST_PARTS, has_too_many_parts

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping, Sequence

    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

    Streams = tuple[MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]]

log = logging.getLogger(__name__)

#: Error code that replaces an answer that is too large.
ANSWER_TOO_LARGE = 413

#: Time limit in seconds for a server to end after its input is closed, and again after SIGTERM.
GRACE_S = 2.0

#: Bytes of standard error that are kept. Further output overwrites the file.
ERRORS_BYTES = 1024 * 1024

_CHUNK_BYTES = 256 * 1024
_POLL_S = 0.01
_LAST_WORDS_S = 0.5

#: Runs in the server's process before its program: if the parent dies, the kernel kills the process (prctl(2)).
_TIED_TO_US = """
import os, signal, sys
parent, locale, *command = sys.argv[1:]
if not locale:
    os.environ.pop("LC_CTYPE", None)  # which Python has set for itself (PEP 538)
try:
    import ctypes
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
except (ImportError, OSError, AttributeError):
    pass
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
if os.getppid() == int(parent):
    os.execv(command[0], command[1:])
"""

#: The two common server SDKs write an answer's id at its start or at its end.
_ID_FIRST = re.compile(rb'\s*\{"jsonrpc":\s*"2\.0",\s*"id":\s*(\d+)')
_ID_LAST = re.compile(rb'"id":\s*(\d+)\s*\}\s*$')


@asynccontextmanager
async def started(
    ended: Callable[[], None],
    *,
    command: Sequence[str],
    env: Mapping[str, str],
    cwd: Path | None,
    errors: Path,
    limit_bytes: int,
) -> AsyncIterator[Streams]:
    """Yield the streams of a server that runs during the block. `ended` is called when the server closes its output.

    `env` extends a minimal environment. Standard error goes to the file `errors`. An error with the code
    ANSWER_TOO_LARGE replaces a message of more than `limit_bytes`. Lines that are not messages are skipped. Raises
    OSError if the server cannot be started.
    """
    environment = {**get_default_environment(), **env}
    process = await asyncio.create_subprocess_exec(
        *_tied(_program(command[0], environment, cwd), command, environment),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=environment,
        cwd=cwd,
        start_new_session=True,
    )
    incoming, reading = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    writing, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
    hearing = asyncio.create_task(_hear(process, incoming, limit_bytes))
    hearing.add_done_callback(lambda _: ended())
    keeping = asyncio.create_task(_keep_errors(process, errors))
    tasks = [hearing, keeping, asyncio.create_task(_say(process, outgoing, incoming))]
    try:
        yield reading, writing
    finally:
        ending = asyncio.create_task(_end(process, keeping))
        try:
            await asyncio.shield(ending)
        finally:
            if not ending.done():  # this task was cancelled
                _kill(process)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            for stream in (incoming, reading, writing, outgoing):
                stream.close()


def _program(name: str, environment: Mapping[str, str], cwd: Path | None) -> str:
    """Return the path of a program. Raises FileNotFoundError, PermissionError."""
    if "/" not in name:
        path_found = shutil.which(name, path=environment.get("PATH"))
        if path_found is None:
            message = f"program {name!r} was not found in PATH"
            raise FileNotFoundError(message)
        return path_found
    path = (cwd or Path()) / Path(name).expanduser()
    if not path.is_file():
        message = f"program {name!r} was not found"
        raise FileNotFoundError(message)
    if not os.access(path, os.X_OK):
        message = f"{name!r} is not executable"
        raise PermissionError(message)
    return str(path.absolute())


def _tied(program: str, command: Sequence[str], environment: Mapping[str, str]) -> tuple[str, ...]:
    if not sys.executable:  # Python is embedded in another program
        return (program, *command[1:])
    facts = (str(os.getpid()), environment.get("LC_CTYPE", ""))
    return (sys.executable, "-I", "-S", "-c", _TIED_TO_US, *facts, program, *command)


async def _hear(
    process: asyncio.subprocess.Process, incoming: MemoryObjectSendStream[SessionMessage | Exception], limit_bytes: int
) -> None:
    """Pass on the server's messages until it closes its output."""
    assert process.stdout is not None  # noqa: S101 -- requested at the start
    line = _Line(limit_bytes)
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
        async with incoming:
            while chunk := await process.stdout.read(_CHUNK_BYTES):
                *ends, rest = chunk.split(b"\n")
                for end in ends:
                    line.add(end)
                    message = line.message()
                    if message is not None:
                        await incoming.send(message)
                    line = _Line(limit_bytes)
                line.add(rest)
    while await process.stdout.read(_CHUNK_BYTES):  # a server with a full pipe could not end
        pass


class _Line:
    """One line of a server's output. Of a line that is too long, only the start and the end are kept."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._parts: list[bytes] = []
        self._size = 0

    def add(self, part: bytes) -> None:
        """Add the next bytes of the line."""
        self._size += len(part)
        if self._size <= self._limit_bytes:
            self._parts.append(part)
        else:
            whole = b"".join((*self._parts, part))
            self._parts = [whole[:200], b"\n", whole[-200:]]

    def message(self) -> SessionMessage | None:
        """Return the message, None if there is none."""
        text = b"".join(self._parts)
        if self._size > self._limit_bytes:
            return self._too_large(text)
        if not text.strip():
            return None
        if has_too_many_parts(text, b"[", b"{"):
            return _in_its_place(text, ANSWER_TOO_LARGE, f"the answer has more than {MOST_PARTS:,} lists and objects")
        try:
            return SessionMessage(jsonrpc_message_adapter.validate_json(text, by_name=False))
        except ValueError:
            log.debug("an MCP server wrote a line that is not a message: %r", text[:100])
            return _unreadable(text)

    def _too_large(self, text: bytes) -> SessionMessage | None:
        message = f"the answer has {self._size:,} bytes, more than the limit of {self._limit_bytes:,}"
        return _in_its_place(text, ANSWER_TOO_LARGE, message)


def _unreadable(text: bytes) -> SessionMessage | None:
    """Return the error that replaces an unreadable answer, None if the text is not an answer."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        data = {name: None for name in ("result", "error") if f'"{name}"'.encode() in text}
    if not isinstance(data, dict) or "method" in data:
        return None
    if "result" in data:
        return _in_its_place(text, PARSE_ERROR, "the answer is unreadable")
    if "error" not in data:
        return None
    error = data["error"]
    details = error.get("message") if isinstance(error, dict) else error
    message = "an unreadable error"
    return _in_its_place(text, INTERNAL_ERROR, f"{message}: {details}" if details else message)


def _in_its_place(text: bytes, code: int, message: str) -> SessionMessage | None:
    """Return the error that replaces an answer, if the answer's id is visible."""
    id_match = _ID_FIRST.match(text) or _ID_LAST.search(text)
    if id_match is None:
        return None
    return SessionMessage(JSONRPCError(jsonrpc="2.0", id=int(id_match[1]), error=ErrorData(code=code, message=message)))


async def _say(
    process: asyncio.subprocess.Process,
    outgoing: MemoryObjectReceiveStream[SessionMessage],
    incoming: MemoryObjectSendStream[SessionMessage | Exception],
) -> None:
    """Write messages to the server, one per line. If it stops reading, close the connection."""
    assert process.stdin is not None  # noqa: S101 -- requested at the start
    try:
        async with outgoing:
            async for each in outgoing:
                process.stdin.write(each.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
                await process.stdin.drain()
    except OSError:
        await incoming.aclose()


async def _keep_errors(process: asyncio.subprocess.Process, errors: Path) -> None:
    assert process.stderr is not None  # noqa: S101 -- requested at the start
    errors.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with errors.open("wb", buffering=0) as file:
        while chunk := await process.stderr.read(_CHUNK_BYTES):
            if file.tell() + len(chunk) > ERRORS_BYTES:
                file.seek(0)
                file.truncate()
            file.write(chunk)


async def _end(process: asyncio.subprocess.Process, keeping: asyncio.Task[None]) -> None:
    """Shut the server down in the protocol's order (2025-11-25, lifecycle): close its input, SIGTERM, SIGKILL.

    `keeping` has a moment to read last errors. A surviving descendant may hold the pipes for longer.
    """
    assert process.stdin is not None  # noqa: S101 -- requested at the start
    process.stdin.close()
    if not await _has_ended(process):
        _signal(process, signal.SIGTERM)
        await _has_ended(process)
    await asyncio.wait({keeping}, timeout=_LAST_WORDS_S)
    _kill(process)
    await _has_ended(process)


async def _has_ended(process: asyncio.subprocess.Process) -> bool:
    """Return whether the server ends in time. `Process.wait` would also wait for other holders of its pipes."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + GRACE_S
    while process.returncode is None and loop.time() < deadline:  # noqa: ASYNC110 -- no event signals the exit alone
        await asyncio.sleep(_POLL_S)
    return process.returncode is not None


def _kill(process: asyncio.subprocess.Process) -> None:
    """Kill the server and its descendants, and close its pipes."""
    _signal(process, signal.SIGKILL)
    transport = getattr(process, "_transport", None)  # no public API closes pipes that a survivor holds
    if transport is not None:
        with suppress(ProcessLookupError):
            transport.close()


def _signal(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
