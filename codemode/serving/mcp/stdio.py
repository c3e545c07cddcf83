"""`codemode mcp`: serve one client on stdio, from the first moment, while the sources are still being read."""

from __future__ import annotations

import asyncio
import signal
from contextlib import AsyncExitStack, suppress
from typing import TYPE_CHECKING

import typer

from codemode.serving.auth.callers import roles_of_today
from codemode.serving.mcp.known_definitions import KnownDefinitions
from codemode.serving.mcp.server import McpServer
from codemode.serving.output.exit_codes import errors_as_exit_codes
from codemode.serving.output.shown_warnings import show_warnings

if TYPE_CHECKING:
    from codemode.gateway.caller import Caller
    from codemode.service import CodeMode
    from codemode.serving.mcp.greeting import Input

#: Seconds that calls wait for the sources. Later sources count as unavailable until they have been read.
PATIENCE_S = 5.0


async def serve_stdio(service: CodeMode, caller: Caller, input_: Input) -> int:
    """Serve one client on standard input and output until it closes them. Return the exit code.

    `service` must not be entered yet; `input_` may already have answered `initialize`. If the service fails to start,
    the reason goes to standard error and into every answer: clients show their users an answer sooner than the
    standard error of a server that is gone.
    """
    signals = _close_on_signal(input_)
    service.discovery.patience_s = None if service.strict else PATIENCE_S
    opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    serving = asyncio.create_task(McpServer(service, opened=opened, caller_of=lambda _: caller).serve_stdio(input_))
    async with AsyncExitStack() as entering:
        try:
            with errors_as_exit_codes():
                await _enter(service, caller, entering, opened)
        except typer.Exit as exit_:
            await serving
            return exit_.exit_code
        await serving
    return 128 + signals[0] if signals else 0


def _close_on_signal(input_: Input) -> list[int]:
    """Let SIGTERM and SIGINT close standard input, which ends the client's requests. Return the received signals.

    A second signal ends the process at once.
    """
    signals: list[int] = []
    loop = asyncio.get_running_loop()

    def end(number: int) -> None:
        signals.append(number)
        loop.remove_signal_handler(number)
        input_.end()

    for number in (signal.SIGTERM, signal.SIGINT):
        if signal.getsignal(number) is not signal.SIG_IGN:
            with suppress(NotImplementedError):  # Windows
                loop.add_signal_handler(number, end, number)
    return signals


async def _enter(service: CodeMode, caller: Caller, entering: AsyncExitStack, opened: asyncio.Future[None]) -> None:
    try:
        await entering.enter_async_context(service)
        await asyncio.to_thread(show_warnings, service.sources, service.settings.cache())
        if not any(source.failure for source in service.sources.values()):
            definitions = await service.tools(caller).definitions("mcp")
            await asyncio.to_thread(KnownDefinitions(service.settings).keep, caller.role, definitions)
        await service.start_sandbox()
        if service.settings.keeps_journal:
            service.executions.role_of = roles_of_today(service.settings, service.store)
            await service.executions.serve()
    except Exception as error:
        opened.set_exception(error)
        opened.exception()  # marks the exception as retrieved: it is reported here even if no client asks
        raise
    opened.set_result(None)
