"""A program module that names its call sites and then says its code, without having been let go on."""

from __future__ import annotations

import os

from bare_program import _read, practise, rehearse, warm_up  # noqa: F401 - a program module has these names

from sandbox.protocol.framing import frame
from sandbox.protocol.guest_messages import encode_sites


def serve(channel: int) -> None:
    """Say too much."""
    code = _read(channel)["code"]
    os.write(channel, encode_sites([]))
    os.write(channel, frame(code.encode()))
    os.read(channel, 1)
