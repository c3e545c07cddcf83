"""Sources that are not there are asked for again, with growing waits, until they come."""

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

#: Seconds before the second attempt, which double with each, and the longest.
FIRST_WAIT_S, LONGEST_WAIT_S = 1.0, 300.0


class Retries:
    """A task for each source that is not as it is now. `arrived` takes what `read` gives in the end."""

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
        """Ask for these from now on; for what is being read already, its task is the first attempt."""
        for name in names:
            task = asyncio.create_task(self._until_there(name, late.get(name)), name=f"retry {name}")
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def aclose(self) -> None:
        """Ask for nothing more."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _until_there(self, name: str, first: asyncio.Task[LoadedSource] | None) -> None:
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
        log.info("the source %s is there: %d tools", name, len(source.tools))

    async def _attempt(self, name: str, reading: Awaitable[LoadedSource]) -> LoadedSource | None:
        try:
            return await reading
        except CodeModeError as error:
            log.info("the source %s is still unavailable: %s", name, error)
        except Exception:
            log.exception("the source %s cannot be read", name)
        return None
