"""Foreign code ends its own call, whatever it raises."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from codemode.shared.foreign_code import ForeignExit, await_contained, call_contained, described

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

ENDINGS = [
    SystemExit("no such file"),
    KeyboardInterrupt("by hand"),
    asyncio.CancelledError("of its own"),
    GeneratorExit("closed"),
    BaseException("anything"),
]


def raises(error: BaseException) -> NoReturn:
    raise error


async def raises_later(error: BaseException) -> NoReturn:
    await asyncio.sleep(0)
    raise error


async def raises_in_a_task(error: BaseException) -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(raises_later(error))


async def raises_in_a_thread(error: BaseException) -> None:
    await asyncio.to_thread(raises, error)


async def cancels_itself(_: BaseException) -> None:
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    await asyncio.sleep(0)


@pytest.mark.parametrize("error", ENDINGS, ids=lambda error: type(error).__name__)
def test_no_exit_leaves_a_function(error: BaseException) -> None:
    with pytest.raises(ForeignExit, match=f"^{type(error).__name__}: {error}$"):
        call_contained(raises, error)


@pytest.mark.parametrize("error", ENDINGS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("work", [raises_later, raises_in_a_task, raises_in_a_thread, cancels_itself])
async def test_no_exit_leaves_a_coroutine(
    work: Callable[[BaseException], Coroutine[Any, Any, None]], error: BaseException
) -> None:
    if work is raises_in_a_task and isinstance(error, asyncio.CancelledError):
        await await_contained(work(error))  # a group ignores its cancelled tasks
        return
    with pytest.raises(BaseException) as raised:
        await await_contained(work(error))
    assert isinstance(raised.value, Exception)
    expected = "CancelledError" if work is cancels_itself else f"{type(error).__name__}: {error}"
    if work is raises_in_a_thread and isinstance(error, GeneratorExit):  # asyncio throws a new one
        expected = "GeneratorExit"
    assert described(raised.value).startswith(expected)


async def test_other_exceptions_pass_unchanged() -> None:
    with pytest.raises(LookupError, match="none"):
        call_contained(raises, LookupError("none"))
    with pytest.raises(TimeoutError, match="the door is held open"):
        await await_contained(raises_later(TimeoutError("the door is held open")))


async def test_the_end_of_an_iterator_is_an_exception_of_the_call() -> None:
    with pytest.raises(ForeignExit, match=r"^StopIteration\(\)$"):
        await asyncio.to_thread(call_contained, next, iter(()))


async def test_a_cancelled_caller_cancels_the_work_and_waits_for_its_end() -> None:
    began, ended = asyncio.Event(), asyncio.Event()

    async def work() -> None:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            ended.set()

    caller = asyncio.create_task(await_contained(work()))
    await began.wait()
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    assert ended.is_set()


async def test_a_result_that_work_returns_in_spite_of_its_cancellation_counts() -> None:
    began = asyncio.Event()

    async def work() -> str:
        began.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return "written"
        return "never"

    caller = asyncio.create_task(await_contained(work()))
    await began.wait()
    caller.cancel()
    assert await caller == "written"


async def test_the_task_factory_of_the_loop_stays_in_use() -> None:
    names = []

    def factory(loop: asyncio.AbstractEventLoop, work: Any, **options: Any) -> asyncio.Task[Any]:
        names.append(work.__name__)
        return asyncio.Task(work, loop=loop, **options)

    asyncio.get_running_loop().set_task_factory(factory)
    assert await await_contained(asyncio.sleep(0, 7)) == 7
    await asyncio.create_task(asyncio.sleep(0))
    assert names == ["_without_exit", "sleep"]


def test_an_exception_whose_text_fails_is_described_by_its_type() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise SystemExit

    assert described(Mute()) == "Mute()"
