"""Ports for processes that have to be told which."""

from __future__ import annotations

import random
import socket

#: Below those that the system gives to whoever asks for any: nobody takes one by chance before the process does.
_TO_ASK_FOR = range(20_000, 32_000)


def free_port() -> int:
    """A port that nothing listens on."""
    while True:
        port = random.SystemRandom().choice(_TO_ASK_FOR)
        try:
            socket.create_server(("127.0.0.1", port)).close()
        except OSError:
            continue
        return port
