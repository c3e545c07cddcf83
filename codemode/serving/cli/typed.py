"""Lines typed at a terminal while an event loop runs."""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress


async def typed_line() -> str:
    """Return the next line of standard input with its line end, "" at the end of the input.

    Cancelling this coroutine leaves the next line to others, which a thread could not.
    """
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    try:
        loop.add_reader(sys.stdin, ready.set)
    except NotImplementedError:  # Windows
        return await asyncio.to_thread(sys.stdin.readline)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(sys.stdin)
    return sys.stdin.readline()


def discard_typed() -> None:
    """Discard what was typed before a question: it is no answer to what nobody had seen."""
    try:
        import termios
    except ImportError:  # Windows
        return
    with suppress(termios.error):  # not a terminal
        termios.tcflush(sys.stdin, termios.TCIFLUSH)
