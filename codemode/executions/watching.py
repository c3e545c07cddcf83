"""Who waits for the end of an execution, or follows what happens to it, on this server or on another."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from codemode.errors import CallerNotLetIn
from codemode.executions.events import ExecutionEvent, events_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

    from codemode.executions.attempts import Attempt
    from codemode.executions.journal import Journal, StoredExecution
    from codemode.gateway.caller import Caller

#: How often whoever waits looks, where the execution runs on another server.
_LOOK_AGAIN_S = 0.5

#: While an execution has one of these, more is to come.
_GOES_ON = ("queued", "running")


class Watching:
    """Looks at executions through `seen`, which raises ExecutionNotFound for what is not the caller's."""

    def __init__(
        self,
        journal: Journal,
        attempts: Mapping[str, Attempt],
        seen: Callable[[str, Caller], Awaitable[StoredExecution]],
    ) -> None:
        self._journal = journal
        self._attempts = attempts
        self._seen = seen

    async def wait(self, execution: str, caller: Caller, timeout_s: float) -> StoredExecution:
        """See `Executions.wait`."""
        deadline = time.monotonic() + timeout_s
        while True:
            stored = await self._seen(execution, caller)
            if not caller.is_still_good():
                raise CallerNotLetIn
            left = deadline - time.monotonic()
            if stored.status not in _GOES_ON or left <= 0:
                return stored
            attempt = self._attempts.get(execution)
            if attempt is None:
                await asyncio.sleep(min(left, _LOOK_AGAIN_S))
            else:
                await asyncio.wait((attempt.task,), timeout=left)

    async def events(self, execution: str, caller: Caller, after: int) -> AsyncIterator[ExecutionEvent]:
        """See `Executions.events`."""
        bell = asyncio.Event()
        while True:
            bell.clear()
            attempt = self._attempts.get(execution)
            if attempt is not None:
                attempt.bells.add(bell)
            stored = await self._seen(execution, caller)
            for event in events_of(await self._journal.read(execution, after=after, values=False)):
                after = event.sequence
                yield event
            if stored.status not in _GOES_ON:
                yield ExecutionEvent(after, "status", {"status": stored.status})
                return
            if attempt is None:
                await asyncio.sleep(_LOOK_AGAIN_S)
            else:
                await bell.wait()
