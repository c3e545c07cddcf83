"""Log messages about the calls of a program, for MCP clients that ask for them (`notifications/message`).

Clients in sessions set a level by `logging/setLevel`; without it they get nothing. Since 2026-07-28 the level is part
of each request (`io.modelcontextprotocol/logLevel`), and logging is deprecated. Arguments and results are not logged.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, get_args

import mcp_types
from mcp_types import LOG_LEVEL_META_KEY
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from codemode.gateway.call import CallState

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from mcp.server import ServerRequestContext

    from codemode.executions.types.ledger import LedgerEntry

    Context = ServerRequestContext[Any]

#: The levels of RFC 5424, least important first.
LEVELS: tuple[mcp_types.LoggingLevel, ...] = get_args(mcp_types.LoggingLevel)

#: Largest number of messages about one program, and of sessions whose level is kept.
MOST_MESSAGES, _MOST_SESSIONS = 200, 10_000

_INFO = (CallState.COMMITTED, CallState.READ, CallState.CANCELLED, CallState.PLANNED, CallState.PENDING)


class CallLog:
    """The log levels of sessions, and the messages about calls."""

    def __init__(self) -> None:
        self._levels: OrderedDict[str, mcp_types.LoggingLevel] = OrderedDict()

    async def set_level(self, context: Context, params: mcp_types.SetLevelRequestParams) -> mcp_types.EmptyResult:
        """Answer `logging/setLevel`."""
        session = _session(context)
        self._levels[session] = params.level
        self._levels.move_to_end(session)
        if len(self._levels) > _MOST_SESSIONS:
            self._levels.popitem(last=False)
        return mcp_types.EmptyResult()

    @asynccontextmanager
    async def messages(self, context: Context) -> AsyncIterator[Callable[[LedgerEntry], None]]:
        """Send a message about each call of which the yielded function is told within the block."""
        least = self._least(context)
        queue: asyncio.Queue[LedgerEntry | None] = asyncio.Queue()
        remaining = MOST_MESSAGES

        def watch(entry: LedgerEntry) -> None:
            nonlocal remaining
            if least is not None and remaining and LEVELS.index(_level(entry)) >= least:
                remaining -= 1
                queue.put_nowait(entry)

        async def send() -> None:
            while (entry := await queue.get()) is not None:
                await context.session.send_notification(_message(entry), related_request_id=context.request_id)

        sending = asyncio.create_task(send())
        try:
            yield watch
            queue.put_nowait(None)
            await sending
        finally:
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)

    def _least(self, context: Context) -> int | None:
        """Return the index of the least important level that the client asked for, None for no messages."""
        if context.protocol_version in MODERN_PROTOCOL_VERSIONS:
            wanted = (context.meta or {}).get(LOG_LEVEL_META_KEY)
        else:
            wanted = self._levels.get(_session(context))
        return LEVELS.index(wanted) if wanted in LEVELS else None


def _session(context: Context) -> str:
    request = context.request
    return (request.headers.get("mcp-session-id") or "") if request is not None else "stdio"


def _level(entry: LedgerEntry) -> mcp_types.LoggingLevel:
    if entry.state is CallState.RUNNING:
        return "debug"
    return "info" if entry.state in _INFO else "warning"


def _message(entry: LedgerEntry) -> mcp_types.LoggingMessageNotification:
    state = str(entry.state) if entry.state is not CallState.RUNNING else entry.progress or "sent"
    facts = {"error": entry.error, "duration_s": round(entry.duration_s, 3)}
    data = {"tool": entry.tool, "state": state, **{name: value for name, value in facts.items() if value}}
    params = mcp_types.LoggingMessageNotificationParams(level=_level(entry), logger="codemode.calls", data=data)
    return mcp_types.LoggingMessageNotification(params=params)
