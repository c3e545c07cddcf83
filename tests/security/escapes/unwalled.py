"""A host without process wall: plain `exec` unprotected (the control), or the language layer alone.

    python unwalled.py PROGRAM_MODULE FOLDER…      reads records as JSON lines, answers with findings as JSON lines

The process holds the canaries itself. Each attempt gets a fork of it (the host, in a session of its own, which may
be hit) and a fork of that (the engine: same memory, same rights). After the program the engine's own state is compared
with what a harmless program leaves behind, and everything in it with what was there before.
"""

from __future__ import annotations

import decimal
import gc
import json
import os
import resource
import select
import signal
import socket
import struct
import sys
import time
from importlib import import_module

sys.path += sys.argv[2:]
import ast
import asyncio
import collections
import csv
import dataclasses
import ipaddress
import logging
import math
import queue
import re
import string

import process_state
from canaries import CREDENTIAL, ENVIRONMENT_SECRET, HOST_SECRET, MARKER, Canaries  # noqa: F401
from harmless import HARMLESS
from records import sent

from sandbox.errors import CallFailed
from sandbox.limits import Limits
from sandbox.protocol.guest_decoder import Calls, Final, Sites, decode_guest_message
from sandbox.protocol.host_messages import (
    encode_failed_reply,
    encode_failure,
    encode_go,
    encode_program,
    encode_reply,
    encode_run,
    encode_value,
)

MEMORY_BYTES = 3 << 30
CPU_S = 3
WALL_S = 2.5
STATE_S = 5.0
#: The program module of the control, which has no policy.
CONTROL = "bare_program"
OUTPUT_BYTES = 2_000_000
#: What a program may take more than a harmless one, at its highest.
PEAK_BYTES = 400 * 1024 * 1024


def main() -> None:
    program = import_module(sys.argv[1])
    program.warm_up()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    harmless = [_attempt(program, code) for code in HARMLESS]
    healthy = Healthy(
        harmless[0]["state"],
        {path for report in harmless for path in report["changed"]},
        max(report["peak"] for report in harmless),
    )
    for line in sys.stdin:
        print(json.dumps(_judge(_attempt(program, json.loads(line)), healthy)), flush=True)


@dataclasses.dataclass(frozen=True)
class Healthy:
    """What harmless programs leave behind: the state, the paths that they change, their memory at its highest."""

    state: object
    changed: set[str]
    peak: int


def _attempt(program, code: str) -> dict:
    """Run one program between canaries, and report all that can be seen of it."""
    canaries = Canaries()
    ours, theirs = socket.socketpair()
    host = os.fork()
    if not host:
        ours.close()
        _be_host(program, canaries, code, theirs)
    theirs.close()
    report = _collect(ours, time.monotonic() + WALL_S + STATE_S + 1)
    for process in report.pop("processes", []):
        _kill(process)
    _kill(-host)
    _kill(host)
    _, status = os.waitpid(host, 0)
    report["host_died"] = status != 0 and not report.get("done")
    report["found"] = canaries.found(report.pop("texts", []))
    canaries.close()
    return report


def _judge(report: dict, healthy: Healthy) -> dict:
    signs = list(report["found"])
    if report["host_died"]:
        signs.append("host died")
    if not report.get("done"):
        signs.append("hung")
    signs += report.get("signs", [])
    if report.get("state") is not None and report["state"] != healthy.state:
        signs.append(f"tampered: {_difference(report['state'], healthy.state)}")
    changed = sorted(set(report.get("changed", ())) - healthy.changed)
    if changed:
        signs.append(f"changed: {', '.join(changed[:3])}{f' and {len(changed) - 3} more' if len(changed) > 3 else ''}")
    taken = report.get("peak", 0) - healthy.peak
    if taken > PEAK_BYTES:
        signs.append(f"took {taken >> 20} MiB")
    return {"signs": signs, "status": report.get("status"), "says": report.get("says", "")}


