"""A server that stops without failing a request, behind a load balancer or clients that repeat.

From SIGTERM on, `/readyz` answers 503, answers close their connection, and orphans of other servers are left to others.
The port stays open for `server.drain_delay_s`, until the balancer has noticed. Then it closes, and running requests and
executions have `server.drain_s` to end.
"""

from __future__ import annotations

import math
import signal
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import uvicorn

from codemode.executions.life.recovery import NoRoomYet
from codemode.serving.web.admission import turn_of_orphan

if TYPE_CHECKING:
    import socket
    from collections.abc import AsyncIterator, Callable
    from types import FrameType

    from fastapi import FastAPI
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from codemode.serving.web.admission import Admission, Turn


class DrainingServer(uvicorn.Server):
    """Stops `delay_s` seconds after the first signal, or at the second SIGINT.

    `started` is called once it listens and handles signals.
    """

    def __init__(self, config: uvicorn.Config, app: FastAPI, delay_s: float, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._state = app.state
        self._delay_s = delay_s
        self._report_start = started
        self._stops_at = math.inf
        self._closed_at = math.inf

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen. Signals are handled already: a process manager may send one once it reads the report."""
        await super().startup(sockets)
        self._report_start()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Handle the signal without raising it again, as uvicorn does: that ends the process before clean-up."""
        if self._state.is_draining:
            self.force_exit = self.force_exit or sig == signal.SIGINT
            self.should_exit = self.should_exit or self.force_exit
            return
        self._state.is_draining = True
        self._stops_at = time.monotonic() + self._delay_s
        self.should_exit = self._delay_s == 0

    async def on_tick(self, counter: int) -> bool:
        """Return whether to stop. uvicorn calls this every 0.1 s."""
        self.should_exit = self.should_exit or time.monotonic() >= self._stops_at
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Close the port, and wait for running requests."""
        self._closed_at = time.monotonic()
        await super().shutdown(sockets)

    def remaining_s(self, drain_s: float) -> float:
        """Return what is left of the time to drain: for executions that no request waits for."""
        left_s = self._closed_at + drain_s - time.monotonic()
        return 0.0 if self.force_exit else min(max(0.0, left_s), drain_s)


class ClosingWhenDraining:
    """ASGI middleware: while the server drains, each answer closes its connection (RFC 9112, 9.6).

    Otherwise a client could send its next request at the moment at which the server closes the idle connection.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        server = scope.get("app")  # a mounted application takes its place below

        async def send_and_close(message: Message) -> None:
            if message["type"] == "http.response.start" and server is not None and server.state.is_draining:
                message = {**message, "headers": [*message.get("headers", ()), (b"connection", b"close")]}
            await send(message)

        await self._app(scope, receive, send_and_close if scope["type"] == "http" else send)


@asynccontextmanager
async def turn_unless_draining(app: FastAPI, admission: Admission, owner: str) -> AsyncIterator[Turn]:
    """Hold a turn for an orphan. Raises NoRoomYet if there is none, or the server is stopping."""
    if app.state.is_draining:
        raise NoRoomYet("the server is stopping")
    async with turn_of_orphan(admission, owner) as turn:
        yield turn
