"""`codemode mcp`: one client, answered from the first moment, while the sources are still read."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import threading
from contextlib import AsyncExitStack, suppress
from typing import TYPE_CHECKING

import typer

from codemode.serving import console as show
from codemode.serving.callers import roles_of_today
from codemode.serving.mcp import McpFace
from codemode.serving.surface import errors_as_exit_codes

if TYPE_CHECKING:
    from collections.abc import Callable

    from codemode.gateway.caller import Caller
    from codemode.service import CodeMode

_PIECE_BYTES = 65_536


async def serve_stdio(service: CodeMode, caller: Caller) -> int:
    """Serve one client, which is `caller`, on standard input and output until it closes them; returns the exit code.

    `service` has not been entered. Where it cannot be, standard error says why, and so does every answer: clients show
    their users an error of a server sooner than what it wrote before it went away.
    """
    told = _ends_when_told()
    opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    serving = asyncio.create_task(McpFace(service, opened=opened, caller_of=lambda _: caller).serve_stdio())
    async with AsyncExitStack() as entering:
        try:
            with errors_as_exit_codes():
                await _enter(service, entering, opened)
        except typer.Exit as exit_:
            await serving
            return exit_.exit_code
        await serving
    return 128 + told[0] if told else 0


def _ends_when_told() -> list[int]:
    """Let SIGTERM and SIGINT end standard input, and with it what its client has asked for; the list then has which.

    Who has already said it once is not asked to wait: a second one ends the process as it is.
    """
    told: list[int] = []
    end_input = _input_that_can_end()
    loop = asyncio.get_running_loop()

    def end(number: int) -> None:
        told.append(number)
        loop.remove_signal_handler(number)
        end_input()

    for number in (signal.SIGTERM, signal.SIGINT):
        if signal.getsignal(number) is not signal.SIG_IGN:
            loop.add_signal_handler(number, end, number)
    return told


def _input_that_can_end() -> Callable[[], None]:
    """Put a socket in the place of standard input, of which nothing can end a read; returns what ends the socket's."""
    wire = os.dup(0)
    ours, theirs = socket.socketpair()
    os.dup2(theirs.fileno(), 0)
    theirs.close()

    def end() -> None:
        with suppress(OSError):
            ours.shutdown(socket.SHUT_WR)

    def copy() -> None:
        with suppress(OSError):
            while data := os.read(wire, _PIECE_BYTES):
                ours.sendall(data)
        end()

    threading.Thread(target=copy, daemon=True).start()
    return end


async def _enter(service: CodeMode, entering: AsyncExitStack, opened: asyncio.Future[None]) -> None:
    try:
        await entering.enter_async_context(service)
        for name, source in service.sources.items():
            show.warnings(name, source.warnings)
        await service.start_sandbox()
        if service.settings.keeps_journal:
            service.executions.role_of = roles_of_today(service.settings)
            await service.executions.serve()
    except Exception as error:
        opened.set_exception(error)
        opened.exception()  # it is told here, whether or not a client asks
        raise
    opened.set_result(None)
