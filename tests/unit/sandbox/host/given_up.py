"""A caller that gives up."""

from __future__ import annotations

import asyncio
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Coroutine, Generator


class GivenUp:
    """A coroutine that is cancelled when it has waited `at` times."""

    def __init__(self, work: Coroutine[Any, Any, Any], at: int) -> None:
        self.waits = 0
        self._at = at
        self._task = asyncio.ensure_future(self._run(work))

    async def end(self) -> bool:
        """Wait for it; returns whether it was cancelled before its end."""
        try:
            await self._task
        except asyncio.CancelledError:
            return True
        return False

    async def _run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return await self._steps(work)

    @types.coroutine
    def _steps(self, work: Coroutine[Any, Any, Any]) -> Generator[Any, Any, Any]:
        steps, error = work.__await__(), None
        while True:
            try:
                waits_for = next(steps) if error is None else steps.throw(error)
            except StopIteration as end:
                return end.value
            self.waits += 1
            if self.waits == self._at:
                asyncio.get_running_loop().call_soon(self._task.cancel)
            error = None
            try:
                yield waits_for
            except BaseException as thrown:  # noqa: BLE001 - handed on
                error = thrown
