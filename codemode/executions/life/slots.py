"""The slots of shared rates, counted in the journal's database."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from codemode.transports.allowances import Rate, SlotGrant, Slots


class JournalSlots:
    """The slots of a journal. `opened` opens the journal on first use."""

    def __init__(self, slots: Slots, opened: Callable[[], Awaitable[None]]) -> None:
        self.ahead_s = slots.ahead_s
        self._slots = slots
        self._opened = opened

    async def lease(self, rate: Rate, most: int, *, due_only: bool) -> SlotGrant:
        """See `codemode.transports.allowances.Slots.lease`."""
        await self._opened()
        return await self._slots.lease(rate, most, due_only=due_only)
