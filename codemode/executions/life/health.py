"""Health of the journal: whether it can be written now."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from codemode.errors import CodeModeError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from codemode.executions.journal.base import Journal

#: Seconds for which an answer is reused, so that frequent probes do not load the store.
FRESH_S = 1.0

#: Time limit for the store, in seconds.
_PATIENCE_S = 2.0

#: An execution that never exists. Renewing its lease takes the path of a write and changes nothing.
_NOBODYS = ("ex_of_nobody",)


class JournalHealth:
    """Checks whether the journal can be written. `is_behind` returns whether an end is still unrecorded."""

    def __init__(
        self, journal: Journal, open_journal: Callable[[], Awaitable[None]], is_behind: Callable[[], bool]
    ) -> None:
        self._journal = journal
        self._open = open_journal
        self._is_behind = is_behind
        self._asking = asyncio.Lock()
        self._is_writable = True
        self._asked = float("-inf")

    async def is_writable(self) -> bool:
        """Return whether executions can be recorded."""
        async with self._asking:
            if time.monotonic() - self._asked > FRESH_S:
                self._is_writable = await self._ask()
                self._asked = time.monotonic()
        return self._is_writable and not self._is_behind()

    async def _ask(self) -> bool:
        try:
            async with asyncio.timeout(_PATIENCE_S):
                await self._open()
                await self._journal.renew(_NOBODYS)
        except (CodeModeError, TimeoutError):
            return False
        return True
