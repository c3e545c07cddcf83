"""A scripted model beside a command."""

from __future__ import annotations

import asyncio
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from codemode.testing.model_server import ModelServer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from codemode.testing.model_server import Script


@contextmanager
def serving(script: Script) -> Iterator[ModelServer]:
    """Serve a model in a thread of its own, because a command has the main thread."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    server = ModelServer(script)
    try:
        asyncio.run_coroutine_threadsafe(server.__aenter__(), loop).result()
        yield server
        asyncio.run_coroutine_threadsafe(server.__aexit__(None, None, None), loop).result()
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
