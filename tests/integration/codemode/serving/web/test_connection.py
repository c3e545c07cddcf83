"""What a connection may cost before there is a request: a real server, and clients that do not behave."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest
import uvicorn

from codemode.serving.http.listening import bind
from codemode.serving.web.connection import LARGEST_HEAD, bounded
from codemode.settings import ServerSettings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.types import Receive, Scope, Send

GET = b"GET / HTTP/1.1\r\nHost: localhost\r\n"


async def hello(_: Scope, receive: Receive, send: Send) -> None:
    await receive()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"hi"})


@asynccontextmanager
async def serving(*, most: int = 100, head_s: float = 30.0, last_s: float = 60.0) -> AsyncIterator[int]:
    with bind(ServerSettings(port=0)) as listener:
        listener.listen()
        http = bounded(connections=most, head_s=head_s, last_s=last_s)
        server = uvicorn.Server(uvicorn.Config(hello, log_level="critical", lifespan="off", http=http))
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        yield listener.getsockname()[1]
        server.should_exit = True
        await serving


async def answer(port: int, *pieces: bytes) -> tuple[int, dict[str, str]]:
    """The status and the problem that a request which is no request is answered with, before the server hangs up."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.writelines(pieces)
    head, _, body = (await reader.read()).partition(b"\r\n\r\n")
    writer.close()
    assert b"application/problem+json" in head
    return int(head[9:12]), json.loads(body)


async def test_several_requests_on_one_connection_are_answered() -> None:
    async with serving() as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for _ in range(3):
            writer.write(GET + b"X-Long: " + b"x" * (LARGEST_HEAD // 2) + b"\r\n\r\n")
            assert (await reader.readuntil(b"\r\n\r\nhi"))[9:12] == b"200"
        writer.close()


async def test_who_sends_no_head_is_hung_up_on() -> None:
    async with serving(head_s=0.1) as port:
        assert await answer(port) == await answer(port, GET)
        status, told = await answer(port, GET)
    assert (status, told["code"]) == (408, "request_too_slow")


async def test_a_second_request_has_as_long_for_its_head_as_the_first() -> None:
    async with serving(head_s=1.0) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(GET + b"\r\n")
        await reader.readuntil(b"hi")
        await asyncio.sleep(1.2)  # nothing is under way: a connection that is kept may be silent
        writer.write(GET)
        assert (await reader.read())[9:12] == b"408"
        writer.close()


async def test_a_head_without_an_end_is_refused() -> None:
    async with serving() as port:
        status, told = await answer(port, GET, b"X-Long: ", b"x" * (LARGEST_HEAD + 1))
    assert (status, told["code"]) == (431, "request_too_large")


async def test_who_goes_on_after_the_answer_reads_it_all_the_same() -> None:
    async with serving() as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(GET + b"X-Long: " + b"x" * LARGEST_HEAD)
        head = await reader.readuntil(b"\r\n\r\n")
        for _ in range(20):
            writer.write(b"x" * LARGEST_HEAD)
            await asyncio.sleep(0.01)
        rest = await reader.read()  # to the end: no reset
        writer.close()
    assert head[9:12] == b"431"
    assert json.loads(rest)["code"] == "request_too_large"


async def test_who_does_not_stop_is_hung_up_on() -> None:
    async with serving(last_s=0.1) as port:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(GET + b"X-Long: ")
        with pytest.raises(ConnectionError):
            while True:
                writer.write(b"x" * 1024)
                await writer.drain()
                await asyncio.sleep(0.01)


async def test_what_is_no_http_is_told_so() -> None:
    async with serving() as port:
        status, told = await answer(port, b"\x16\x03\x01 hello\r\n\r\n")
    assert (status, told["code"]) == (400, "request_invalid")


async def test_more_connections_than_there_may_be_are_told_to_come_again() -> None:
    async with serving(most=1) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(GET + b"\r\n")
        await reader.readuntil(b"hi")
        status, told = await answer(port)
        assert (status, told["code"]) == (429, "overloaded")
        writer.close()
        await writer.wait_closed()
