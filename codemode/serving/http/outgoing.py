"""Answers on their way out: in pieces, each of which a client has a time to take, and only so many for a key at once.

A client that does not read is hung up on. What it has not taken is bounded: a piece of the answer for its connection,
and `READS_PER_KEY` answers for its key. Whoever follows the events of an execution asks again with `Last-Event-ID`.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections import Counter
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from codemode.serving.http.admission import Overloaded
from codemode.serving.http.connection import HANG_UP
from sandbox import JsonText

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Iterator, Mapping

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

log = logging.getLogger(__name__)

#: Bytes that are written at once.
PIECE = 1 << 16

#: Seconds in which a client must take a piece, and all pieces of one body.
PIECE_S = 10.0
BODY_S = 120.0

#: Answers about executions that are read and sent at one time, each with 16 MiB at most by default.
READS, READS_PER_KEY = 16, 4

#: Streams of events that are open at one time.
WATCHERS, WATCHERS_PER_KEY = 512, 128


class Places:
    """So many at one time, for a key and in all."""

    def __init__(self, most: int, per_key: int, what: str) -> None:
        self._most = most
        self._per_key = per_key
        self._what = what
        self._taken: Counter[str] = Counter()

    @asynccontextmanager
    async def place(self, key: str) -> AsyncIterator[None]:
        """Hold a place. Raises Overloaded where there is none."""
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
    """ASGI middleware that sends bodies in pieces, and ends the connection of a client that does not take one."""

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
                log.info("a client did not read its answer in time, and was hung up on")
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
    """End the connection now: to close it would wait for the client to read what is left."""
    extension = scope.get("extensions", {}).get(HANG_UP)
    if extension is not None:
        extension["now"]()


class NotRead(Exception):
    """A client did not take its answer in time."""


class DataResponse(Response):
    """JSON data with texts in them, which are sent as they are."""

    media_type = "application/json"

    def __init__(self, data: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        self._pieces = tuple(_joined(_pieces(data)))
        super().__init__(None, status, {**(headers or {}), "Content-Length": str(sum(map(len, self._pieces)))})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the pieces one after the other: a large one is never copied as a whole."""
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        for piece in self._pieces:
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def encoded(data: Any) -> bytes:
    """Data as JSON; the `JsonText` of a large value, in it or in the `outcome` in it, is not looked into."""
    return b"".join(_pieces(data))


def _joined(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes, with small pieces put together."""
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
    elif type(data) is dict and any(type(part) in (JsonText, dict) for part in data.values()):
        sign = b"{"
        for name, part in data.items():
            yield sign + json.dumps(name).encode() + b":"
            yield from _pieces(part)
            sign = b","
        yield b"}"
    else:
        yield json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
