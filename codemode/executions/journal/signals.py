"""Signals between the servers of one journal: what they need not wait for until they look by themselves."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: Poll interval without signals, in seconds.
LOOK_AGAIN_S = 0.5


class Signals:
    """The signals of a store that has none: its servers look by themselves.

    `freed` is set when an execution may be taken up. `cancel_requested` is called with the id of an execution that may
    run here and shall be cancelled.
    """

    def __init__(self) -> None:
        self.freed = asyncio.Event()
        self.cancel_requested: Callable[[str], None] = lambda _: None

    @contextmanager
    def following(self, execution: str, changed: asyncio.Event) -> Iterator[None]:
        """Set `changed` within the block when another server has changed an execution, if `ask` was called."""
        yield

    async def ask(self, execution: str) -> float:
        """Ask for signals about an execution that runs elsewhere. Return the seconds until it must be read anyway.

        Read it after this call: earlier changes give no signal. Raises JournalUnavailable.
        """
        return LOOK_AGAIN_S

    async def free(self) -> None:
        """Tell the other servers that there is more to take up than this one takes now."""

    async def request_cancel(self, execution: str) -> bool:
        """Ask the server of an execution to cancel it. Return whether it can be asked. Raises JournalUnavailable."""
        return False
