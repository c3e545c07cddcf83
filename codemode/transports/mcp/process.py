"""An MCP server as a process of ours: started, spoken to in lines of JSON, and ended with us, however we end."""

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

#: The code of the error that stands in the place of an answer that is too large to be read.
ANSWER_TOO_LARGE = 413

#: Seconds for a server to end by itself once its input is closed, and again once it is asked to by SIGTERM.
GRACE_S = 2.0

#: Bytes of standard error that are kept; what comes then begins the file anew.
ERRORS_BYTES = 1024 * 1024

_CHUNK_BYTES = 256 * 1024
_POLL_S = 0.01
_LAST_WORDS_S = 0.5

#: What runs in the server's process before its program: when we die, by whatever, the kernel ends it (prctl(2)).
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

#: Where the two SDKs that most servers are made with write the id of an answer: at its begin, or at its end.
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
    """The streams to and from a server that runs while the block does; `ended` is called when it closes its output.

    `env` comes on top of a minimal environment; what it says on standard error goes to the file `errors`. A message of
    more than `limit_bytes` is not read: an error with the code ANSWER_TOO_LARGE takes its place. Lines that are no
    messages are left out. Raises OSError where it cannot be started.
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
    heard, reading = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    writing, said = anyio.create_memory_object_stream[SessionMessage](0)
    hearing = asyncio.create_task(_hear(process, heard, limit_bytes))
    hearing.add_done_callback(lambda _: ended())
    keeping = asyncio.create_task(_keep_errors(process, errors))
    tasks = [hearing, keeping, asyncio.create_task(_say(process, said, heard))]
    try:
        yield reading, writing
    finally:
        ending = asyncio.create_task(_end(process, keeping))
        try:
            await asyncio.shield(ending)
        finally:
            if not ending.done():  # whoever waits for it was cancelled
                _kill(process)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            for stream in (heard, reading, writing, said):
                stream.close()


def _program(name: str, environment: Mapping[str, str], cwd: Path | None) -> str:
    """The path of a program. Raises FileNotFoundError, PermissionError."""
    if "/" not in name:
        found = shutil.which(name, path=environment.get("PATH"))
        if found is None:
            message = f"there is no program {name!r} in the PATH"
            raise FileNotFoundError(message)
        return found
    path = (cwd or Path()) / Path(name).expanduser()
    if not path.is_file():
        message = f"there is no program {name!r}"
        raise FileNotFoundError(message)
    if not os.access(path, os.X_OK):
        message = f"{name!r} is no program: it may not be executed"
        raise PermissionError(message)
    return str(path.absolute())


def _tied(program: str, command: Sequence[str], environment: Mapping[str, str]) -> tuple[str, ...]:
    if not sys.executable:  # Python inside of another program
        return (program, *command[1:])
    facts = (str(os.getpid()), environment.get("LC_CTYPE", ""))
    return (sys.executable, "-I", "-S", "-c", _TIED_TO_US, *facts, program, *command)


async def _hear(
    process: asyncio.subprocess.Process, heard: MemoryObjectSendStream[SessionMessage | Exception], limit_bytes: int
) -> None:
    """Hand on the messages of the server until it closes its output."""
    assert process.stdout is not None  # noqa: S101 -- it was asked for
    line = _Line(limit_bytes)
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
        async with heard:
            while chunk := await process.stdout.read(_CHUNK_BYTES):
                *ends, rest = chunk.split(b"\n")
                for end in ends:
                    line.add(end)
                    message = line.message()
                    if message is not None:
                        await heard.send(message)
                    line = _Line(limit_bytes)
                line.add(rest)
    while await process.stdout.read(_CHUNK_BYTES):  # a server that cannot write cannot end
        pass


class _Line:
    """One line of a server's output, as it comes; of one that is too long the begin and the end."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._parts: list[bytes] = []
        self._size = 0

    def add(self, part: bytes) -> None:
        """The next bytes of the line."""
        self._size += len(part)
        if self._size <= self._limit_bytes:
            self._parts.append(part)
        else:
            whole = b"".join((*self._parts, part))
            self._parts = [whole[:200], b"\n", whole[-200:]]

    def message(self) -> SessionMessage | None:
        """The message; None where it is none."""
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
            log.debug("an MCP server wrote a line that is no message: %r", text[:100])
            return _unreadable(text)

    def _too_large(self, text: bytes) -> SessionMessage | None:
        message = f"the answer has {self._size:,} bytes, more than the {self._limit_bytes:,} that are read"
        return _in_its_place(text, ANSWER_TOO_LARGE, message)


