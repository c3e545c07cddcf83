"""A program module without a language policy: plain `exec` inside the worker. For tests of the process wall alone."""

from __future__ import annotations

import io
import json
import os
import struct
import sys

from sandbox.protocol.guest_messages import (
    encode_call,
    encode_calls,
    encode_compiled,
    encode_final,
    encode_output,
    encode_sites,
)
from sandbox.protocol.strict_json import encode


def warm_up() -> None:
    """Import what the attempts need: no file can be opened later."""
    for name in PRELOADED.split():
        try:
            __import__(name)
        except ImportError:
            continue


def practise() -> None:
    """Do nothing: the attempts do not measure time."""


def rehearse() -> None:
    """Do nothing, as above."""


def serve(channel: int) -> None:
    """Run one program with nothing in its way."""
    message = _read(channel)
    if message["t"] == "compile":
        os.write(channel, encode_compiled(None))
        return
    inputs = _read(channel) if message["inputs"] else {}
    if message["asks"]:
        os.write(channel, encode_sites([]))
        _read(channel)
    printed, before = io.StringIO(), sys.stdout
    sys.stdout = printed
    names = {"__name__": "__main__", "rpc_fd": channel, **(OFFERED or _offer(channel)), **inputs}
    failure = None
    try:
        exec(compile(message["code"], "<program>", "exec", dont_inherit=True), names)  # noqa: S102 - that is the point
    except Exception as error:  # noqa: BLE001 - as above
        failure = {
            "type": type(error).__name__,
            "message": str(error)[:1000],
            "line": None,
            "column": None,
            "excerpt": "",
            "hint": "",
            "traceback": "",
            "refusals": [],
        }
    if sys.stdout is printed:  # else the program has changed it, and that is to be seen
        sys.stdout = before
    text = printed.getvalue()
    for start in range(0, len(text), 500_000):
        _write(channel, encode_output(text[start : start + 500_000]))
    if failure is None:
        value = encode(names["result"]) if "result" in names else None
        _write(channel, encode_final("completed", value=value))
    else:
        _write(channel, encode_final("failed", failure=failure))


#: What a host that runs programs in its own process offers them; empty: a function that calls the host.
OFFERED: dict = {}


class _Shared:
    """An object that the host offers."""

    def read(self) -> str:
        """Give something harmless."""
        return "data"


def _offer(channel: int) -> dict:
    last = 0

    def tool(x: object) -> object:
        nonlocal last
        last += 1
        _write(channel, encode_calls([encode_call(last, str(last), "tool", encode({"x": str(x)}))]))
        return _read(channel).get("ok")

    return {"tool": tool, "call": tool, "obj": _Shared()}


def _write(channel: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(channel, view) :]


def _read(channel: int) -> dict:
    size = struct.unpack(">I", _exactly(channel, 4))[0]
    return json.loads(_exactly(channel, size))


def _exactly(channel: int, size: int) -> bytes:
    data = b""
    while len(data) < size:
        chunk = os.read(channel, size - len(data))
        if not chunk:
            os._exit(0)
        data += chunk
    return data


PRELOADED = """
abc array ast asyncio atexit base64 bisect builtins cmath codecs collections concurrent.futures contextlib copy csv
ctypes dataclasses datetime decimal difflib dis encodings.idna enum errno fcntl fractions functools gc hashlib heapq
html http.client importlib inspect io ipaddress itertools json linecache marshal math mmap multiprocessing numbers
operator os pathlib pickle pprint pty queue random re resource sched select selectors shlex shutil signal site socket
ssl stat statistics string struct subprocess sys sysconfig tempfile textwrap threading time timeit token traceback
types typing unicodedata urllib.parse urllib.request uuid warnings weakref zlib zoneinfo
"""
