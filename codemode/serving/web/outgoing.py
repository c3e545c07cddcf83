"""ASGI middleware for responses: bodies are sent in pieces with time limits, and few at once per key.

A client that does not read is disconnected. Memory for unread data is bounded: one piece for each connection, and
`READS_PER_KEY` answers for each key. Clients that follow events reconnect with `Last-Event-ID`.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections import Counter
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from codemode.serving.web.admission import Overloaded
from codemode.serving.web.connection import HANG_UP
from sandbox import JsonText

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Iterator, Mapping

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

log = logging.getLogger(__name__)

#: Bytes of a piece.
PIECE = 1 << 16

#: Seconds in which a client must read one piece, and a whole body.
PIECE_S = 10.0
BODY_S = 120.0

#: Maximum answers about executions sent at once, in total and per key. Each has up to 16 MiB by default.
READS, READS_PER_KEY = 16, 4

#: Maximum open event streams, in total and per key.
WATCHERS, WATCHERS_PER_KEY = 512, 128


_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


class Places:
    """A limit on concurrent answers, per key and in total."""

    def __init__(self, most: int, per_key: int, what: str) -> None:
        self._most = most
        self._per_key = per_key
        self._what = what
        self._taken: Counter[str] = Counter()

    @asynccontextmanager
    async def place(self, key: str) -> AsyncIterator[None]:
        """Hold a place within the block. Raises Overloaded if all are taken."""
        if self._taken[key] >= self._per_key or self._taken.total() >= self._most:
            message = f"too many {self._what} are open; read and close some of them"
            raise Overloaded(message)
        self._taken[key] += 1
        try:
            yield
        finally:
            self._taken[key] -= 1
            if not self._taken[key]:
                del self._taken[key]


class Outgoing:
    """Sends bodies in pieces, and disconnects a client that does not read them in time."""

    def __init__(self, app: ASGIApp, *, piece_s: float = PIECE_S, body_s: float = BODY_S) -> None:
        self._app = app
        self._piece_s = piece_s
        self._body_s = body_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        is_left = False

        async def send_piece(message: Message, until: float) -> None:
            nonlocal is_left
            try:
                async with asyncio.timeout_at(until):
                    await send(message)
            except TimeoutError:
                log.info("a client did not read its answer in time and was disconnected")
                is_left = True
                raise NotRead from None

        async def send_in_pieces(message: Message) -> None:
            now = asyncio.get_running_loop().time
            until = now() + self._body_s
            body = memoryview(message.get("body", b""))
            if len(body) <= PIECE:
                await send_piece(message, now() + self._piece_s)
                return
            for start in range(0, len(body), PIECE):
                end = start + PIECE
                more = end < len(body) or message.get("more_body", False)
                piece = {**message, "body": bytes(body[start:end]), "more_body": more}
                await send_piece(piece, min(until, now() + self._piece_s))

        try:
            await self._app(scope, receive, send_in_pieces)
        except Exception:
            if not is_left:
                raise
        finally:
            if is_left:
                _hang_up(scope)


def _hang_up(scope: Scope) -> None:
    """Abort the connection: a normal close would wait for the client to read the rest."""
    extension = scope.get("extensions", {}).get(HANG_UP)
    if extension is not None:
        extension["now"]()


class NotRead(Exception):
    """The client did not read its answer in time."""


class DataResponse(Response):
    """JSON data. Contained `JsonText` values are sent as they are."""

    media_type = "application/json"

    def __init__(self, data: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        self._pieces = tuple(_joined(_pieces(data)))
        super().__init__(None, status, {**(headers or {}), "Content-Length": str(sum(map(len, self._pieces)))})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the pieces one by one. Large pieces are never copied together."""
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        *others, last = self._pieces
        for piece in others:
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": last, "more_body": False})


def encoded(data: Any) -> bytes:
    """Encode data as JSON. `JsonText` values at the top or in nested objects are inserted unparsed."""
    return b"".join(_pieces(data))


def _joined(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the same bytes, with consecutive small pieces joined."""
    small: list[bytes] = []
    for piece in pieces:
        if len(piece) < PIECE:
            small.append(piece)
        else:
            yield b"".join(small)
            yield piece
            small = []
    yield b"".join(small)


def _pieces(data: Any) -> Iterator[bytes]:
    if type(data) is JsonText:
        yield data.data
    elif _holds_text(data):
        sign = b"{"
        for name, part in data.items():
            yield sign + json.dumps(name).encode() + b":"
            yield from _pieces(part)
            sign = b","
        yield b"}"
    else:
        yield _encode(data).encode()


def _holds_text(data: Any) -> bool:
    """Whether a `JsonText` is a value of this object, or of an object in it."""
    if type(data) is not dict:
        return False
    return any(type(part) is JsonText or _holds_text(part) for part in data.values())