def _difference(state: object, healthy: object) -> str:
    if not isinstance(state, list) or not isinstance(healthy, list):
        return "the state cannot be read"
    return "; ".join(
        f"{now!r:.80} was {before!r:.80}" for now, before in zip(state, healthy, strict=False) if now != before
    )


def _be_host(program, canaries: Canaries, code: str, report: socket.socket) -> None:
    """Hold the secrets, run the engine, speak the protocol with it, report; never returns."""
    os.setsid()
    channel, its_end = socket.socketpair()
    state_read, state_write = os.pipe()
    host = os.getpid()
    engine = os.fork()
    if not engine:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 26, 1 << 26))
        os.close(state_read)
        try:
            changed = _be_engine(program, its_end.detach())
            _write(state_write, json.dumps({"state": _state(), "changed": changed}).encode())
        finally:
            os._exit(0)
    its_end.close()
    os.close(state_write)
    found: dict = {"processes": [engine]}
    report.sendall(json.dumps(found).encode() + b"\n")
    found.update(_speak(channel, canaries.fill(code, host)))
    state = b"" if not found.get("status") else _read_all(state_read, time.monotonic() + STATE_S)
    _, status = _wait(engine, 1.0)
    found["peak"] = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    if os.WIFSIGNALED(status):
        found.setdefault("signs", []).append(f"engine died of signal {os.WTERMSIG(status)}")
    left = _parsed(state) if state else None
    found |= left if isinstance(left, dict) else {"state": left}
    if found.get("status") and not state and not found["signs"]:
        found["signs"].append("tampered")  # what was left behind breaks the library
    found["done"] = True
    report.sendall(json.dumps(found).encode() + b"\n")
    os._exit(0)


class Shared:
    """An object of the host with something private."""

    def __init__(self) -> None:
        self._credential = CREDENTIAL

    def read(self) -> str:
        """Give something harmless."""
        return "data"


def _be_engine(program, channel: int) -> list[str]:
    """Run the program where an engine without a process of its own runs it: below the host's frames.

    Return the paths of everything that is otherwise than before.
    """
    can = {"mem": HOST_SECRET}
    counter = [0]
    credential = CREDENTIAL

    def tool(x: object) -> str:
        counter[0] += 1 if credential else 0
        return "result of tool"

    shared = Shared()
    program.OFFERED = {"tool": tool, "call": tool, "obj": shared}
    kept = {"tool": tool, "obj": shared, "kind of obj": Shared, "offered": program.OFFERED, "can": can}
    is_control = sys.argv[1] == CONTROL  # the language layer is judged by `_state`: its own guest keeps caches
    if is_control:
        process_state.watch()
        before = process_state.ProcessState(kept)
    program.serve(channel)
    if not can or counter[0] < 0:
        os.write(1, b"")  # the names must be alive while the program runs
        os._exit(9)
    frame = [] if credential == CREDENTIAL and can == {"mem": HOST_SECRET} else ["the host's frame"]
    return [*frame, *process_state.ProcessState(kept).changed_since(before)] if is_control else frame


def _speak(channel: socket.socket, code: str) -> dict:
    """Be the host of one program, as simple as can be."""
    texts: list[str] = []
    found: dict = {"texts": texts, "signs": []}
    text = sent(code)
    run = encode_run(
        encode_program(text, ("tool", "call", "obj")),
        seed=bytes(32),
        now=1_760_000_000_000_000,
        limits=Limits(),
        inputs={},
    )
    channel.settimeout(WALL_S)
    received = 0
    try:
        channel.sendall(run)
        while True:
            body = _frame(channel)
            if body is None:
                found["signs"].append("engine died")
                break
            received += len(body)
            if received > OUTPUT_BYTES:
                found["signs"].append("exceeded output")
                break
            message = decode_guest_message(body)
            texts.append(body.decode(errors="replace"))
            if isinstance(message, Sites):
                channel.sendall(encode_go())
            elif isinstance(message, Calls):
                for call in message.calls:
                    now = 1_760_000_000_000_000
                    channel.sendall(_reply(call, now))
            elif isinstance(message, Final):
                found["status"] = message.status
                found["says"] = message.failure.message if message.failure else ""
                if message.failure and message.failure.type == "MemoryError":
                    found["signs"].append("exceeded memory")
                if message.has_value:
                    texts.append((_frame(channel) or b"").decode(errors="replace"))
                break
    except TimeoutError:
        found["signs"].append("hung")
    except OSError:
        found["signs"].append("engine died")
    return found


