"""What the Monty engine does beside the contract."""

from __future__ import annotations

import asyncio

from sandbox import Limits, MontySandbox
from sandbox.testing import Tools


async def test_closing_the_engine_ends_its_programs_and_it_can_be_used_again() -> None:
    engine = MontySandbox()
    answers = Tools({"gym.get": 1})
    answers.hold("gym.get")
    running = asyncio.create_task(engine.run("gym.get()", names=("gym",), call=answers))
    await answers.wait_for(1)
    await engine.aclose()
    outcome = await running
    assert outcome.failure is not None
    assert (outcome.status, outcome.failure.message) == ("crashed", "the engine was closed before the program ended")
    assert len(answers.cancelled) == 1
    assert (await engine.run("1")).value == 1
    await engine.aclose()


async def test_more_programs_than_may_run_wait_for_their_turn() -> None:
    answers = Tools({"gym.get": 1})
    answers.hold("gym.get")
    async with MontySandbox(workers=1, running=2) as engine:
        runs = [asyncio.create_task(engine.run("gym.get()", names=("gym",), call=answers)) for _ in range(3)]
        await answers.wait_for(2)
        assert len(answers.calls) == 2
        answers.release("gym.get")
        assert [(await each).value for each in runs] == [1, 1, 1]


async def test_it_names_its_version_once_it_has_started() -> None:
    engine = MontySandbox()
    assert dict(engine.isolation) == {}
    async with engine:
        assert list(engine.isolation) == ["interpreter"]
        assert engine.isolation["interpreter"].startswith("in force (pydantic-monty 1.")


async def test_names_of_tools_are_asked_for_a_bounded_number_of_times() -> None:
    code = "n = 0\nwhile True:\n    getattr(gym, 'a' + str(n))\n    n += 1"
    async with MontySandbox() as engine:
        outcome = await engine.run(code, names=("gym",), limits=Limits(wall_s=120, calls=0))
    assert outcome.failure is not None
    assert (outcome.status, outcome.failure.type) == ("failed", "RuntimeError")
    assert "10000" in outcome.failure.message
