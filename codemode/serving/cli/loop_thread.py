"""An event loop in a thread, so that the main thread can wait for the keyboard."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any, Self, TypeVar

if TYPE_CHECKING:
    from collections.abc import Coroutine

_T = TypeVar("_T")


class LoopThread:
    """Runs coroutines for the main thread, one at a time.

    An exception in the waiting main thread, such as KeyboardInterrupt, cancels the coroutine.
    """

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="loop", daemon=True)
        self._running: asyncio.Task[Any] | None = None

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.run(self._loop.shutdown_default_executor())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def run(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Return the result of the coroutine. If this is interrupted, wait until the coroutine has ended."""
        settled = asyncio.run_coroutine_threadsafe(self._settled(work), self._loop)
        try:
            task = settled.result()
        except BaseException:
            self._loop.call_soon_threadsafe(self._cancel)
            _ = settled.result()
            raise
        return task.result()

    async def _settled(self, work: Coroutine[Any, Any, _T]) -> asyncio.Task[_T]:
        """Run the coroutine to its end, and return its task."""
        self._running = task = asyncio.ensure_future(work)
        await asyncio.wait((task,))
        return task

    def _cancel(self) -> None:
        if self._running is not None:
            self._running.cancel()
