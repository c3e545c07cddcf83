"""How requests are taken in: a real server, so that bodies can come as slowly as they like."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest
import uvicorn
from fastapi import FastAPI

from codemode.gateway.caller import Caller
from codemode.serving.http.intake import EARLY_S, REFUSALS_PER_S, STRANGERS_BYTES, Intake
from codemode.serving.http.listening import bind
from codemode.serving.web.admission import Admission
from codemode.settings import LoadSettings, ServerSettings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.types import Message, Receive, Scope, Send


@asynccontextmanager
async def serving(admission: Admission, body_s: float = 5.0) -> AsyncIterator[int]:
    """A server with one path that makes work; its port."""
    app = FastAPI()
    app.add_middleware(Intake, admission=admission, looks=admission, limit_bytes=100, body_s=body_s)

    @app.post("/v1/execute")
    async def echo(body: dict[str, str]) -> dict[str, str]:
        return body

    with bind(ServerSettings(port=0)) as listener:
        listener.listen()
        server = uvicorn.Server(uvicorn.Config(app, log_level="critical", lifespan="off"))
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        yield listener.getsockname()[1]  # it is bound: who connects waits until it is served
        server.should_exit = True
        await serving


def admission(**settings: float) -> Admission:
    return Admission(LoadSettings.model_validate(settings), processors=1)


async def send(port: int, *pieces: bytes, length: int | None = None, ends: bool = True) -> tuple[int, dict[str, str]]:
    """The status and the answer to a body in pieces; with a `length` in one, else in chunks."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = "POST /v1/execute HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n"
    how = "Transfer-Encoding: chunked" if length is None else f"Content-Length: {length}"
    writer.write(f"{head}{how}\r\n\r\n".encode())
    for piece in pieces:
        writer.write(piece if length is not None else f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
    if length is None and ends:
        writer.write(b"0\r\n\r\n")
    answer = await reader.read()
    writer.close()
    head_, _, body = answer.partition(b"\r\n\r\n")
    return int(head_.split()[1]), {"head": head_.decode().lower(), **json.loads(body)}


@pytest.mark.parametrize("chunked", [False, True])
async def test_a_body_within_the_limit_passes(chunked: bool) -> None:
    body = b'{"a": "b"}'
    async with serving(admission()) as port:
        status, answer = await send(port, body[:4], body[4:], length=None if chunked else len(body))
    assert (status, answer["a"]) == (200, "b")


@pytest.mark.parametrize("chunked", [False, True])
async def test_a_longer_body_is_refused_whether_it_says_its_length_or_not(chunked: bool) -> None:
    body = b'{"a": "' + b"b" * 200 + b'"}'
    async with serving(admission()) as port:
        status, answer = await send(port, body, length=None if chunked else len(body))
    assert (status, answer["code"]) == (413, "request_too_large")


async def test_a_request_without_a_key_has_a_small_body_on_every_other_path() -> None:
    received: list[int] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        received.append(len((await receive())["body"]))

    async def ask(size: int, caller: Caller | None) -> list[Message]:
        intake = Intake(app, admission=admission(), looks=admission(), limit_bytes=1_000_000, body_s=5)
        scope = {"type": "http", "method": "POST", "path": "/console/login", "headers": [], "state": {"caller": caller}}
        sent: list[Message] = []

        async def receive() -> Message:
            return {"type": "http.request", "body": b"x" * size}

        async def send(message: Message) -> None:
            sent.append(message)

        await intake(scope, receive, send)
        return sent

    assert await ask(STRANGERS_BYTES, None) == []
    refused = await ask(STRANGERS_BYTES + 1, None)
    assert refused[0]["status"] == 413
    assert b"at most 16,384 bytes" in refused[1]["body"]
    assert await ask(STRANGERS_BYTES + 1, Caller("key:1")) == []
    assert received == [STRANGERS_BYTES, STRANGERS_BYTES + 1]


async def test_a_body_that_does_not_come_is_refused_and_holds_nobody_up() -> None:
    async with serving(admission(running=1), body_s=1) as port:
        slow = asyncio.create_task(send(port, b'{"a', ends=False))
        status, _ = await send(port, b"{}")
        assert (status, (await slow)[0]) == (200, 408)


async def test_what_there_is_no_room_for_is_told_when_to_come_again() -> None:
    full = admission(running=1, waiting=0)
    async with serving(full) as port, full.turn("somebody"):
        status, answer = await send(port, b"{}")
    assert (status, answer["code"]) == (429, "overloaded")
    assert "retry-after: 1" in answer["head"]
    assert "application/problem+json" in answer["head"]


async def test_what_there_is_no_room_for_is_refused_before_its_body_is_read() -> None:
    full = admission(running=1, waiting=0)
    async with serving(full) as port, full.turn("somebody"):
        status, _ = await send(port, b'{"a', ends=False)
    assert status == 429


async def test_a_connection_is_kept_when_a_request_on_it_was_refused() -> None:
    full = admission(running=1, waiting=0)
    body = b'{"a": "b"}'
    head = (
        b"POST /v1/execute HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n"
    )
    async with serving(full) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        async with full.turn("somebody"):
            writer.write(head + body[:4])
            refused = await reader.readuntil(b'"retry_after_s":1}')
            writer.write(body[4:])
        writer.write(head + body)
        taken = await reader.readuntil(body.replace(b" ", b""))
        writer.close()
    assert (refused[9:12], taken[9:12]) == (b"429", b"200")


async def test_a_refusal_that_comes_too_soon_after_others_is_held_back() -> None:
    full = admission(running=1, waiting=0)
    async with serving(full) as port, full.turn("somebody"):
        started = asyncio.get_running_loop().time()
        answers = await asyncio.gather(*(send(port, b"{}") for _ in range(300)))
        took = asyncio.get_running_loop().time() - started
    assert {status for status, _ in answers} == {429}
    assert took > 300 / REFUSALS_PER_S - EARLY_S


LOOKS = (
    "GET /v1/approvals",
    "GET /v1/approvals/ap_1",
    "POST /v1/approvals/ap_1",
    "GET /v1/executions",
    "GET /v1/executions/ex_1",
    "POST /v1/executions/ex_1/cancel",
    "GET /v1/plans",
    "GET /v1/results/h_1",
    "GET /v1/saved",
    "POST /v1/saved",
    "GET /v1/sources",
    "GET /v1/tools",
    "GET /console/approvals",
    "GET /console/cost",
    "POST /console/check",
)


@pytest.mark.parametrize("look", LOOKS)
async def test_every_request_of_a_caller_takes_a_place_of_its_key(look: str) -> None:
    method, path = look.split()
    answered, begun = asyncio.Event(), asyncio.Semaphore(0)
    statuses: list[int] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        begun.release()
        await answered.wait()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    looks = admission(running=4, waiting=0)
    intake = Intake(app, admission=admission(running=1), looks=looks, limit_bytes=100, body_s=5)

    async def request(key: str) -> None:
        async def receive() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Message) -> None:
            if message["type"] == "http.response.start":
                statuses.append(message["status"])

        state = {"caller": Caller(key, "default")}
        await intake({"type": "http", "method": method, "path": path, "headers": [], "state": state}, receive, send)

    first = [asyncio.create_task(request("ann")) for _ in range(3)]
    for _ in first:
        await begun.acquire()
    await request("ann")
    assert statuses == [429]
    other = asyncio.create_task(request("bob"))
    await begun.acquire()
    answered.set()
    await asyncio.gather(*first, other)
    assert (statuses, looks.running) == ([429, 200, 200, 200, 200], 0)
