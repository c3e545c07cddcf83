"""Delivery to one target: takes its messages from the outbox, sends them, and records how each attempt ended."""

from __future__ import annotations

import asyncio
import logging
import random
from contextlib import suppress
from typing import TYPE_CHECKING, Literal

from codemode.errors import CodeModeError, ExecutionNotFound, JournalDamaged
from codemode.executions.types.delivery import Delivery, Result
from codemode.features.notify.targets import Undelivered

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from codemode.executions.journal.base import Journal
    from codemode.executions.journal.sql.outbox import Message, MessageRequest
    from codemode.executions.types.records import StoredExecution
    from codemode.features.notify.notice import Notice, NoticeWriter
    from codemode.features.notify.targets import Target

log = logging.getLogger(__name__)

#: Seconds from each attempt to the next: the schedule of Standard Webhooks 1.0. Three days in all.
SCHEDULE_S = (5.0, 300.0, 1800.0, 7200.0, 18_000.0, 36_000.0, 50_400.0, 72_000.0, 86_400.0)

#: Longest wait that a receiver can ask for, in seconds.
_LONGEST_WAIT_S = 86_400.0

#: Seconds between two looks for what other servers have paused, and for executions that expire soon.
_LOOK_EVERY_S = 5.0

#: Deliveries at one time, and the seconds for which they belong to this server. No delivery takes longer than a minute.
_AT_ONCE = 4
_CLAIM_S = 120.0


class Courier:
    """Delivers to one target until it is closed. `wanted` are its messages, and `record` receives each attempt."""

    def __init__(
        self,
        journal: Journal,
        name: str,
        target: Target,
        wanted: Sequence[MessageRequest],
        writer: NoticeWriter,
        *,
        record: Callable[[Delivery], None],
        schedule_s: Sequence[float] = SCHEDULE_S,
    ) -> None:
        self.name = name
        self.target = target
        self._journal = journal
        self._outbox = journal.outbox
        self._wanted = tuple(wanted)
        self._writer = writer
        self._record = record
        self._schedule_s = tuple(schedule_s)
        self._is_closing = False
        self._changed = asyncio.Event()
        self._outbox.listeners.add(self._changed)

    def close(self) -> None:
        """End `run` after one more delivery of what is due."""
        self._is_closing = True
        self._changed.set()

    async def run(self) -> None:
        """Deliver until it is closed. Failures of the journal are logged, and the work is taken up again."""
        is_last = False
        while not is_last:
            is_last = self._is_closing
            wait_s = _LOOK_EVERY_S
            try:
                await self.deliver()
                due_s = await self._outbox.next_due_s(self.name)
                wait_s = wait_s if due_s is None else min(max(due_s, 0.01), wait_s)
            except CodeModeError as error:
                log.warning("messages to %s are delivered later: %s", self.name, error)
            except Exception:
                log.exception("messages to %s could not be delivered", self.name)
            with suppress(TimeoutError):
                async with asyncio.timeout(wait_s):
                    await self._changed.wait()

    async def deliver(self) -> None:
        """Add the messages about what waits now, and try to deliver those that are due. Raises JournalUnavailable."""
        self._changed.clear()
        await self._outbox.add(self._wanted)
        while messages := await self._outbox.claim(self.name, most=_AT_ONCE, lease_s=_CLAIM_S):
            await asyncio.gather(*map(self._deliver, messages))

    async def _deliver(self, message: Message) -> None:
        notice = await self._notice(message)
        if notice is None:
            await self._settled(message, "outdated")
            return
        try:
            await self.target.send(notice)
        except Undelivered as error:
            await self._failed(message, error)
        else:
            await self._settled(message, "delivered")

    async def _notice(self, message: Message) -> Notice | None:
        """Return the content of a message as things are now, None if there is nothing left to say."""
        try:
            stored = await self._journal.get(message.execution)
            if not message.question:
                tools = await self._unknown_writes(stored)
                return self._writer.of_end(message.id, message.event, stored, tools) if tools else None
            waiting = await self._journal.pending(execution=message.execution)
        except (ExecutionNotFound, JournalDamaged):
            return None
        kinds = {kind for wanted in self._wanted if wanted.event == message.event for kind in wanted.kinds}
        waiting = tuple(call for call in waiting if call.kind in kinds or call.id == message.question)
        named = [call for call in waiting if call.id == message.question] or list(waiting)
        if not named:
            return None
        others = tuple(call for call in waiting if call is not named[0])
        return self._writer.of_call(message.id, message.event, named[0], stored, others)

    async def _unknown_writes(self, stored: StoredExecution) -> tuple[str, ...]:
        """Return the tools of unknown calls that are no reads."""
        entries = await self._journal.read(stored.request.id, values=False)
        reads = {one.path for one in entries if one.kind == "started" and one.data.get("effect") == "read"}
        unknown = [call for call in (stored.outcome or {}).get("calls", ()) if call["state"] == "unknown"]
        return tuple(dict.fromkeys(call["tool"] for call in unknown if call["path"] not in reads))

    async def _failed(self, message: Message, error: Undelivered) -> None:
        if error.is_gone:
            log.error("%s wants no more messages (410); `codemode notify test` enables it again", self.name)
            await self._settled(message, "gone", str(error))
        elif message.attempts >= len(self._schedule_s):
            await self._settled(message, "gave_up", str(error))
        else:
            wait_s = self._schedule_s[message.attempts] * random.uniform(1.0, 1.1)  # noqa: S311 -- spreads load
            wait_s = max(wait_s, min(error.retry_after_s, _LONGEST_WAIT_S))
            await self._outbox.settle(message, "waiting", retry_s=wait_s, error=str(error))
            self._tell(message, "failed", str(error))

    async def _settled(
        self, message: Message, result: Literal["delivered", "gave_up", "gone", "outdated"], error: str = ""
    ) -> None:
        await self._outbox.settle(message, result, error=error)
        self._tell(message, result, error)

    def _tell(self, message: Message, result: Result, error: str) -> None:
        if error:
            log.warning("the message %s to %s: %s (%s)", message.id, self.name, result, error)
        facts = (message.id, message.event, self.name, message.execution, message.question)
        self._record(Delivery(*facts, result, message.attempts + 1, error))
