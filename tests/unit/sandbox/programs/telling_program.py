"""A program module that says its code where it is asked what it compiled; its value is what it was told."""

from __future__ import annotations

import os

from bare_program import _read, _write, practise, rehearse, warm_up  # noqa: F401 - a program module has these names

from sandbox.protocol.framing import frame
from sandbox.protocol.guest_messages import encode_final
from sandbox.protocol.strict_json import encode


def serve(channel: int) -> None:
    """Say the code, and wait for the end; without a code only end."""
    message = _read(channel)
    if message["t"] != "compile":
        _write(channel, encode_final("completed", value=encode(message["compiled"])))
    elif message["code"] == "end":
        return
    elif message["code"] != "silence":
        _write(channel, frame(message["code"].encode()))
    os.read(channel, 1)
