"""A program module that is the attacker: it says what it is told to say, and shows what it was told."""

from __future__ import annotations

import base64
import json
import os
import struct
import time

from sandbox.protocol.guest_messages import encode_compiled, encode_final, encode_output, encode_sites


def warm_up() -> None:
    """Nothing to import."""


def practise() -> None:
    """Do nothing."""


def rehearse() -> None:
    """Nothing to touch."""


def serve(channel: int) -> None:
    """Take the steps in `code`; then tell what arrived, or wait to be killed."""
    message = _read(channel)
    if message["t"] == "compile":
        os.write(channel, encode_compiled(None))
        return
    if message["asks"]:
        os.write(channel, encode_sites([]))
        _read(channel)
    for step in json.loads(message["code"]):
        if step[0] == "raw":
            _write(channel, base64.b64decode(step[1]))
        elif step[0] == "wait":
            time.sleep(step[1])
        else:
            os.close(channel)
            time.sleep(60)
    time.sleep(0.3)
    heard = b"" if message["code"] == "[]" else os.read(channel, 100_000)  # the answer, or SIGKILL, ends the wait
    _write(channel, encode_output(heard.decode("latin-1")))
    _write(channel, encode_final("completed"))


def _write(channel: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(channel, view) :]


def _read(channel: int) -> dict:
    size = struct.unpack(">I", _exactly(channel, 4))[0]
    return json.loads(_exactly(channel, size))


def _exactly(channel: int, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        chunk = os.read(channel, size - len(data))
        if not chunk:
            os._exit(0)
        data += chunk
    return bytes(data)
