"""The work of a worker: read one program, compile it, ask, run it, report."""

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

from sandbox.guest.base.channel import Channel, Connection, HostGone
from sandbox.guest.base.identities import IDENTITIES
from sandbox.guest.language import compiled
from sandbox.guest.language.compilation import Program, compile_program
from sandbox.guest.language.source import SourceRefused
from sandbox.guest.library.modules import OFFERED, load_all
from sandbox.guest.library.zones import keep_zones
from sandbox.guest.process.report import refusal_of_source, refused, syntax_failure
from sandbox.guest.process.run import Run
from sandbox.guest.scheduling.hub import fresh_context
from sandbox.guest.tools import Record
from sandbox.protocol.guest_messages import COMPILED_CHARACTERS, encode_compiled, encode_final, encode_sites

if TYPE_CHECKING:
    from types import FrameType

#: New containers between garbage collections. A syntax tree has thousands and lives for a moment, so the default (700;
#: 2,000 from Python 3.13 on) would collect several times before a program begins.
_COLLECT_EVERY = 10_000

#: Bytes of a message around its compiled program.
_AROUND_COMPILED = 64

#: Levels of calls until RecursionError, besides those below the program.
RECURSION = 1_000


def serve(descriptor: int) -> None:
    """Read one program from a connected socket, run it, and write its outcome."""
    serve_over(_waiting[0], Connection(descriptor, descriptor))


def serve_over(run: Run, connection: Connection) -> None:
    """Serve one program over a connection, in a run that was made for it."""
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


#: The run of the one program that this process serves, made before the program comes.
_waiting: list[Run] = []


def _say_last_word(_: int, frame: FrameType | None) -> None:
    """Report the line that runs when the time is up, before the host kills this process."""
    run = _waiting[0]
    with suppress(Exception):
        run.channel.connection.write(memoryview(encode_final("failed", failure=run.last_word(frame))))
    os._exit(0)


def new_run(connection: Connection) -> Run:
    """Make a run for a program that is not known yet."""
    IDENTITIES.clear()
    warnings.simplefilter("ignore")  # nobody reads this standard error
    return Run(Channel(connection, Record))


def _serve(run: Run) -> None:
    channel = run.channel
    message = channel.read_start()
    program = compiled.read(message["compiled"]) if message["compiled"] else _compile(message)
    if isinstance(program, dict):
        _send(channel, encode_final("refused", failure=program))
        return
    if message["t"] == "compile":
        _send(channel, encode_compiled(_told(program, message["limits"])))
        message = channel.read_start()
    if message["asks"]:  # a host that refuses the program kills the worker instead of answering
        _send(channel, encode_sites(program.sites))
        channel.read()
    sys.setrecursionlimit(max(sys.getrecursionlimit(), RECURSION + 60 + _depth()))
    run.begin(message, program)
    ended = run.execute()
    _send(channel, encode_final(ended.status, value=ended.value, failure=ended.failure, notes=run.notes))


def _send(channel: Channel, data: bytes) -> None:
    channel.send(data)
    channel.flush()


def _compile(message: dict[str, Any]) -> Program | dict[str, Any]:
    """Return the compiled program, or the report of a failure."""
    code, limits = message["code"], message["limits"]
    sizes = {"limit_bytes": limits["source_bytes"], "limit_depth": limits["source_depth"]}
    try:
        program = compile_program(code, names=message["names"], values=message["values"], modules=OFFERED, **sizes)
    except SourceRefused as error:
        return refusal_of_source(error)
    except SyntaxError as error:
        return syntax_failure(error, code)
    except (RecursionError, MemoryError):
        return refusal_of_source(SourceRefused("the program is nested too deeply", "use intermediate variables"))
    return refused(program) if program.code is None else program


def _told(program: Program, limits: dict[str, int]) -> str | None:
    """Return the compiled program as text. It is the same for all runs of one source."""
    return compiled.tell(program, min(COMPILED_CHARACTERS, limits["frame_bytes"] - _AROUND_COMPILED))


def _depth() -> int:
    frame, depth = sys._getframe(), 0
    while frame.f_back is not None:
        frame, depth = frame.f_back, depth + 1
    return depth


# --- before the program comes ----------------------------------------------------------------------------------------


def warm_up() -> None:
    """Import all that a program may need, while files are in reach. Called once, in the fork server."""
    os.putenv("TZ", "UTC")
    time.tzset()
    signal.signal(signal.SIGUSR1, _say_last_word)  # workers inherit it, and cannot set it after the lockdown
    gc.set_threshold(_COLLECT_EVERY, *gc.get_threshold()[1:])
    load_all()
    keep_zones()
    _read_late_imports()
    gc.collect()
    gc.freeze()  # rehearsals collect their own garbage
    gc.enable()
    _rehearse_for_all()


def _read_late_imports() -> None:
    """Import the modules that the standard library imports at first use."""
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


#: The code that every program runs through, and no more: each page that a waiting worker writes costs memory.
_LEAST = "1 + 1"
#: The code that nearly every program runs through.
_CALL = "name.list(page=1)['items']"
#: Runs in the fork server, for work that is done once.
_REHEARSALS = 3
#: Runs until the interpreter has specialized the code. Otherwise each worker copies its pages first.
_PRACTICE = 12


def rehearse() -> None:
    """Run a tiny program without a host, so that this worker owns the memory which a real program touches."""
    _run_without_host(_frames(_LEAST), _waiting[0])
    compiled.read(_told_least())


def practise() -> None:
    """Run a program with a call until the interpreter has specialized the code."""
    for _ in range(_PRACTICE):
        _run_without_host(_frames(_CALL) + _answers(1), new_run(Connection(-1, -1)))
    _waiting[:] = [new_run(Connection(-1, -1))]
    for _ in range(_PRACTICE):
        rehearse()


def _rehearse_for_all() -> None:
    for _ in range(_REHEARSALS):
        _run_without_host(_frames(_REHEARSAL) + _answers(12), new_run(Connection(-1, -1)))
    _waiting[:] = [new_run(Connection(-1, -1))]


def _run_without_host(frames: bytes, run: Run) -> None:
    reading, writing = os.pipe()  # holds all frames of a rehearsal
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
