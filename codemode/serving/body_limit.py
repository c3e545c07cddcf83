"""ASGI middleware that refuses a request body over a limit, whether it says its length or not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send


class BodyLimit:
    """Reads no more than `limit_bytes` of any request body; a longer one is answered with 413."""

    def __init__(self, app: ASGIApp, *, limit_bytes: int) -> None:
        self._app = app
        self._limit_bytes = limit_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on with a body that is counted while it is read."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        taken = 0

        async def counted() -> Message:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > self._limit_bytes:
                raise HTTPException(413, f"a request body may have at most {self._limit_bytes:,} bytes")
            return message

        await self._app(scope, counted, send)