def _unreadable(text: bytes) -> SessionMessage | None:
    """The error in the place of an answer that is no message; None for what is no answer."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        data = {name: None for name in ("result", "error") if f'"{name}"'.encode() in text}
    if not isinstance(data, dict) or "method" in data:
        return None
    if "result" in data:
        return _in_its_place(text, PARSE_ERROR, "the answer cannot be read")
    if "error" not in data:
        return None
    error = data["error"]
    said = error.get("message") if isinstance(error, dict) else error
    message = "an error that cannot be read"
    return _in_its_place(text, INTERNAL_ERROR, f"{message}: {said}" if said else message)


def _in_its_place(text: bytes, code: int, message: str) -> SessionMessage | None:
    """The error that whoever waits for an answer gets for it, where its id can be seen."""
    found = _ID_FIRST.match(text) or _ID_LAST.search(text)
    if found is None:
        return None
    return SessionMessage(JSONRPCError(jsonrpc="2.0", id=int(found[1]), error=ErrorData(code=code, message=message)))


async def _say(
    process: asyncio.subprocess.Process,
    said: MemoryObjectReceiveStream[SessionMessage],
    heard: MemoryObjectSendStream[SessionMessage | Exception],
) -> None:
    """Write what is sent to the server, a line each; where it does not take it the connection is over."""
    assert process.stdin is not None  # noqa: S101 -- it was asked for
    try:
        async with said:
            async for each in said:
                process.stdin.write(each.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
                await process.stdin.drain()
    except OSError:
        await heard.aclose()


async def _keep_errors(process: asyncio.subprocess.Process, errors: Path) -> None:
    assert process.stderr is not None  # noqa: S101 -- it was asked for
    errors.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with errors.open("wb", buffering=0) as file:
        while chunk := await process.stderr.read(_CHUNK_BYTES):
            if file.tell() + len(chunk) > ERRORS_BYTES:
                file.seek(0)
                file.truncate()
            file.write(chunk)


async def _end(process: asyncio.subprocess.Process, keeping: asyncio.Task[None]) -> None:
    """The order of the protocol (2025-11-25, lifecycle, shutdown): close its input, SIGTERM, SIGKILL.

    `keeping` has a moment for its last words, which is as long as something that it left behind may have its pipes.
    """
    assert process.stdin is not None  # noqa: S101 -- it was asked for
    process.stdin.close()
    if not await _has_ended(process):
        _signal(process, signal.SIGTERM)
        await _has_ended(process)
    await asyncio.wait({keeping}, timeout=_LAST_WORDS_S)
    _kill(process)
    await _has_ended(process)


async def _has_ended(process: asyncio.subprocess.Process) -> bool:
    """Whether it ends in time. `Process.wait` would wait for whoever else has its pipes, too."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + GRACE_S
    while process.returncode is None and loop.time() < deadline:  # noqa: ASYNC110 -- nothing tells of it alone
        await asyncio.sleep(_POLL_S)
    return process.returncode is not None


def _kill(process: asyncio.subprocess.Process) -> None:
    """End it and whatever it has started, and let go of its pipes."""
    _signal(process, signal.SIGKILL)
    transport = getattr(process, "_transport", None)  # nothing public closes the pipes that a survivor holds
    if transport is not None:
        with suppress(ProcessLookupError):
            transport.close()


def _signal(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
