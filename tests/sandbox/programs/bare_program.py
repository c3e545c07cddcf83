"""A program module without a language policy: plain `exec` inside the worker. For tests of the process wall alone."""

from __future__ import annotations

import io
import json
import os
import struct
import sys

from sandbox.protocol.guest_messages import encode_final, encode_output, encode_sites
from sandbox.protocol.strict_json import encode


def warm_up() -> None:
    """Import what the attempts need: no file can be opened later."""
    for name in PRELOADED.split():
        try:
            __import__(name)
        except ImportError:
            continue


def rehearse() -> None:
    """Do nothing: the attempts do not measure time."""


def serve(channel: int) -> None:
    """Run one program with nothing in its way."""
    message = _read(channel)
    os.write(channel, encode_sites([]))
    _read(channel)
    printed = io.StringIO()
    sys.stdout = printed
    names = {"__name__": "__main__", "rpc_fd": channel, **message["inputs"]}
    failure = None
    try:
        exec(compile(message["code"], "<program>", "exec"), names)
    except BaseException as error:
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
    text = printed.getvalue()
    if text:
        os.write(channel, encode_output(text[:200_000]))
    if failure is None:
        value = encode(names["result"]) if "result" in names else None
        os.write(channel, encode_final("completed", value=value))
    else:
        os.write(channel, encode_final("failed", failure=failure))


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
