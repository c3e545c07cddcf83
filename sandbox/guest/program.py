"""One program from the socket to its end: read, compile, ask, run, report. This is all that a worker does."""

from __future__ import annotations

import gc
import os
import signal
import sys
import time
import warnings
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any

from sandbox.guest.language import compiled
from sandbox.guest.language.compilation import Program, compile_program
from sandbox.guest.language.source import SourceRefused
from sandbox.guest.library.modules import load_all
from sandbox.guest.library.zones import keep_zones
from sandbox.guest.process.channel import Channel, Connection, HostGone
from sandbox.guest.process.identities import IDENTITIES
from sandbox.guest.process.report import Failed, refusal_of_source, refused, syntax_failure
from sandbox.guest.process.run import Run
from sandbox.guest.scheduling.hub import fresh_context
from sandbox.guest.tools import Record
from sandbox.protocol.guest_messages import COMPILED_CHARACTERS, encode_compiled, encode_final, encode_sites

if TYPE_CHECKING:
    from types import FrameType

#: New containers after which the collector looks for cycles. A tree of syntax has thousands and lives for a moment, so
#: the default (700; 2,000 from Python 3.13 on) makes it look several times before a program begins.
_COLLECT_EVERY = 10_000

#: What a message has besides the compiled program in it.
_AROUND_COMPILED = 64

#: Levels of calls that a program has before RecursionError, besides those that carry it.
RECURSION = 1_000


def serve(descriptor: int) -> None:
    """Read one program from a connected socket, run it, and write how it ended. Returns when all is written."""
    serve_over(_waiting[0], Connection(descriptor, descriptor))


def serve_over(run: Run, connection: Connection) -> None:
    """Do the same over anything that reads and writes bytes, in a run that was made for it."""
    run.channel.connection = connection
    limit, collects = sys.getrecursionlimit(), gc.isenabled()
    try:
        fresh_context().run(_serve, run)
    except HostGone:
        return
    finally:
        sys.setrecursionlimit(limit)
        if collects:
            gc.enable()


#: The run of the one program that this process will serve, made before it comes.
_waiting: list[Run] = []


def _say_last_word(_: int, frame: FrameType | None) -> None:
    """The host says that time is up, and ends this process in a moment: tell the line that it is at."""
    run = _waiting[0]
    with suppress(Exception):
        run.channel.connection.write(memoryview(encode_final("failed", failure=run.last_word(frame))))
    os._exit(0)


def new_run(connection: Connection) -> Run:
    """Make a run before its program is known."""
    IDENTITIES.clear()
    warnings.simplefilter("ignore")  # they would go to a standard error that nobody reads
    return Run(Channel(connection, Record))


def _serve(run: Run) -> None:
    channel = run.channel
    message = channel.read_start()
    program = compiled.read(message["compiled"]) if message["compiled"] else _compile(message)
    if isinstance(program, Failed):
        _finish(channel, program.status, failure=program.failure)
        return
    if message["t"] == "compile":
        _tell_compiled(channel, program, message["limits"])
        message = channel.read_start()
    if message["asks"]:  # whoever does not want the program to run ends the worker instead of answering
        channel.send(encode_sites(program.sites))
        channel.flush()
        channel.read()
    sys.setrecursionlimit(max(sys.getrecursionlimit(), RECURSION + 60 + _depth()))
    run.begin(message, program)
    ended = run.execute()
    _finish(channel, ended.status, value=ended.value, failure=ended.failure, notes=run.notes)


def _compile(message: dict[str, Any]) -> Program | Failed:
    limits = message["limits"]
    code = message["code"]
    names = message["names"]
    try:
        program = compile_program(
            code, names=names, limit_bytes=limits["source_bytes"], limit_depth=limits["source_depth"]
        )
    except SourceRefused as error:
        return refusal_of_source(error)
    except SyntaxError as error:
        return syntax_failure(error, code)
    except (RecursionError, MemoryError):
        return refusal_of_source(SourceRefused("the program is nested too deeply", "use intermediate variables"))
    return refused(program) if program.code is None else program


def _tell_compiled(channel: Channel, program: Program, limits: dict[str, int]) -> None:
    """Tell it, knowing nothing of the run: it goes to others of the same source."""
    most = min(COMPILED_CHARACTERS, limits["frame_bytes"] - _AROUND_COMPILED)
    channel.send(encode_compiled(compiled.tell(program, most)))
    channel.flush()


def _finish(
    channel: Channel,
    status: str,
    *,
    value: bytes | None = None,
    failure: dict[str, Any] | None = None,
    notes: list[str] | None = None,
) -> None:
    channel.send(encode_final(status, value=value, failure=failure, notes=notes or []))
    channel.flush()


