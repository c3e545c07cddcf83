"""What the tests of transports share."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from tests.codemode.transports.recorder import Recorder

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@pytest.fixture
async def recorder() -> AsyncIterator[Recorder]:
    """A running recorder."""
    made = Recorder()
    tasks: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.add(asyncio.ensure_future(made.serve(reader, writer)))

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    made.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield made
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await server.wait_closed()
