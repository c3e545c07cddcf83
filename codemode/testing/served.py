"""Serve ASGI applications on loopback sockets for the duration of a test."""

from __future__ import annotations

import asyncio
import socket
from contextlib import contextmanager
from typing import TYPE_CHECKING, Self

import uvicorn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.types import ASGIApp


class _Server(uvicorn.Server):
    """A server without signal handlers: two servers in one process may end in any order."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Install no signal handlers."""
        yield


class Served:
    """Serves an application on a free port within the block; with `has_lifespan` it receives lifespan events."""

    def __init__(self, app: ASGIApp, *, has_lifespan: bool = False) -> None:
        self._server = _Server(uvicorn.Config(app, log_config=None, lifespan="on" if has_lifespan else "off"))
        self._socket = socket.socket()
        self._serving: asyncio.Task[None] | None = None

    @property
    def url(self) -> str:
        """Base URL without a trailing slash. Available once entered."""
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}"

    async def __aenter__(self) -> Self:
        self._socket.bind(("127.0.0.1", 0))
        self._socket.listen()
        self._serving = asyncio.create_task(self._server.serve(sockets=[self._socket]))
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.should_exit = True
        if self._serving is not None:
            await self._serving
        self._socket.close()
