"""Run code that users plug in, so that nothing it raises ends more than its own call.

An event loop treats some exceptions as its own: `SystemExit` and `KeyboardInterrupt` out of any task end the loop, and
`CancelledError` looks like a cancellation by the caller. Foreign code raises all of them for reasons of its own.
"""

from __future__ import annotations

import asyncio
from contextvars import ContextVar, copy_context
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine

P = ParamSpec("P")
T = TypeVar("T")

_IS_FOREIGN: ContextVar[bool] = ContextVar("is_foreign", default=False)


class ForeignExit(Exception):
    """An exception of foreign code that would have ended its caller. `str()` is its type and text."""

    def __init__(self, error: BaseException) -> None:
        self.error = error
        super().__init__(described(error))


def described(error: BaseException) -> str:
    """Return the type and text of an exception on one line. A group of one is described by its only member."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    if isinstance(error, ForeignExit):
        return str(error)
    try:
        text = str(error)
    except BaseException:  # noqa: BLE001 -- `__str__` is foreign, too
        text = ""
    return f"{type(error).__name__}: {text}" if text else f"{type(error).__name__}()"


def call_contained(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call foreign code. Raises its exceptions, and ForeignExit for those that would end more than this call."""
    try:
        return function(*args, **kwargs)
    except Exception as error:
        if isinstance(error, (StopIteration, StopAsyncIteration)):  # futures and coroutines cannot pass these on
            raise ForeignExit(error) from error
        raise
    except BaseException as error:
        raise ForeignExit(error) from error


async def await_contained(work: Awaitable[T]) -> T:
    """Await foreign code. Raises its exceptions, and ForeignExit for those that would end more than this call.

    CancelledError means that the caller was cancelled. The work is then cancelled, and its end awaited.
    """
    context = copy_context()
    context.run(_IS_FOREIGN.set, True)
    loop = asyncio.get_running_loop()
    _contain_tasks(loop)
    task = loop.create_task(_awaited(work), context=context)
    try:
        await asyncio.wait((task,))
    except asyncio.CancelledError:
        task.cancel()
        await asyncio.wait((task,))
        if task.cancelled():
            raise
    try:
        return task.result()
    except Exception:
        raise
    except BaseException as error:  # here, CancelledError is the work's own
        raise ForeignExit(error) from error


async def _awaited(work: Awaitable[T]) -> T:
    return await work


async def _without_exit(work: Coroutine[Any, Any, T]) -> T:
    """Await a task's work. An exit becomes an exception of that task; otherwise it would end the loop."""
    try:
        return await work
    except (SystemExit, KeyboardInterrupt) as error:
        raise ForeignExit(error) from error


def _contain_tasks(loop: asyncio.AbstractEventLoop) -> None:
    """Guard the tasks that foreign code starts on this loop. Other tasks are made as before."""
    made = loop.get_task_factory()
    if not isinstance(made, _TaskFactory):
        loop.set_task_factory(_TaskFactory(made))


class _TaskFactory:
    def __init__(self, made: Callable[..., asyncio.Future[Any]] | None) -> None:
        self._made = made or _task

    def __call__(self, loop: asyncio.AbstractEventLoop, work: Any, **options: Any) -> asyncio.Future[Any]:
        context = options.get("context")
        is_foreign = context.get(_IS_FOREIGN, False) if context is not None else _IS_FOREIGN.get()
        return self._made(loop, _without_exit(work) if is_foreign else work, **options)


def _task(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, Any], **options: Any) -> asyncio.Future[Any]:
    return asyncio.Task(work, loop=loop, **options)
