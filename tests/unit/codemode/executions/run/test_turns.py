"""Turns of programs: bounded in all and for each caller, and served round robin."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from codemode.executions.run.turns import FairTurns


class Program:
    """One that holds a turn until it is let go. `order` lists those that began."""

    def __init__(self, turns: FairTurns, caller: str, order: list[str], name: str = "") -> None:
        self.let_go = asyncio.Event()
        self.task = asyncio.create_task(self._run(turns, caller, order, name or caller))

    async def _run(self, turns: FairTurns, caller: str, order: list[str], name: str) -> None:
        async with turns.turn(caller):
            order.append(name)
            await self.let_go.wait()

    async def end(self) -> None:
        self.let_go.set()
        await self.task


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_a_caller_has_its_own_turns() -> None:
    turns, order = FairTurns(8, 2), list[str]()
    anns = [Program(turns, "ann", order) for _ in range(5)]
    bob = Program(turns, "bob", order)
    await settle()
    assert order == ["ann", "ann", "bob"]
    for program in (*anns, bob):
        program.let_go.set()
    await asyncio.gather(*(program.task for program in (*anns, bob)))
    assert len(order) == 6


async def test_who_waits_is_served_round_robin() -> None:
    turns, order = FairTurns(1, 1), list[str]()
    first = Program(turns, "ann", order, "first")
    await settle()
    waiting = [Program(turns, caller, order, caller) for caller in ("ann", "ann", "bob", "eve")]
    await first.end()
    for one in waiting:
        one.let_go.set()
    await asyncio.gather(*(one.task for one in waiting))
    assert order == ["first", "ann", "bob", "eve", "ann"]


async def test_who_is_cancelled_leaves_its_place_to_others() -> None:
    turns, order = FairTurns(1, 1), list[str]()
    first, second, third = (Program(turns, name, order) for name in ("ann", "bob", "eve"))
    await settle()
    second.task.cancel()
    first.let_go.set()  # the turn is given at the moment of the cancellation
    with suppress(asyncio.CancelledError):
        await second.task
    await settle()
    assert order == ["ann", "eve"]
    await third.end()
    last = Program(turns, "bob", order)
    await settle()
    assert order[-1] == "bob"
    last.task.cancel()
    with suppress(asyncio.CancelledError):
        await last.task
    again = Program(turns, "bob", order)
    await settle()
    assert order == ["ann", "eve", "bob", "bob"]
    await again.end()
