"""The floor of one run: which of its calls may be sent now, and who waits while a person is asked."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, NoReturn

from sandbox import ProgramStopped

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

    from codemode.executions.types.ledger import Ledger
    from sandbox import Failure


class Floor:
    """The calls of one run that are under way, at most `slots` of them at once.

    `waits` is the failure that stopped the program because a person must decide. Compare it by identity, because a
    program can raise a failure that looks the same. `answered` maps the path of each call that a person lets pass to
    the id of the approval, "" without one. Such a call is sent even while others wait for an answer.
    """

    def __init__(self, slots: int, ledger: Ledger) -> None:
        self.waits: Failure | None = None
        self.answered: dict[str, str] = {}
        self.is_over = False
        self._ledger = ledger
        self._slots = asyncio.Semaphore(slots)
        self._under_way = 0
        self._all_ended = asyncio.Event()
        self._all_ended.set()
        self._asking = 0
        self._goes_on = asyncio.Event()
        self._goes_on.set()

    @property
    def is_busy(self) -> bool:
        """Whether any call is under way."""
        return self._under_way > 0

    @contextmanager
    def busy(self) -> Iterator[None]:
        """Let those who ask a person wait until this block has ended."""
        self._under_way += 1
        self._all_ended.clear()
        try:
            yield
        finally:
            self._under_way -= 1
            if not self._under_way:
                self._all_ended.set()

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Let calls that nobody has answered wait within this block, and whoever asks a person: it may have to, too."""
        self._asking += 1
        self._goes_on.clear()
        try:
            with self.busy():
                yield
        finally:
            self._asking -= 1
            if not self._asking:
                self._goes_on.set()

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Hold one of the slots within the block."""
        async with self._slots:
            yield

    async def may_send(self, path: str, room: Callable[[], Awaitable[None]]) -> bool:
        """Return whether a call in a slot may be sent now. It waits for `room`, unless a person has answered."""
        if path in self.answered:  # the program may read nothing until this call has ended
            return True
        await room()
        return not self._asking

    async def goes_on(self) -> None:
        """Wait until nobody is asked any more. Usually the program ends meanwhile."""
        await self._goes_on.wait()

    async def unasked(self, over: asyncio.Event | None) -> None:
        """Wait until nobody is asked any more, the program has ended, or `over` is set."""
        while self._asking and not self.is_over and not (over and over.is_set()):
            await _first_of(self._goes_on, over)

    async def ask(self, path: str, failure: Callable[[], Failure]) -> NoReturn:
        """Stop the program after the calls in flight have ended, so that none of them stays unknown.

        If the program cancels the call before that, it continues without it.
        """
        self._asking += 1
        self._goes_on.clear()
        try:
            await asyncio.sleep(0)  # judge concurrent calls as well
            while self._under_way:
                await self._all_ended.wait()
                await asyncio.sleep(0)  # a call that ends one thing may begin another
        except asyncio.CancelledError:
            if not self.is_over:
                self._asking -= 1
                self._ledger.withdraw(path)
                if not self._asking:
                    self._goes_on.set()
            raise
        self.is_over = True
        self.waits = self.waits or failure()
        raise ProgramStopped(self.waits)

    def close(self) -> None:
        """End all waits: the program has ended."""
        self.is_over = True
        self._goes_on.set()


async def _first_of(one: asyncio.Event, other: asyncio.Event | None) -> None:
    """Wait until one of the events is set."""
    if other is None:
        await one.wait()
        return
    waits = [asyncio.ensure_future(event.wait()) for event in (one, other)]
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()
