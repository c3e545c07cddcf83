# ruff: noqa: S311 - random numbers are seeded
"""Recorded programs go on from any point, on every engine."""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING, Any

import pytest

from sandbox import Failure, ProgramStopped
from tests.integration.sandbox.engines import SEED, START, run, tools
from tests.unit.sandbox.host.keeper import Keeper

if TYPE_CHECKING:
    from sandbox import Call, Engine
    from sandbox.testing import Tools


RECORDED = """
import asyncio, random, time, datetime
print("begin")
async def one(n):
    await asyncio.sleep(random.random() / 100)
    found = await gym.members.list(limit=n)
    return [found, random.random(), time.time()]
async def failing():
    try:
        await gym.broken()
    except ToolError as error:
        return str(error)
first = gym.members.add(at=str(datetime.datetime.now()))
time.sleep(0.01)
both = await asyncio.gather(one(1), one(2), failing())
print("end")
[first, both, gym.members.add(draw=random.random()), time.time()]
"""


async def test_a_recorded_program_goes_on_from_any_point(engine: Engine) -> None:
    whole = Keeper()
    first = await run(engine, RECORDED, seed=SEED, now=START, recording=whole)
    assert first.failure is None
    for cut in range(1, len(whole.delivered) + 1):
        keeper, answers = Keeper(whole.delivered[:cut]), tools()
        again = await run(engine, RECORDED, answers, seed=SEED, now=START, recording=keeper)
        assert (again.failure, again.output) == (None, first.output)
        recorded = [delivery.call for delivery in keeper.recorded if delivery.call]
        made = sorted(call.id for call in answers.calls)
        assert sorted([*recorded, *made]) == [1, 2, 3, 4, 5]
        assert keeper.output == first.output
        if cut == len(whole.delivered):
            assert (again.value, made) == (first.value, [])


TREE = """
import asyncio, random, time
log = []
async def leaf(n):
    if random.random() < .3:
        await asyncio.sleep(random.random() / 50)
    if random.random() < .2:
        try:
            await gym.broken(n=n)
        except ToolError as error:
            log.append(str(error))
    log.append((await gym.members.add(n=n, draw=random.randrange(100)))["draw"])
    return [n, time.time(), random.random()]
async def node(n, depth):
    if depth == 0:
        return await leaf(n)
    if random.random() < .3:
        log.append(gym.members.add(n=-n)["n"])
    return await asyncio.gather(*[node(n * 3 + k, depth - 1) for k in range(random.randrange(1, 4))])
tree = await node(1, 3)
[tree, log]
"""


@pytest.mark.parametrize("seed", range(4))
async def test_a_random_tree_of_tasks_makes_the_same_calls_again(engine: Engine, seed: int) -> None:
    jitter = random.Random(seed)

    async def add(**fields: Any) -> Any:
        await asyncio.sleep(jitter.random() / 500)
        return fields

    def answers() -> Tools:
        found = tools()
        found.answers["gym.members.add"] = add
        return found

    given: dict[str, Any] = {"seed": bytes([seed]) * 32, "now": START}
    whole, first = Keeper(jitter=jitter), answers()
    outcome = await run(engine, TREE, first, recording=whole, **given)
    calls = {call.id: (call.tool, call.arguments) for call in first.calls}
    for cut in sorted({*(jitter.randrange(1, len(whole.delivered)) for _ in range(3)), len(whole.delivered)}):
        keeper, more = Keeper(whole.delivered[:cut]), answers()
        again = await run(engine, TREE, more, recording=keeper, **given)
        assert again.failure is None
        assert all(calls[call.id] == (call.tool, call.arguments) for call in keeper.seen)
        if cut == len(whole.delivered):
            assert (again.value, more.calls) == (outcome.value, [])


async def test_the_same_seed_and_time_give_the_same_program(engine: Engine) -> None:
    code = "import random, datetime\n[random.random(), random.randint(1, 10**9), str(datetime.datetime.now())]"
    one, two = [await run(engine, code, seed=SEED, now=START) for _ in range(2)]
    assert one.value == two.value
    assert one.value[2].startswith("2031-05-06 07:08:09")
    assert (await run(engine, code, seed=b"t" * 32, now=START)).value != one.value


async def test_a_record_can_end_the_program(engine: Engine) -> None:
    failure = Failure("NondeterminismError", "the program differs from its record")

    class Strict(Keeper):
        def replayed(self, call: Call) -> None:
            raise ProgramStopped(failure)

    whole = Keeper()
    await run(engine, RECORDED, seed=SEED, now=START, recording=whole)
    outcome = await run(engine, RECORDED, seed=SEED, now=START, recording=Strict(whole.delivered))
    assert outcome.failure is failure


async def test_an_error_of_the_record_is_raised(engine: Engine) -> None:
    class Full(Keeper):
        async def deliver(self, deliveries: Any) -> bool:
            raise OSError("the disk is full")

    with pytest.raises(OSError, match="the disk is full"):
        await run(engine, "gym.members.list()", seed=SEED, now=START, recording=Full())
