"""Progress of a program for MCP clients that ask for it with a `progressToken`."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from codemode.gateway.call import CallState

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from mcp.server import ServerRequestContext

    from codemode.executions.types.ledger import LedgerEntry

#: Seconds after which progress is reported even if nothing changed, and at least between two reports.
PROGRESS_S, LEAST_S = 1.0, 0.1


@asynccontextmanager
async def progress(context: ServerRequestContext[Any], total_s: float) -> AsyncIterator[Callable[[LedgerEntry], None]]:
    """Report progress while the block runs, as seconds elapsed of the program's time limit.

    The message counts the calls that have ended, and names the latest call with the progress that its service reports.
    """
    loop = asyncio.get_running_loop()
    began = loop.time()
    changed = asyncio.Event()
    ended = 0
    latest = ""

    def watch(entry: LedgerEntry) -> None:
        nonlocal ended, latest
        ended += entry.duration_s > 0
        latest = f"{entry.tool} {_stage(entry)}"
        changed.set()

    async def report() -> None:
        while True:
            try:
                async with asyncio.timeout(PROGRESS_S):
                    await changed.wait()
            except TimeoutError:
                pass
            changed.clear()
            message = f"{ended} call{'' if ended == 1 else 's'} ended; {latest}" if latest else "running"
            await context.session.report_progress(min(loop.time() - began, total_s), total_s, message)
            await asyncio.sleep(LEAST_S)

    reporting = asyncio.create_task(report())
    try:
        yield watch
    finally:
        reporting.cancel()
        await asyncio.gather(reporting, return_exceptions=True)


def _stage(entry: LedgerEntry) -> str:
    return entry.shown_state if entry.state is not CallState.RUNNING else entry.progress or "is running"
