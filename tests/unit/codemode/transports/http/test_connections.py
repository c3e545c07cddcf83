"""What a service sends behind an answer is nobody's answer: over real sockets, plain and with TLS."""

from __future__ import annotations

import ssl
from typing import TYPE_CHECKING, Any

import httpcore2
import pytest

from codemode.sources.openapi.document import load_openapi
from codemode.transports.base import CallContext
from codemode.transports.http.connections import Sockets
from codemode.transports.http.transport import HttpTransport, Reach
from tests.unit.codemode.transports.sockets import listening

if TYPE_CHECKING:
    import asyncio
    from pathlib import Path

    from tests.unit.codemode.transports.sockets import Serve

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"


def _answer(body: bytes) -> bytes:
    return HEAD % len(body) + body


FORGED = _answer(b'"forged"')
CHUNKED = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n0\r\n0\r\n\r\n"
#: Of which all that is read at once, 64 KiB, is one answer.
LONG = b'"%s"' % (b"a" * (64 * 1024 - len(HEAD % 10_000) - 2))
#: What answers a request on a connection, and what of it is meant.
BEHIND = {
    "an answer": (_answer(b"0") + FORGED, 0),
    "an answer behind chunks": (CHUNKED + FORGED, 0),
    "an answer behind none": (b"HTTP/1.1 204 No Content\r\n\r\n" + FORGED, None),
    "a head that goes on": (_answer(b"0") + b"HTTP/1.1 200 OK\r\nX-Forged: ", 0),
    "one byte": (_answer(b"0") + b"\n", 0),
    "an answer behind a long one": (_answer(LONG) + FORGED, LONG[1:-1].decode()),
    "more than is read at once": (_answer(b"0") + FORGED * 20_000, 0),
}


async def _called_twice(url: str, **reach: Any) -> list[Any]:
    document = {"openapi": "3.1.0", "paths": {"/x": {"get": {"operationId": "op"}}}}
    tool = load_openapi(document, name="api").tools[0]
    transport = HttpTransport(Reach("api", url, retries=0, **reach))
    try:
        return [await transport.call(tool, {}, CallContext()), await transport.call(tool, {}, CallContext())]
    finally:
        await transport.aclose()


def _service(first: bytes, requests: list[int]) -> Serve:
    """Answers its first request with `first`, every other with its number; `requests` are those of each connection."""
    asked = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal asked
        place = len(requests)
        requests.append(0)
        while await reader.readuntil(b"\r\n\r\n"):
            requests[place] += 1
            asked += 1
            writer.write(first if asked == 1 else _answer(b"%d" % asked))
            await writer.drain()

    return serve


@pytest.mark.parametrize("name", BEHIND)
async def test_what_stands_behind_an_answer_answers_nothing(name: str) -> None:
    sent, meant = BEHIND[name]
    requests: list[int] = []
    async with listening(_service(sent, requests)) as port:
        assert await _called_twice(f"http://127.0.0.1:{port}") == [meant, 2]
    assert requests == [1, 1]


@pytest.mark.parametrize("name", BEHIND)
async def test_nor_does_it_with_tls(name: str, authority: Path) -> None:
    sent, meant = BEHIND[name]
    requests: list[int] = []
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(authority / "server.pem", authority / "server.key")
    async with listening(_service(sent, requests), tls=tls) as port:
        reach = {"address": "127.0.0.1", "ca_file": str(authority / "ca.pem")}
        assert await _called_twice(f"https://api.test:{port}", **reach) == [meant, 2]
    assert requests == [1, 1]


async def test_a_connection_on_which_nothing_is_left_is_used_again() -> None:
    requests: list[int] = []
    async with listening(_service(CHUNKED, requests)) as port:
        assert await _called_twice(f"http://127.0.0.1:{port}") == [0, 2]
    assert requests == [2]


async def test_what_was_not_read_yet_is_seen() -> None:
    async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"ab")
        await writer.drain()

    async with listening(serve) as port:
        stream = await Sockets().connect_tcp("127.0.0.1", port, timeout=5)
        assert await stream.read(1) == b"a"
        assert stream.get_extra_info("is_readable")
        assert await stream.read(1) == b"b"
        assert await stream.read(1) == b""
        with pytest.raises(httpcore2.WriteError, match="given up by the service"):
            await stream.write(b"c")
        await stream.aclose()


async def test_a_port_at_which_nobody_listens() -> None:
    async with listening(_service(b"", [])) as port:
        pass
    with pytest.raises(httpcore2.ConnectError, match=r"^Connection refused$"):
        await Sockets().connect_tcp("127.0.0.1", port, timeout=5)
