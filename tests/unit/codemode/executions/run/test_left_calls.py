"""Sent calls go on without the program that made them."""

from __future__ import annotations

import asyncio

import pytest

from codemode.executions.run.left_calls import LeftCalls


class Service:
    """Answers when it is released. `ended` lists how its calls ended."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.given_up = asyncio.Event()
        self.released = asyncio.Event()
        self.ended: list[str] = []

    async def call(self) -> str:
        self.begun.set()
        try:
            await self.released.wait()
        except asyncio.CancelledError:
            self.ended.append("cut off")
            raise
        self.ended.append("answered")
        return "done"


async def cancelled(calls: LeftCalls, service: Service, recorded: list[str], *, is_sent: bool) -> None:
    """Make a call, and cancel it once it has begun."""

    async def left(outcome: str) -> None:
        recorded.append(outcome)

    program = asyncio.ensure_future(
        calls.guard(service.call(), is_sent=lambda: is_sent, left=left, given_up=service.given_up)
    )
    await service.begun.wait()
    program.cancel()
    with pytest.raises(asyncio.CancelledError):
        await program


async def test_a_sent_call_goes_on_when_its_program_cancels_it() -> None:
    calls, service, recorded = LeftCalls(), Service(), list[str]()
    await cancelled(calls, service, recorded, is_sent=True)
    assert (service.ended, service.given_up.is_set()) == ([], True)
    service.released.set()
    await calls.finish(60)
    assert (service.ended, recorded) == (["answered"], ["done"])


async def test_a_call_that_was_not_sent_is_cancelled_with_its_program() -> None:
    calls, service, recorded = LeftCalls(), Service(), list[str]()
    await cancelled(calls, service, recorded, is_sent=False)
    await calls.finish(60)
    assert (service.ended, recorded) == (["cut off"], [])


@pytest.mark.parametrize("within_s", [0, 0.01])
async def test_a_call_that_takes_longer_than_allowed_is_cut_off(within_s: float) -> None:
    calls, service, recorded = LeftCalls(), Service(), list[str]()
    await cancelled(calls, service, recorded, is_sent=True)
    await calls.finish(within_s)
    assert (service.ended, recorded) == (["cut off"], [])


async def test_an_awaited_call_returns_its_outcome_and_leaves_nothing() -> None:
    calls, service, recorded = LeftCalls(), Service(), list[str]()
    service.released.set()

    async def left(outcome: str) -> None:
        recorded.append(outcome)

    assert await calls.guard(service.call(), is_sent=lambda: True, left=left, given_up=service.given_up) == "done"
    await calls.finish(60)
    assert recorded == []
