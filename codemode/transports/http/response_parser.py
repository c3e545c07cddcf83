"""One HTTP/1.1 response (RFC 9112), parsed by llhttp. No I/O."""

from __future__ import annotations

import re
from http import HTTPStatus

from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

#: Largest head in bytes. Common servers and clients accept 8 to 256 KiB.
MOST_HEAD_BYTES = 100 * 1024

#: The empty line after the headers. A lone LF may end a line (RFC 9112, 2.2).
_HEAD_END = re.compile(rb"\n\r?\n")


class InvalidResponse(Exception):
    """The bytes are not an HTTP/1.1 response."""


class ResponseParser:
    """Collects status, raw headers and body parts of one response, and skips informational (1xx) responses.

    `has_excess` means that more bytes arrived than the response has. `keeps_alive` says whether the connection may
    carry another request. `waiting` is the number of bytes in `parts`, which the reader takes with `take`.
    """

    def __init__(self, *, answers_head: bool = False) -> None:
        self.status = 0
        self.headers: list[tuple[bytes, bytes]] = []
        self.has_head = self.is_complete = self.has_excess = self.keeps_alive = False
        self.waiting = 0
        self._parts: list[bytes] = []
        self._answers_head = answers_head
        self._head = b""
        self._is_chunked = False
        self._parser = HttpResponseParser(self)
        self._parser.set_dangerous_leniencies(lenient_optional_cr_before_lf=True)

    def feed(self, data: bytes) -> None:
        """Parse the next bytes. Raises InvalidResponse."""
        if not self.has_head:
            data = self._feed_head(data)
        if not data:
            return
        if self.is_complete:
            self.has_excess = True
            return
        body_before = self.waiting
        self._parse(data)
        if self.is_complete and not self._is_chunked:
            self.has_excess = self.has_excess or self.waiting - body_before < len(data)

    def end(self) -> None:
        """Note the end of the connection, which ends a body without a length. Raises InvalidResponse."""
        if self.is_complete:
            return
        if not self.has_head:
            raise InvalidResponse("the service closed the connection without an answer")
        if self._is_chunked or any(name.lower() in _WITH_LENGTH for name, _ in self.headers):
            raise InvalidResponse("the service closed the connection within its answer")
        self.is_complete = True

    def take(self) -> bytes:
        """Return the body bytes that have arrived since the last call."""
        data = self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)
        self._parts.clear()
        self.waiting = 0
        return data

    def _feed_head(self, data: bytes) -> bytes:
        """Parse up to the end of the head. Return the bytes after it."""
        start = max(0, len(self._head) - 2)
        data = self._head + data
        while not self.has_head:
            end = _HEAD_END.search(data, start)
            if end is None:
                if len(data) > MOST_HEAD_BYTES:
                    message = f"its head is longer than {MOST_HEAD_BYTES:,} bytes"
                    raise InvalidResponse(message)
                self._head = data
                return b""
            self._parse(data[: end.end()])
            data, start = data[end.end() :], 0
        self.is_complete = self.is_complete or self._answers_head
        return data

    def _parse(self, data: bytes) -> None:
        try:
            self._parser.feed_data(data)
        except HttpParserUpgrade:
            raise InvalidResponse("it switches to another protocol, which was not requested") from None
        except HttpParserError as error:
            if not self.is_complete:
                raise InvalidResponse(str(error)) from None
            self.has_excess = True

    def on_message_begin(self) -> None:
        """Refuse a second answer. This stops the parser, so that it calls nothing else."""
        if self.is_complete:
            raise InvalidResponse("a second answer")

    def on_header(self, name: bytes, value: bytes) -> None:
        """Collect a header. Trailers are dropped (RFC 9110, 6.5.1)."""
        if not self.has_head:
            self.headers.append((name, value))

    def on_headers_complete(self) -> None:
        """Take the status. The headers of informational responses are dropped."""
        self.status = self._parser.get_status_code()
        self.has_head = self.status >= HTTPStatus.OK
        if not self.has_head:
            self.headers.clear()

    def on_chunk_header(self) -> None:
        """Note that the body has chunks."""
        self._is_chunked = True

    def on_body(self, part: bytes) -> None:
        """Collect a part of the body."""
        self.waiting += len(part)
        self._parts.append(part)

    def on_message_complete(self) -> None:
        """Note the end of a response. One that is only informational precedes the actual one."""
        self.is_complete = self.has_head
        self.keeps_alive = self._parser.should_keep_alive()


_WITH_LENGTH = (b"content-length", b"transfer-encoding")
