"""ASGI middleware that ends requests which have been open for too long."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send


class OpenRequests:
    """The open requests of an application. `wrap` is its middleware."""

    def __init__(self) -> None:
        self._opened: dict[asyncio.Task[object], float] = {}
        self._ended: set[asyncio.Task[object]] = set()

    def wrap(self, app: ASGIApp) -> ASGIApp:
        """Return the application with its requests registered here."""

        async def registered(scope: Scope, receive: Receive, send: Send) -> None:
            task = asyncio.current_task()
            if scope["type"] != "http" or task is None:
                await app(scope, receive, send)
                return
            self._opened[task] = asyncio.get_running_loop().time()
            try:
                await app(scope, receive, send)
            except asyncio.CancelledError:
                if task not in self._ended:
                    raise
                task.uncancel()
            finally:
                self._opened.pop(task, None)
                self._ended.discard(task)

        return registered

    def end(self, opened_before: float) -> None:
        """End the requests that were open at this time of the event loop, as a server does that stops.

        A request that waits for a recorded execution is answered with 202, others with 503, and streams break off.
        """
        for task in [task for task, opened in self._opened.items() if opened < opened_before]:
            del self._opened[task]
            self._ended.add(task)
            task.cancel()