def _depth() -> int:
    frame, depth = sys._getframe(), 0
    while frame.f_back is not None:
        frame, depth = frame.f_back, depth + 1
    return depth


# --- before the program comes ----------------------------------------------------------------------------------------


def warm_up() -> None:
    """Import all that a program may need, while files are still in reach. Called once, in the fork server."""
    os.putenv("TZ", "UTC")
    time.tzset()
    signal.signal(signal.SIGUSR1, _say_last_word)  # what workers inherit: behind the walls none can be set
    gc.set_threshold(_COLLECT_EVERY, *gc.get_threshold()[1:])
    load_all()
    keep_zones()
    _read_late_imports()
    gc.collect()
    gc.freeze()  # the rehearsals look for what they have left themselves
    gc.enable()
    _rehearse_for_all()


def _read_late_imports() -> None:
    """Do once what makes the standard library import at its first use."""
    import _strptime  # type: ignore[import-not-found]  # noqa: F401, PLC0415  # datetime.strptime imports it
    import unicodedata  # noqa: F401, PLC0415  # used for names of characters in literals


_REHEARSAL = """
import json, re, asyncio
from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime, timedelta
@dataclass
class Row:
    name: str
    size: int = 0
    def double(self):
        self.size += self.size
        return self
total = defaultdict(int)
for key, value in sorted({"a": 1, "b": 2.5}.items(), key=lambda item: -item[1]):
    total[key] += value
try:
    rows = [Row(str(n), n).double() for n in range(3)]
    text = json.dumps({"rows": [row.size for row in rows], "n": f"{total['a']:.2f}"})
    missing = json.loads(text)["none"]
except KeyError as error:
    print("rehearsed", error, re.sub("a+", "b", text)[:3])
async def main():
    return (await asyncio.gather(asyncio.sleep(0, 1), *[name.get(id=n) for n in range(2)]))[0]
for page in range(10):
    total["calls"] += name.list(page=page)["items"][0]["size"]
asyncio.run(main())
{"day": (datetime.now() + timedelta(days=1)).isoformat(), "sum": sum(total.values())}
"""


#: What every program goes through, and nothing else: each page that a waiting worker makes its own is memory.
_LEAST = "1 + 1"

#: What nearly every program goes through besides.
_CALL = "name.list(page=1)['items']"

#: What is done at the first time is done before the workers are forked.
_REHEARSALS = 3

#: The interpreter rewrites code while it runs it for the first times; without these each worker copies it first.
_PRACTICE = 12


def rehearse() -> None:
    """Run a tiny program against nobody, so that the memory which a real one touches is this worker's own."""
    _run_against_nobody(_frames(_LEAST), _waiting[0])
    compiled.read(_told_least())


def practise() -> None:
    """Do what nearly every program does, a call included, so often that the interpreter leaves the code as it is."""
    for _ in range(_PRACTICE):
        _run_against_nobody(_frames(_CALL) + _answers(1), new_run(Connection(-1, -1)))
    _waiting[:] = [new_run(Connection(-1, -1))]
    for _ in range(_PRACTICE):
        rehearse()


def _rehearse_for_all() -> None:
    for _ in range(_REHEARSALS):
        _run_against_nobody(_frames(_REHEARSAL) + _answers(12), new_run(Connection(-1, -1)))
    _waiting[:] = [new_run(Connection(-1, -1))]


def _run_against_nobody(frames: bytes, run: Run) -> None:
    reading, writing = os.pipe()  # it holds more than is said in a rehearsal
    os.write(writing, frames)
    serve_over(run, Connection(reading, writing))
    os.close(reading)
    os.close(writing)
    run.forget()
    gc.collect(0)


@cache
def _answers(calls: int) -> bytes:
    from sandbox.protocol.host_messages import encode_reply  # noqa: PLC0415  # not needed by a run

    return b"".join(encode_reply(call, now=0, value=b'{"items":[{"size":1}]}') for call in range(1, calls + 1))


@cache
def _told_least() -> str:
    program = compile_program(_LEAST, names=[], limit_bytes=len(_LEAST), limit_depth=9)
    return compiled.tell(program, COMPILED_CHARACTERS) or ""


@cache
def _frames(code: str) -> bytes:
    from sandbox.limits import Limits  # noqa: PLC0415  # not needed by a run
    from sandbox.protocol.host_messages import encode_program, encode_run  # noqa: PLC0415

    program = encode_program(code, ["name"])
    return encode_run(program, seed=b"\0" * 32, now=0, limits=Limits(), inputs={}, asks=False)