def _reply(call, now: int) -> bytes:
    if call.arguments.keys() != {"x"}:
        error = CallFailed("tool() takes one argument, x", kind="arguments_invalid")
        return encode_failed_reply(call.id, now=now, fields=encode_failure(error))
    return encode_reply(call.id, now=now, value=encode_value("result of tool"))


def _state() -> list:
    """What a program may have changed for the next one in this process."""
    return [
        json.dumps({"a": [1]}),
        __import__("datetime").MINYEAR,
        math.pi,
        re.sub("a", "b", "aa"),
        sorted([2, 1]),
        decimal.getcontext().prec,
        collections.Counter("aab").most_common(1),
        sys.getrecursionlimit(),
        logging.root.manager.disable,
        str(signal.getsignal(signal.SIGTERM)),
        str(signal.getsignal(signal.SIGINT)),
        sorted(os.environ),
        os.getcwd(),
        string.ascii_lowercase,
        string.Template.delimiter,
        sys.stdout is None,
        sys.__stdout__ is None,
        sys.get_int_max_str_digits(),
        isinstance(1, collections.ChainMap),
        sys.modules.get("math") is math,
        sys.modules.get("json") is json,
        csv.field_size_limit(),
        gc.isenabled(),
        re.sub("(a)", "\\1-cache", "aa"),
        sorted(re.RegexFlag._member_map_),
        str(type(re.RegexFlag(1 << 13).value)),
        str(string.Template.pattern.groupindex),
        str(dataclasses.field().metadata),
        sorted(vars(json.JSONEncoder)),
        sorted(vars(collections.Counter)),
        isinstance(collections.Counter.most_common(collections.Counter("a")), list),
        ["_closed" in vars(kind) for kind in (asyncio.Lock, ast.Name, queue.Empty)],
        str(ipaddress.ip_network("10.0.0.0/25")),
        ipaddress.ip_address("10.0.0.1").is_private,
    ]


def _write(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def _read_all(descriptor: int, deadline: float) -> bytes:
    data = b""
    while (left := deadline - time.monotonic()) > 0 and select.select([descriptor], [], [], left)[0]:
        chunk = os.read(descriptor, 1 << 16)
        if not chunk:
            break
        data += chunk
    return data


def _parsed(text: bytes) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return text.decode(errors="replace")


def _collect(channel: socket.socket, deadline: float) -> dict:
    data = b""
    while (left := deadline - time.monotonic()) > 0:
        if not select.select([channel], [], [], left)[0]:
            break
        chunk = channel.recv(1 << 20)
        if not chunk:
            break
        data += chunk
    channel.close()
    report: dict = {}
    for line in data.splitlines():
        try:
            report.update(json.loads(line))
        except ValueError:
            break
    return report


def _frame(channel: socket.socket) -> bytes | None:
    header = _exactly(channel, 4)
    return None if header is None else _exactly(channel, struct.unpack(">I", header)[0])


def _exactly(channel: socket.socket, size: int) -> bytes | None:
    data = bytearray()
    while len(data) < size:
        chunk = channel.recv(min(size - len(data), 1 << 20))
        if not chunk:
            return None
        data += chunk
    return bytes(data)


def _wait(process: int, seconds: float) -> tuple[int, int]:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        done, status = os.waitpid(process, os.WNOHANG)
        if done:
            return done, status
        time.sleep(0.005)
    _kill(process)
    os.waitpid(process, 0)
    return process, 0


def _kill(process: int) -> None:
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        pass


if __name__ == "__main__":
    main()
