"""Events of an execution as server-sent events (`text/event-stream`, HTML Living Standard, 9.2)."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from fastapi.responses import StreamingResponse

from codemode.errors import CodeModeError, CredentialsRevoked, JournalUnavailable, TooSlow
from codemode.serving.web.problems import JOURNAL_AWAY

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

    from codemode.executions.types.events import ExecutionEvent
    from codemode.gateway.caller import Caller

#: Seconds without an event after which a stream sends a keep-alive comment.
KEEP_ALIVE_S = 15.0

_EXAMPLE = """\
id: 3
event: call_started
data: {"sequence": 3, "type": "call_started", "path": "0", "tool": "gym.core.get_gym_info", "arguments": {}}

id: 7
event: status
data: {"sequence": 7, "type": "status", "status": "completed"}

"""


class EventStream(StreamingResponse):
    """Server-sent events."""

    media_type = "text/event-stream"


#: The response of the operation that streams events.
EVENTS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Events until the execution ends or pauses; the data of each is a JSON object.",
        "content": {"text/event-stream": {"schema": {"type": "string", "examples": [_EXAMPLE]}}},
    }
}


async def event_stream(batches: AsyncGenerator[tuple[ExecutionEvent, ...]], caller: Caller) -> AsyncIterator[str]:
    """Format events as text/event-stream (HTML Living Standard, 9.2), with keep-alive comments in silent periods."""
    coming = asyncio.ensure_future(anext(batches, None))
    try:
        while True:
            await asyncio.wait((coming,), timeout=KEEP_ALIVE_S)
            if not caller.is_still_good():
                yield _closed(CredentialsRevoked())
                return
            if not coming.done():
                yield ": nothing new\n\n"
                continue
            batch = coming.result()
            if batch is None:
                return
            yield "".join(f"id: {event.sequence}\nevent: {event.type}\ndata: {event.text}\n\n" for event in batch)
            coming = asyncio.ensure_future(anext(batches, None))
    except (TooSlow, JournalUnavailable) as reason:
        yield _closed(reason)
    finally:
        coming.cancel()
        await asyncio.gather(coming, return_exceptions=True)
        await batches.aclose()


def _closed(reason: CodeModeError) -> str:
    """Return the last event of a stream that ends before its execution."""
    message = JOURNAL_AWAY if isinstance(reason, JournalUnavailable) else str(reason)
    data = {"type": "closed", "code": reason.code, "message": message}
    return f"event: closed\ndata: {json.dumps(data)}\n\n"
