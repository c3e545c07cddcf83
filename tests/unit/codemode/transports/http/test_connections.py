"""Bytes after an answer must not become another answer, over real sockets, plain and with TLS."""

from __future__ import annotations

import asyncio
import ssl
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from codemode.sources.openapi.document import load_openapi
from codemode.transports.base import CallContext
from codemode.transports.http.addresses import PermittedOrigins, origin
from codemode.transports.http.connection import ConnectTimeout, Request
from codemode.transports.http.connections import ConnectionPool, Timeouts
from codemode.transports.http.network import Dialer
from codemode.transports.http.transport import HttpTransport, Reach
from tests.unit.codemode.transports.sockets import listening

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.unit.codemode.transports.sockets import Serve

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"


def _answer(body: bytes) -> bytes:
    return HEAD % len(body) + body


FORGED = _answer(b'"forged"')
CHUNKED = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n0\r\n0\r\n\r\n"
#: An answer that exactly fills one read of 64 KiB.
LONG = b'"%s"' % (b"a" * (64 * 1024 - len(HEAD % 10_000) - 2))
#: Bytes sent in reply to one request, and the value of its actual answer.
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
    """Answers its first request with `first`, every other with its number. `requests` lists them per connection."""
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


async def test_a_byte_that_nobody_asked_for_ends_an_idle_connection() -> None:
    speak, spoken = asyncio.Event(), asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        requests.append(1)
        await reader.readuntil(b"\r\n\r\n")
        writer.write(_answer(b"1"))
        await speak.wait()
        writer.write(FORGED)
        await reader.read()  # until the client closes the connection
        spoken.set()

    requests: list[int] = []
    async with listening(serve) as port, _pool(port) as (pool, request):
        assert await _body(pool, request) == b"1"
        speak.set()
        await spoken.wait()
        assert await _body(pool, request) == b"1"
    assert requests == [1, 1]


async def test_a_pool_has_no_more_connections_than_it_may() -> None:
    async with listening(_service(_answer(b"1"), [])) as port, _pool(port, most=1) as (pool, request):
        response = await pool.send(request)
        with pytest.raises(ConnectTimeout, match="no connection became free in time"):
            await pool.send(request, Timeouts(pool_s=0.01))
        response.close()
        assert await _body(pool, request)


async def test_an_idle_connection_gives_way_to_one_to_another_origin() -> None:
    ended = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(_answer(b"1"))
        await reader.read()
        ended.set()

    async with listening(serve) as port, listening(_service(_answer(b"2"), [])) as other:
        permitted = PermittedOrigins((origin(f"http://127.0.0.1:{port}"), origin(f"http://127.0.0.1:{other}")))
        pool = ConnectionPool(Dialer(permitted).dial, most=1)
        bodies = [await _body(pool, Request("GET", place, "/")) for place in permitted.origins]
        await ended.wait()
        await pool.aclose()
    assert bodies == [b"1", b"2"]


async def test_an_answer_that_is_not_read_ends_its_connection() -> None:
    requests: list[int] = []
    async with listening(_service(_answer(b"1" * 100), requests)) as port, _pool(port) as (pool, request):
        (await pool.send(request)).close()
        assert await _body(pool, request) == b"2"
    assert requests == [1, 1]


async def test_a_cancelled_request_leaves_its_place_and_ends_its_connection() -> None:
    asked, ended = asyncio.Event(), asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        if asked.is_set():
            writer.write(_answer(b"2"))
        asked.set()
        await reader.read()
        ended.set()

    async with listening(serve) as port, _pool(port, most=1) as (pool, request):
        task = asyncio.create_task(pool.send(request))
        await asked.wait()
        task.cancel()
        await ended.wait()
        assert await _body(pool, request) == b"2"


@asynccontextmanager
async def _pool(port: int, most: int = 2) -> AsyncIterator[tuple[ConnectionPool, Request]]:
    place = origin(f"http://127.0.0.1:{port}")
    pool = ConnectionPool(Dialer(PermittedOrigins((place,))).dial, most=most)
    try:
        yield pool, Request("GET", place, "/")
    finally:
        await pool.aclose()


async def _body(pool: ConnectionPool, request: Request) -> bytes:
    response = await pool.send(request)
    body = b""
    while part := await response.read():
        body += part
    response.close()
    return body
