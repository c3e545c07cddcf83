"""`codemode mcp`: one client, answered from the first moment, while the sources are still read."""

from __future__ import annotations

import asyncio
import signal
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

import typer

from codemode.serving.auth.callers import roles_of_today
from codemode.serving.cli import terminal as show
from codemode.serving.cli.surface import errors_as_exit_codes
from codemode.serving.mcp.known_definitions import KnownDefinitions
from codemode.serving.mcp.server import McpFace

if TYPE_CHECKING:
    from codemode.gateway.caller import Caller
    from codemode.service import CodeMode
    from codemode.serving.mcp.greeting import Input

#: Seconds that calls wait for the sources; those that have not come by then are unavailable, and go on being read.
PATIENCE_S = 5.0


async def serve_stdio(service: CodeMode, caller: Caller, input_: Input) -> int:
    """Serve one client, which is `caller`, on standard input and output until it closes them; returns the exit code.

    `service` has not been entered; `input_` may have answered the greeting. Where the service cannot be entered
    standard error says why, and so does every answer: clients show their users an error of a server sooner than what it
    wrote before it went away.
    """
    told = _ends_when_told(input_)
    service.patience_s = None if service.strict else PATIENCE_S
    opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    serving = asyncio.create_task(McpFace(service, opened=opened, caller_of=lambda _: caller).serve_stdio(input_))
    async with AsyncExitStack() as entering:
        try:
            with errors_as_exit_codes():
                await _enter(service, caller, entering, opened)
        except typer.Exit as exit_:
            await serving
            return exit_.exit_code
        await serving
    return 128 + told[0] if told else 0


def _ends_when_told(input_: Input) -> list[int]:
    """Let SIGTERM and SIGINT end standard input, and with it what its client has asked for; the list then has which.

    Who has already said it once is not asked to wait: a second one ends the process as it is.
    """
    told: list[int] = []
    loop = asyncio.get_running_loop()

    def end(number: int) -> None:
        told.append(number)
        loop.remove_signal_handler(number)
        input_.end()

    for number in (signal.SIGTERM, signal.SIGINT):
        if signal.getsignal(number) is not signal.SIG_IGN:
            loop.add_signal_handler(number, end, number)
    return told


async def _enter(service: CodeMode, caller: Caller, entering: AsyncExitStack, opened: asyncio.Future[None]) -> None:
    try:
        await entering.enter_async_context(service)
        for name, source in service.sources.items():
            show.warnings(name, source.warnings)
        if not any(source.failure for source in service.sources.values()):
            definitions = await service.definitions(caller)
            await asyncio.to_thread(KnownDefinitions(service.settings).keep, caller.role, definitions)
        await service.start_sandbox()
        if service.settings.keeps_journal:
            service.executions.role_of = roles_of_today(service.settings)
            await service.executions.serve()
    except Exception as error:
        opened.set_exception(error)
        opened.exception()  # it is told here, whether or not a client asks
        raise
    opened.set_result(None)
