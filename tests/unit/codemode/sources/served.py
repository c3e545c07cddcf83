"""Applications on real sockets of loopback, for the length of a test."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from codemode.testing.served import Served

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@asynccontextmanager
async def served(application: Any) -> AsyncIterator[str]:
    """The base URL of an application while it is served."""
    async with Served(application) as server:
        yield server.url
