"""`codemode mcp`: one client, answered from the first moment, while the sources are still read."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

import typer

from codemode.serving import console as show
from codemode.serving.callers import roles_of_today
from codemode.serving.mcp import McpFace
from codemode.serving.surface import errors_as_exit_codes

if TYPE_CHECKING:
    from codemode.gateway.caller import Caller
    from codemode.service import CodeMode


async def serve_stdio(service: CodeMode, caller: Caller) -> int:
    """Serve one client, which is `caller`, on standard input and output until it closes them; returns the exit code.

    `service` has not been entered. Where it cannot be, standard error says why, and so does every answer: clients show
    their users an error of a server sooner than what it wrote before it went away.
    """
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
    return 0


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
