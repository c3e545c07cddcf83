"""Connection limits: uvicorn's protocol with bounds on connections and on request headers.

uvicorn waits for request headers without a time limit and buffers any amount of them. A few thousand silent clients,
or one that never stops sending, would lock everybody else out.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any, ClassVar

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from codemode.serving.web.problems import problem

if TYPE_CHECKING:
    import asyncio

    from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

#: Maximum bytes of request line and headers. A bearer token may have a few thousand.
LARGEST_HEAD = 64 * 1024

#: ASGI extension that lets the application abort the connection of a client that does not read.
HANG_UP = "codemode.hang_up"

_AGAIN_S = 1


class _Connection(HttpToolsProtocol):
    most: ClassVar[int]
    head_s: ClassVar[float]
    last_s: ClassVar[float]

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._head_bytes = 0
        self._in_head = True
        self._has_ended = False
        self._late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > self.most:
            self._end(429, "overloaded", f"too many connections; try again in {_AGAIN_S} s")
        else:
            self._late = self.loop.call_later(self.head_s, self._end_late)

    def connection_lost(self, exc: Exception | None) -> None:
        self._is_on_time()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if not self._has_ended:
            super().data_received(data)
            self._count_head(data)

    def _count_head(self, data: bytes) -> None:
        if not self._in_head or self._has_ended or self.transport.is_closing():
            return
        self._head_bytes += len(data)
        if self._head_bytes > LARGEST_HEAD:
            self._end(431, "request_too_large", f"request headers may have at most {LARGEST_HEAD:,} bytes")
        elif self._late is None:
            self._late = self.loop.call_later(self.head_s, self._end_late)

    def on_message_begin(self) -> None:
        self._in_head = True
        super().on_message_begin()
        self.scope.setdefault("extensions", {})[HANG_UP] = {"now": self.transport.abort}

    def on_headers_complete(self) -> None:
        self._in_head = False
        self._head_bytes = 0
        self._is_on_time()
        super().on_headers_complete()

    def send_400_response(self, msg: str) -> None:
        self._end(400, "request_invalid", "this is not HTTP/1.1" if msg.startswith("Invalid") else msg)

    def _is_answering(self) -> bool:
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is not None and not cycle.response_complete

    def _is_on_time(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _end_late(self) -> None:
        self._end(408, "request_too_slow", f"the request headers did not arrive within {self.head_s:g} s")

    def _end(self, status: int, code: str, detail: str) -> None:
        """Answer and close. While an earlier answer is under way, only close: the two would be mixed up."""
        self._is_on_time()
        self._has_ended = True
        if self._is_answering():
            self.transport.close()
            return
        body = bytes(problem(status, code, detail).body)
        again = f"retry-after: {_AGAIN_S}\r\n" if status == HTTPStatus.TOO_MANY_REQUESTS else ""
        head = f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\ncontent-type: application/problem+json\r\n{again}"
        self.transport.write(f"{head}content-length: {len(body)}\r\nconnection: close\r\n\r\n".encode() + body)
        self._hang_up()

    def _hang_up(self) -> None:
        """Close for writing first, so that unread data does not reset the connection at once (RFC 9112, 9.6)."""
        if self.transport.can_write_eof() and len(self.connections) <= 2 * self.most:
            self.transport.write_eof()
            self._late = self.loop.call_later(self.last_s, self.transport.close)
        else:
            self.transport.close()


def bounded(*, connections: int, head_s: float, last_s: float = 1.0) -> type[asyncio.Protocol]:
    """Return a uvicorn protocol that limits the connections, and the seconds that each has to send request headers.

    Violations are answered with status 429, 408 or 431 and a problem document. The connection is closed `last_s`
    seconds later, so that the client can read the answer.
    """
    return type("Connection", (_Connection,), {"most": connections, "head_s": head_s, "last_s": last_s})
