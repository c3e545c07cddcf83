"""One connection: the bytes of requests, broken connections, and large bodies, over real sockets."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from codemode.transports.http.addresses import Origin, origin
from codemode.transports.http.connection import ConnectError, Connection, ConnectionBroken, InvalidRequest, Request
from codemode.transports.http.connection import connect as connect_to
from tests.unit.codemode.transports.sockets import listening

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.unit.codemode.transports.sockets import Serve

PLACE = Origin("http", "api.test", 8080)
OK = b"HTTP/1.1 200 OK\r\n"


@asynccontextmanager
async def _connected(serve: Serve) -> AsyncIterator[tuple[Connection, Request]]:
    async with listening(serve) as port:
        place = origin(f"http://127.0.0.1:{port}")
        connection = await connect_to(place, "127.0.0.1", None, 5)
        try:
            yield connection, Request("GET", place, "/")
        finally:
            connection.close()
            await connection.wait_closed()


def _answering(*parts: bytes) -> Serve:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        for part in parts:
            writer.write(part)
            await writer.drain()

    return serve


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (Request("GET", PLACE, "/x?a=1"), b"GET /x?a=1 HTTP/1.1\r\nHost: api.test:8080\r\n\r\n"),
        (
            Request("GET", PLACE, "/", [("A", "é"), ("B", "")]),
            b"GET / HTTP/1.1\r\nA: \xc3\xa9\r\nB: \r\nHost: api.test:8080\r\n\r\n",
        ),
        (Request("POST", PLACE, "/"), b"POST / HTTP/1.1\r\nHost: api.test:8080\r\nContent-Length: 0\r\n\r\n"),
        (
            Request("DELETE", PLACE, "/", [], b"ab"),
            b"DELETE / HTTP/1.1\r\nHost: api.test:8080\r\nContent-Length: 2\r\n\r\nab",
        ),
    ],
)
def test_the_bytes_of_a_request(request_: Request, expected: bytes) -> None:
    assert request_.encoded() == expected


@pytest.mark.parametrize(
    "request_",
    [
        Request("GET", PLACE, "/ HTTP/1.1\r\nX: 1\r\n"),
        Request("GET", PLACE, "/a b"),
        Request("GET", PLACE, "/é"),
        Request("GET", PLACE, ""),
        Request("GET /", PLACE, "/"),
        Request("", PLACE, "/"),
        Request("GET", PLACE, "/", [("A", "1\r\nB: 2")]),
        Request("GET", PLACE, "/", [("A", "1\nB: 2")]),
        Request("GET", PLACE, "/", [("A", "1\0")]),
        Request("GET", PLACE, "/", [("A: 1\r\nB", "2")]),
        Request("GET", PLACE, "/", [("A ", "1")]),
        Request("GET", PLACE, "/", [("", "1")]),
        Request("GET", PLACE, "/", [("host", "other.test")]),
        Request("GET", PLACE, "/", [("Content-LENGTH", "1")]),
        Request("GET", PLACE, "/", [("Transfer-Encoding", "chunked")]),
    ],
)
async def test_a_request_that_could_be_read_as_another_is_not_sent(request_: Request) -> None:
    with pytest.raises(InvalidRequest, match="contain characters that HTTP does not allow"):
        request_.encoded()


async def test_a_body_of_many_parts_arrives_whole() -> None:
    size = 3_000_000
    serve = _answering(OK + b"Content-Length: %d\r\n\r\n" % size, *(b"a" * 100_000 for _ in range(size // 100_000)))
    async with _connected(serve) as (connection, request):
        answer = await connection.send(request)
        received = 0
        while part := await connection.read():
            received += len(part)
        assert (answer.status, received, connection.is_reusable) == (200, size, True)


async def test_a_reader_that_is_slow_lets_the_service_wait() -> None:
    size, written = 50_000_000, asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(OK + b"Content-Length: %d\r\n\r\n" % size + b"a" * size)
        await writer.drain()
        written.set()

    async with _connected(serve) as (connection, request):
        await connection.send(request)
        received = len(await connection.read())
        assert not written.is_set()
        while part := await connection.read():
            assert len(part) < 2_000_000
            received += len(part)
        assert received == size


async def test_a_connection_that_ends_before_the_answer_is_broken() -> None:
    async with _connected(_answering()) as (connection, request):
        with pytest.raises(ConnectionBroken, match="the service closed the connection without an answer"):
            await connection.send(request)
        with pytest.raises(ConnectionBroken):
            await connection.send(request)


async def test_a_connection_that_ends_within_the_answer_is_broken() -> None:
    async with _connected(_answering(OK + b"Content-Length: 3\r\n\r\nab")) as (connection, request):
        await connection.send(request)
        assert await connection.read() == b"ab"
        with pytest.raises(ConnectionBroken, match="the service closed the connection within its answer"):
            await connection.read()


async def test_a_body_without_a_length_ends_with_the_connection() -> None:
    async with _connected(_answering(OK + b"\r\nab")) as (connection, request):
        await connection.send(request)
        assert [await connection.read(), await connection.read()] == [b"ab", b""]
        assert not connection.is_reusable


async def test_an_answer_that_is_not_http_is_broken() -> None:
    async with _connected(_answering(b"SSH-2.0-OpenSSH_9.6\r\n\r\n")) as (connection, request):
        with pytest.raises(ConnectionBroken, match=r"its answer is not HTTP/1\.1: Expected HTTP/"):
            await connection.send(request)
        assert not connection.is_open


async def test_a_port_at_which_nobody_listens() -> None:
    async with listening(_answering()) as port:
        pass
    with pytest.raises(ConnectError, match=r"^Connection refused$"):
        await connect_to(origin(f"http://127.0.0.1:{port}"), "127.0.0.1", None, 5)
