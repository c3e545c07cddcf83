"""Serve an example on a socket, and report its address once it accepts requests."""

from __future__ import annotations

import asyncio
import socket
import sys
from typing import TYPE_CHECKING

import uvicorn

if TYPE_CHECKING:
    from fastapi import FastAPI


def serve(app: FastAPI, host: str, port: int) -> None:
    """Serve until interrupted. Port 0 picks a free one. Prints `READY http://HOST:PORT`."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:  # named: asyncio sets TCP_NODELAY
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(256)
        shown = f"[{host}]" if ":" in host else host
        server = _Announced(uvicorn.Config(app, log_level="warning"), f"http://{shown}:{listener.getsockname()[1]}")
        asyncio.run(server.serve([listener]))


class _Announced(uvicorn.Server):
    """A server that prints its address once it accepts requests."""

    def __init__(self, config: uvicorn.Config, url: str) -> None:
        super().__init__(config)
        self._url = url

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        sys.stdout.write(f"READY {self._url}\n")
        sys.stdout.flush()
