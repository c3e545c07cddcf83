"""Requests that run programs: each keeps its turn while its program runs, or ends it with the connection."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from codemode.errors import CodeModeError

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from starlette.requests import Request

    from codemode.gateway.caller import Caller
    from codemode.service import CodeMode

T = TypeVar("T")

#: Longest time that a request waits for an execution, in seconds.
LONGEST_WAIT_S = 3600.0


def keep_turn(request: Request, service: CodeMode, execution: str, caller: Caller) -> None:
    """Keep the request's place for as long as the execution runs."""
    turn = getattr(request.state, "turn", None)
    if turn is not None:
        turn.keep(asyncio.ensure_future(_over(service, execution, caller)))


async def _over(service: CodeMode, execution: str, caller: Caller) -> None:
    with suppress(CodeModeError):  # nobody waits for this result
        await service.executions.wait(execution, caller, LONGEST_WAIT_S)


async def until_disconnect(request: Request, work: Awaitable[T]) -> T | None:
    """Return the result of `work`. If the client disconnects first, cancel the work and return None."""
    running = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(_disconnected(request))
    try:
        await asyncio.wait({running, gone}, return_when=asyncio.FIRST_COMPLETED)
        return running.result() if running.done() else None
    finally:
        gone.cancel()
        if not running.done():
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
