"""The calls of one program, without a program."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from sandbox import Call, Limits
from sandbox.host.calls import CallDesk

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable


class Desk:
    """A desk whose answers are kept."""

    def __init__(self, handler: Callable[[Call], Awaitable[Any]]) -> None:
        self.has_room = True
        self.answers: dict[int, Any] = {}
        self.errors = 0
        self.answered = asyncio.Event()
        self.desk = CallDesk(
            handler,
            Limits(),
            on_answer=self._keep,
            on_stop=lambda _: None,
            has_room=lambda: self.has_room,
        )

    def _keep(self, call_id: int, answer: bytes, *, is_error: bool) -> None:
        self.answers[call_id] = json.loads(answer)
        self.errors += is_error
        self.answered.set()


def call(number: int) -> Call:
    return Call(number, str(number), "tool", {})


async def test_a_call_that_no_desk_makes_waits_for_nothing() -> None:
    await call(1).room()


async def test_a_handler_waits_for_room_until_the_answers_before_it_are_read() -> None:
    asked = asyncio.Event()

    async def answer(asking: Call) -> int:
        desk.has_room = False
        asked.set()
        await asking.room()
        return 1

    desk = Desk(answer)
    desk.desk.take([call(1)])
    await asked.wait()
    await asyncio.sleep(0)
    assert desk.answers == {}
    desk.has_room = True
    desk.desk.go_on()
    await desk.answered.wait()
    assert desk.answers == {1: 1}
    await desk.desk.close()


async def test_an_answer_that_is_no_data_is_an_error_of_the_call() -> None:
    async def answer(_: Call) -> object:
        return object()

    desk = Desk(answer)
    desk.desk.take([call(1)])
    await desk.answered.wait()
    assert (desk.answers[1]["kind"], desk.errors) == ("answer_invalid", 1)
    assert desk.answers[1]["message"] == "tool answered with something that is not JSON data"
    await desk.desk.close()


@pytest.mark.parametrize("error", [SystemExit(2), KeyboardInterrupt(), asyncio.CancelledError(), GeneratorExit()])
async def test_a_handler_that_exits_fails_its_call_and_no_other(error: BaseException) -> None:
    async def answer(asked: Call) -> int:
        await asyncio.sleep(0)
        if asked.id == 1:
            raise error
        return 2

    desk = Desk(answer)
    desk.desk.take([call(1), call(2)])
    while len(desk.answers) < 2:
        desk.answered.clear()
        await desk.answered.wait()
    assert desk.answers[1]["message"] == "tool failed inside the host"
    assert desk.answers[2] == 2


async def test_a_cancelled_call_gets_no_answer() -> None:
    began, ended = asyncio.Event(), asyncio.Event()

    async def answer(_: Call) -> int:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return 1

    desk = Desk(answer)
    desk.desk.take([call(1)])
    await began.wait()
    desk.desk.cancel(1)
    await ended.wait()
    await desk.desk.close()
    assert desk.answers == {}
