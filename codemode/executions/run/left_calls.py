"""Writes that were sent and that their program no longer awaits: they end by themselves, and that is recorded."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine
    from typing import Any

Outcome = TypeVar("Outcome")


class LeftCalls:
    """The sent calls of one run that the program has cancelled, or that outlive it."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    async def guard(
        self,
        work: Coroutine[Any, Any, Outcome],
        *,
        is_sent: Callable[[], bool],
        left: Callable[[Outcome], Awaitable[None]],
        given_up: asyncio.Event,
    ) -> Outcome:
        """Return what a call returns. If it is cancelled once it was sent, it goes on, and `left` gets its outcome.

        `given_up` is set then: the call is not sent another time.
        """
        call = asyncio.ensure_future(work)
        try:
            return await asyncio.shield(call)
        except asyncio.CancelledError:
            given_up.set()
            if is_sent() and not call.cancelled():
                self._keep(call, left)
            else:
                call.cancel()
                await asyncio.wait((call,))
            raise

    def _keep(self, call: asyncio.Future[Outcome], left: Callable[[Outcome], Awaitable[None]]) -> None:
        async def to_its_end() -> None:
            await left(await call)

        self._tasks.add(asyncio.ensure_future(to_its_end()))

    async def finish(self, within_s: float) -> None:
        """Wait until these calls have ended, and cut off those that take longer. Their errors are in the ledger."""
        if self._tasks and within_s > 0:
            await asyncio.wait(self._tasks, timeout=within_s)
        await self.cut()

    async def cut(self) -> None:
        """Cut off the calls that are still under way. It is unknown whether they take effect."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks.clear()
