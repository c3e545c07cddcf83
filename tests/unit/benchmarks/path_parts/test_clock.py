"""The stage clock, on a clock of the test's own."""

from __future__ import annotations

import asyncio

import pytest

from benchmarks.path_parts.clock import StageClock


class Time:
    """A clock that only `pass_by` moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def pass_by(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def time() -> Time:
    return Time()


def test_the_time_of_an_inner_stage_does_not_count_for_the_outer_one(time: Time) -> None:
    clock = StageClock(time)
    inner = clock.wrap(lambda: time.pass_by(2), "inner", "f")

    def outer() -> None:
        time.pass_by(1)
        inner()
        inner()
        time.pass_by(3)

    clock.wrap(outer, "outer", "g")()
    assert clock.snapshot() == {("outer", "g"): (4.0, 1), ("inner", "f"): (4.0, 2)}


async def test_the_time_in_which_a_coroutine_waits_does_not_count(time: Time) -> None:
    clock = StageClock(time)
    goes_on = asyncio.Event()

    async def waits() -> str:
        time.pass_by(1)
        await goes_on.wait()
        time.pass_by(2)
        return "done"

    task = asyncio.create_task(clock.wrap(waits, "stage", "f")())
    await asyncio.sleep(0)
    time.pass_by(100)
    goes_on.set()
    assert await task == "done"
    assert clock.snapshot()["stage", "f"] == (3.0, 2)


async def test_exceptions_and_cancellation_reach_a_measured_coroutine(time: Time) -> None:
    clock = StageClock(time)
    came: list[str] = []

    async def waits() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            came.append("cancelled")
            time.pass_by(1)
            raise

    task = asyncio.create_task(clock.wrap(waits, "stage", "f")())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert came == ["cancelled"]
    assert clock.snapshot()["stage", "f"] == (1.0, 2)


def test_an_exception_of_a_measured_function_ends_its_stage(time: Time) -> None:
    clock = StageClock(time)

    def fails() -> None:
        time.pass_by(1)
        raise ValueError

    def outer() -> None:
        with pytest.raises(ValueError):
            clock.wrap(fails, "inner", "f")()
        time.pass_by(5)

    clock.wrap(outer, "outer", "g")()
    assert clock.snapshot() == {("outer", "g"): (5.0, 1), ("inner", "f"): (1.0, 1)}
