"""Event streams that end before their execution."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

from codemode.errors import JournalUnavailable
from codemode.gateway.caller import Caller
from codemode.serving.web.event_stream import event_stream

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from codemode.executions.types.events import ExecutionEvent


async def test_a_stream_whose_caller_cannot_be_checked_ends_with_the_reason() -> None:
    async def silent() -> AsyncGenerator[tuple[ExecutionEvent, ...]]:
        await asyncio.sleep(0)
        yield ()

    def unknown() -> bool:
        raise JournalUnavailable("postgresql://db has not answered for 31 s")

    texts = [text async for text in event_stream(silent(), Caller("key:1", is_authorized=unknown))]
    message = "executions cannot be recorded or read now; check what was done, and try again later"
    data = {"type": "closed", "code": "journal_unavailable", "message": message}
    assert texts == [f"event: closed\ndata: {json.dumps(data)}\n\n"]
