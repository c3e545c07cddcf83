"""Waiting for executions and following their events, on this server or another."""

from __future__ import annotations

import asyncio
import time
from contextlib import aclosing, contextmanager, suppress
from typing import TYPE_CHECKING

from codemode.errors import CredentialsRevoked, JournalUnavailable, TooSlow
from codemode.executions.life.feed import GOES_ON, Feed
from codemode.executions.types.events import ExecutionEvent

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Mapping

    from codemode.executions.journal.base import Journal
    from codemode.executions.life.attempts import Attempt
    from codemode.executions.types.records import StoredExecution
    from codemode.gateway.caller import Caller


class Watching:
    """Watches executions. `seen` returns one, or raises ExecutionNotFound if the caller may not see it."""

    def __init__(
        self,
        journal: Journal,
        attempts: Mapping[str, Attempt],
        seen: Callable[[str, Caller], Awaitable[StoredExecution]],
    ) -> None:
        self._journal = journal
        self._attempts = attempts
        self._seen = seen
        self._feeds: dict[str, Feed] = {}

    async def wait(self, execution: str, caller: Caller, timeout_s: float) -> StoredExecution:
        """See `Executions.wait`. A JournalUnavailable names the execution."""
        try:
            return await self._wait(execution, caller, timeout_s)
        except JournalUnavailable as error:
            error.execution = execution
            raise

    async def _wait(self, execution: str, caller: Caller, timeout_s: float) -> StoredExecution:
        deadline = time.monotonic() + timeout_s
        changed = asyncio.Event()
        with self._journal.signals.following(execution, changed):
            look_again_s = 0.0
            while True:
                changed.clear()
                stored = await self._seen(execution, caller)
                if not caller.is_still_good():
                    raise CredentialsRevoked
                remaining_s = deadline - time.monotonic()
                if stored.status not in GOES_ON or remaining_s <= 0:
                    return stored
                attempt = self._attempts.get(execution)
                if attempt is not None:
                    await asyncio.wait((attempt.task,), timeout=remaining_s)
                    continue
                with suppress(TimeoutError):
                    await asyncio.wait_for(changed.wait(), min(remaining_s, look_again_s))
                look_again_s = await self._journal.signals.ask(execution)

    async def events(self, execution: str, caller: Caller, after: int) -> AsyncIterator[ExecutionEvent]:
        """See `Executions.events`."""
        async with aclosing(self.batches(execution, caller, after)) as batches:
            async for batch in batches:
                for event in batch:
                    yield event

    async def batches(self, execution: str, caller: Caller, after: int) -> AsyncGenerator[tuple[ExecutionEvent, ...]]:
        """See `Executions.batches`."""
        stored = await self._seen(execution, caller)
        with self._followed(execution, after) as feed:
            while True:
                status = feed.status  # read first: an execution may append events before it ends
                batch = feed.after(after) if feed.has(after) else await feed.before(after)
                if batch:
                    after = batch[-1].sequence
                    is_with_it = feed.has(after)
                    yield batch
                    if is_with_it and not feed.has(after):
                        raise TooSlow(execution, after)
                elif status:
                    yield (ExecutionEvent(after, "status", {"status": status}),)
                    return
                else:
                    await feed.read_on()
                if stored.request.owner != caller.id:
                    await self._seen(execution, caller)  # the caller may no longer be an approver

    @contextmanager
    def _followed(self, execution: str, after: int) -> Iterator[Feed]:
        feed = self._feeds.get(execution)
        if feed is None or feed.status:
            feed = self._feeds[execution] = Feed(self._journal, self._attempts, execution, after)
        feed.followers += 1
        try:
            yield feed
        finally:
            feed.followers -= 1
            if not feed.followers:
                feed.close()
                if self._feeds.get(execution) is feed:
                    del self._feeds[execution]
