"""All couriers of one journal."""

from __future__ import annotations

import asyncio
import secrets
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codemode.executions.journal.sql.outbox import Outbox
    from codemode.features.notify.courier import Courier
    from codemode.features.notify.notice import NoticeWriter

#: Time limit in seconds for deliveries when the service closes. The next server delivers what is left.
_CLOSING_S = 10.0


class Notifier:
    """Delivers the messages of one open journal in the background."""

    def __init__(self, outbox: Outbox, couriers: Sequence[Courier], writer: NoticeWriter) -> None:
        self.couriers = {courier.name: courier for courier in couriers}
        self._outbox = outbox
        self._writer = writer
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Begin to deliver."""
        self._tasks = [asyncio.create_task(courier.run()) for courier in self.couriers.values()]

    async def aclose(self) -> None:
        """Stop after what is due has been tried once, or after ten seconds."""
        for courier in self.couriers.values():
            courier.close()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=_CLOSING_S)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def test(self, name: str) -> None:
        """Send a test message to a target. If it was gone, enable it again. Raises Undelivered, JournalUnavailable."""
        await self.couriers[name].target.send(self._writer.of_test(f"msg_{secrets.token_hex(16)}"))
        await self._outbox.enable(name)
