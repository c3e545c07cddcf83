"""One HTTP/1.1 connection, which carries a request at a time.

It closes when bytes arrive that belong to no answer. They would be read as the answer to the next request, which may be
another caller's (response desynchronization).
"""

from __future__ import annotations

import asyncio
import os
import re
import ssl
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from codemode.transports.http.response_parser import InvalidResponse, ResponseParser

if TYPE_CHECKING:
    from codemode.transports.http.addresses import Origin

#: Bytes of a body that wait for their reader before reading from the socket pauses.
_WAITING_BYTES = 256 * 1024

#: Methods that send a Content-Length even without a body (RFC 9110, 8.6).
_SAY_LENGTH = frozenset(("POST", "PUT", "PATCH"))

#: Headers that the connection writes itself, because they say where a request goes and where it ends.
FRAMING = ("host", "content-length", "transfer-encoding")

_NAME = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_VALUE = r"[^\x00-\x08\x0a-\x1f\x7f\ud800-\udfff]*"
#: A request line and headers (RFC 9112, 3; RFC 9110, 5.5).
_HEAD = re.compile(rf"{_NAME} [!-~]+ HTTP/1\.1\r\n(?:(?!(?i:{'|'.join(FRAMING)}):){_NAME}: {_VALUE}\r\n)*")


class ConnectError(Exception):
    """No connection was established. Nothing was sent."""


class ConnectTimeout(ConnectError):
    """No connection was established, or became free, in time. Nothing was sent."""


class InvalidRequest(Exception):
    """The request cannot be written as HTTP/1.1. Nothing was sent."""


class ConnectionBroken(Exception):
    """The connection ended, or became unreadable, before the answer was complete."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request to an origin. `headers` are without Host and Content-Length, and sent as UTF-8."""

    method: str
    origin: Origin
    target: str
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: bytes | None = None

    def encoded(self) -> bytes:
        """Return the bytes of the request. Raises InvalidRequest if a part of it could be read as another part."""
        lines = [f"{self.method} {self.target} HTTP/1.1\r\n", *(f"{name}: {value}\r\n" for name, value in self.headers)]
        head = "".join(lines)
        if head.count("\n") != len(lines) or not _HEAD.fullmatch(head):
            raise InvalidRequest("its method, target or headers contain characters that HTTP does not allow there")
        head += f"Host: {self.origin.authority}\r\n"
        body = self.body or b""
        if self.body is not None or self.method in _SAY_LENGTH:
            head += f"Content-Length: {len(body)}\r\n"
        return f"{head}\r\n".encode() + body


class Connection(asyncio.Protocol):
    """A connection to an origin. The caller sends a request, reads the answer, and asks whether it `is_reusable`."""

    def __init__(self, origin: Origin) -> None:
        self.origin = origin
        self.is_open = False
        self.expires = 0.0
        self._loop = asyncio.get_running_loop()
        self._closed = self._loop.create_future()
        self._arrived: asyncio.Future[None] | None = None
        self._answer: ResponseParser | None = None
        self._error = ""
        self._is_paused = False

    async def send(self, request: Request, timeout_s: float | None = None) -> ResponseParser:
        """Send a request and return the answer once its head is there. Raises InvalidRequest, ConnectionBroken.

        Raises TimeoutError if nothing arrives for `timeout_s`, as does `read`.
        """
        encoded = request.encoded()
        if not self.is_open:
            raise ConnectionBroken(self._error)
        answer = self._answer = ResponseParser(answers_head=request.method == "HEAD")
        self._transport.write(encoded)
        while not answer.has_head:
            await self._arrival(timeout_s)
        return answer

    async def read(self, timeout_s: float | None = None) -> bytes:
        """Return the next part of the answer's body, b"" at its end. Raises ConnectionBroken."""
        answer = self._answer
        while answer is not None and not answer.waiting and not answer.is_complete:
            await self._arrival(timeout_s)
        if answer is None or not answer.waiting:
            return b""
        data = answer.take()
        if self._is_paused:
            self._is_paused = False
            self._transport.resume_reading()
        return data

    @property
    def is_reusable(self) -> bool:
        """Whether the answer is complete, nothing followed it, and another request may be sent."""
        answer = self._answer
        return (
            self.is_open
            and answer is not None
            and answer.is_complete
            and answer.keeps_alive
            and not answer.has_excess
            and not answer.waiting
        )

    def rest(self, expires: float) -> None:
        """Wait for another request until `expires` (loop clock). A byte that arrives meanwhile ends the connection."""
        self._answer = None
        self.expires = expires

    def close(self) -> None:
        """Close the connection at once."""
        self._end("closed")
        self._transport.abort()

    async def wait_closed(self) -> None:
        """Return when the socket is closed."""
        await self._closed

    async def _arrival(self, timeout_s: float | None) -> None:
        if self._error:
            raise ConnectionBroken(self._error)
        self._arrived = self._loop.create_future()
        try:
            if timeout_s is None:
                await self._arrived
            else:
                async with asyncio.timeout(timeout_s):
                    await self._arrived
        finally:
            self._arrived = None

    def _wake(self) -> None:
        if self._arrived is not None and not self._arrived.done():
            self._arrived.set_result(None)

    def _end(self, error: str) -> None:
        """Refuse further requests. An answer that is incomplete now stays so."""
        if self.is_open:
            self.is_open = False
            self._error = error
            self._wake()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # it is one
        """Keep the socket."""
        self._transport = transport
        self.is_open = True

    def data_received(self, data: bytes) -> None:
        """Parse bytes of the answer. Close the connection if there is none."""
        answer = self._answer
        if answer is None:
            self.close()
            return
        try:
            answer.feed(data)
        except InvalidResponse as error:
            self._end(f"its answer is not HTTP/1.1: {error}")
            self._transport.abort()
            return
        if answer.waiting > _WAITING_BYTES and not answer.is_complete:
            self._is_paused = True
            self._transport.pause_reading()
        self._wake()

    def eof_received(self) -> None:
        """Note that the service sends no more, which closes the socket."""
        self._lose(None)

    def connection_lost(self, exc: Exception | None) -> None:
        """Note that the socket is closed."""
        self._lose(exc)
        if not self._closed.done():
            self._closed.set_result(None)

    def _lose(self, error: Exception | None) -> None:
        if error is None and self._answer is not None:
            try:
                self._answer.end()
            except InvalidResponse as invalid:
                self._end(str(invalid))
        self._end(_reason(error) if error is not None else "the service closed the connection")


async def connect(place: Origin, address: str, tls: ssl.SSLContext | None, timeout_s: float | None) -> Connection:
    """Return a connection to an origin at an IP address. Raises ConnectError."""
    try:
        async with asyncio.timeout(timeout_s):
            _, connection = await asyncio.get_running_loop().create_connection(
                lambda: Connection(place),
                address,
                place.port,
                ssl=tls,
                server_hostname=place.host if tls is not None else None,
            )
    except TimeoutError as error:
        raise ConnectTimeout(str(error) or "no connection in time") from None
    except OSError as error:
        raise ConnectError(_reason(error)) from None
    return connection


def _reason(error: Exception) -> str:
    """Return the system's text of an error, without addresses."""
    number = getattr(error, "errno", None)
    if number is not None and not isinstance(error, ssl.SSLError):
        return os.strerror(number)
    return str(error) or type(error).__name__
