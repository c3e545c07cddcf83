from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from codemode.serving.web.admission import Overloaded
from codemode.serving.web.connection import HANG_UP
from codemode.serving.web.outgoing import PIECE, DataResponse, Outgoing, Places, encoded
from sandbox import JsonText

if TYPE_CHECKING:
    from starlette.types import Message


async def nothing_comes() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


async def test_a_client_that_does_not_read_is_hung_up_on() -> None:
    ended: list[str] = []
    scope: dict[str, Any] = {"type": "http", "extensions": {HANG_UP: {"now": lambda: ended.append("now")}}}

    async def never(_: Message) -> None:
        await asyncio.Event().wait()

    await Outgoing(DataResponse({"a": 1}), piece_s=0.01)(scope, nothing_comes, never)
    assert ended == ["now"]


async def test_a_client_that_takes_each_piece_just_in_time_is_hung_up_on() -> None:
    ended: list[str] = []
    scope: dict[str, Any] = {"type": "http", "extensions": {HANG_UP: {"now": lambda: ended.append("now")}}}

    async def slowly(_: Message) -> None:
        await asyncio.sleep(0.02)

    answer = DataResponse({"value": JsonText(b'"' + b"x" * PIECE * 1_000 + b'"')})
    await Outgoing(answer, piece_s=10.0, body_s=0.1)(scope, nothing_comes, slowly)
    assert ended == ["now"]


async def test_a_large_answer_goes_in_pieces() -> None:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    await Outgoing(DataResponse({"value": JsonText(b'"' + b"x" * PIECE + b'"')}))({"type": "http"}, nothing_comes, send)
    bodies = [message["body"] for message in sent if message["type"] == "http.response.body"]
    assert max(map(len, bodies)) == PIECE
    assert b"".join(bodies) == b'{"value":"' + b"x" * PIECE + b'"}'


async def test_a_small_answer_is_one_piece_which_ends_it() -> None:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    await DataResponse({"id": "a", "usage": {"calls": 1}, "value": JsonText(b"1")})(
        {"type": "http"}, nothing_comes, send
    )
    _, body = sent
    assert (body["body"], body["more_body"]) == (b'{"id":"a","usage":{"calls":1},"value":1}', False)


def test_a_text_is_sent_as_it_is() -> None:
    assert encoded({"id": "a", "outcome": {"value": JsonText(b"[1e0]"), "n": [1]}}) == (
        b'{"id":"a","outcome":{"value":[1e0],"n":[1]}}'
    )


async def test_places_are_bounded_for_a_key_and_in_all() -> None:
    places = Places(2, 1, "answers")
    async with places.place("a"):
        with pytest.raises(Overloaded):
            await places.place("a").__aenter__()
        async with places.place("b"):
            with pytest.raises(Overloaded):
                await places.place("c").__aenter__()
    async with places.place("a"):
        pass
