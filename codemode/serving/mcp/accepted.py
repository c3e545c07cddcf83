"""Serve clients that accept one media type, or say nothing of it.

The protocol asks clients to accept both JSON and event streams, and the SDK rejects all others. A client that does not
name event streams gets the one answer in such a stream as plain JSON. Notifications of progress are left out then.
Blanks, which JSON allows before a value, keep a quiet connection open.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from starlette.datastructures import Headers, MutableHeaders

if TYPE_CHECKING:
    from starlette.types import Message, Scope, Send

_STREAM = "text/event-stream"
_BOTH = f"application/json, {_STREAM}"

#: The method whose answer is a stream of notifications, also for clients that do not name streams.
_LISTEN = "subscriptions/listen"


def accepting_both(scope: Scope, send: Send) -> tuple[Scope, Send]:
    """Return a request that the SDK accepts, and the `send` that answers its client in a form that it accepts."""
    headers = Headers(scope=scope)
    accepted = [part.partition(";")[0].strip().lower() for part in headers.get("accept", "").split(",")]
    if scope["method"] != "POST" and accepted != [""]:
        return scope, send
    changed = MutableHeaders(raw=[*scope["headers"]])
    changed["accept"] = _BOTH
    names_stream = _STREAM in accepted or "text/*" in accepted
    as_json = scope["method"] == "POST" and not names_stream and headers.get("mcp-method") != _LISTEN
    return {**scope, "headers": changed.raw}, _JsonAnswer(send) if as_json else send


class _JsonAnswer:
    """Sends the answer in an event stream as plain JSON. Other answers pass through."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._is_stream = False
        self._rest = b""

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(raw=[*message["headers"]])
            self._is_stream = headers.get("content-type", "").startswith(_STREAM)
            if self._is_stream:
                headers["content-type"] = "application/json"
            await self._send({**message, "headers": headers.raw})
        elif self._is_stream and message["type"] == "http.response.body":
            piece = message.get("body", b"")
            if not message.get("more_body", False):
                piece += b"\n\n"
            await self._send({**message, "body": self._json_of(piece)})
        else:
            await self._send(message)

    def _json_of(self, piece: bytes) -> bytes:
        """Return the answer in a piece of the stream, and a blank for each other event."""
        *events, self._rest = (self._rest + piece.replace(b"\r", b"")).split(b"\n\n")
        return b"".join(map(_answer_in, events))


def _answer_in(event: bytes) -> bytes:
    data = b"\n".join(line[5:].lstrip(b" ") for line in event.split(b"\n") if line.startswith(b"data:"))
    message = json.loads(data) if data else {}
    return data if "result" in message or "error" in message else b" "
