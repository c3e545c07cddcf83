"""Retry unavailable sources, with growing waits, until they load."""

from __future__ import annotations

import asyncio
import logging
from types import MappingProxyType
from typing import TYPE_CHECKING

from codemode.errors import CodeModeError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping

    from codemode.sources.factory import LoadedSource

log = logging.getLogger(__name__)

#: The wait before the first retry, and the longest wait. Waits double with each retry.
FIRST_WAIT_S, LONGEST_WAIT_S = 1.0, 300.0


class Retries:
    """Retry sources in the background, one task each. `arrived` is called with each source that loads."""

    def __init__(
        self,
        read: Callable[[str], Awaitable[LoadedSource]],
        arrived: Callable[[LoadedSource], Awaitable[None]],
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._read = read
        self._arrived = arrived
        self._sleep = sleep
        self._tasks: set[asyncio.Task[None]] = set()

    def start(
        self, names: Iterable[str], late: Mapping[str, asyncio.Task[LoadedSource]] = MappingProxyType({})
    ) -> None:
        """Start retrying the named sources. A task in `late` counts as the first attempt for its source."""
        for name in names:
            task = asyncio.create_task(self._retry_until_loaded(name, late.get(name)), name=f"retry {name}")
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def aclose(self) -> None:
        """Cancel all retries."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _retry_until_loaded(self, name: str, first: asyncio.Task[LoadedSource] | None) -> None:
        source = await self._attempt(name, first) if first is not None else None
        wait_s = FIRST_WAIT_S
        while source is None:
            await self._sleep(wait_s)
            wait_s = min(2 * wait_s, LONGEST_WAIT_S)
            source = await self._attempt(name, self._read(name))
        try:
            await self._arrived(source)
        except BaseException:
            await source.transport.aclose()
            raise
        log.info("source %s has loaded: %d tools", name, len(source.tools))

    async def _attempt(self, name: str, reading: Awaitable[LoadedSource]) -> LoadedSource | None:
        try:
            return await reading
        except CodeModeError as error:
            log.info("source %s is still unavailable: %s", name, error)
        except Exception:
            log.exception("source %s cannot be read", name)
        return None
