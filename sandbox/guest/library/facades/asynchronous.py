"""`asyncio`: the library's own primitives on our loop, and ours where the library takes only coroutines."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Iterator
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any, cast

from sandbox.guest.scheduling.awaitables import Ready, awaitable, is_awaitable
from sandbox.guest.scheduling.executor import Future
from sandbox.guest.scheduling.identity import PLACE
from sandbox.guest.tools import PendingCall, Record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from sandbox.guest.library.scene import Scene
    from sandbox.guest.scheduling.loop import Loop


def asyncio_names(scene: Scene) -> dict[str, Any]:
    """Return what starts and runs things."""
    scene.hub.prepare()
    return {**_starting(scene, scene.loop), **_running(scene, scene.loop)}


def context_names(scene: Scene) -> dict[str, Any]:
    """A new context keeps the place of the program, by which its calls are named."""

    def new() -> contextvars.Context:
        context = contextvars.Context()
        context.run(PLACE.set, PLACE.get())
        return context

    return {"Context": new}


def as_future(loop: Loop, value: Any) -> asyncio.Future[Any]:
    """Return the future of an awaitable, started; a plain value is done already."""
    if isinstance(value, PendingCall):
        return value.start()
    if isinstance(value, asyncio.Future):
        return value
    if is_awaitable(value):
        return loop.create_task(value)
    future = loop.create_future()
    future.set_result(value)
    return future


def _count_plain(scene: Scene, values: tuple[Any, ...]) -> None:
    """Say so when what should run in parallel has run already: calls that nobody followed to where they are awaited."""
    plain = sum(type(value) is Record or type(value) is list for value in values)
    if plain > 1:
        scene.note(
            f"{plain} calls that asyncio.gather was given had run before, one after another: call them inside of "
            "gather, in a list of their own, or in `async def` functions that await them"
        )


def _starting(scene: Scene, loop: Loop) -> dict[str, Any]:
    start = partial(as_future, loop)

    def gather(*awaitables: Any, return_exceptions: bool = False) -> Any:
        known: dict[int, asyncio.Future[Any]] = {}
        futures = []
        if len(awaitables) == 1 and isinstance(awaitables[0], list | tuple | set | Iterator):
            kind = type(awaitables[0]).__name__
            message = f"gather() takes the awaitables themselves, not a {kind} of them: write asyncio.gather(*calls)"
            raise TypeError(message)
        _count_plain(scene, awaitables)
        for value in awaitables:
            if id(value) not in known:
                known[id(value)] = start(value)
            futures.append(known[id(value)] if is_awaitable(value) else start(value))
        if not futures:
            done = loop.create_future()
            done.set_result([])
            return done
        return asyncio.gather(*futures, return_exceptions=return_exceptions)

    def create_task(coro: Any, *, name: str | None = None, context: Any = None, **_: Any) -> Any:
        return loop.create_task(coro if is_awaitable(coro) else Ready(coro), name=name, context=context)

    def as_completed(fs: Iterable[Any], *, timeout: float | None = None) -> Any:  # the library's signature
        return asyncio.as_completed([start(value) for value in fs], timeout=timeout)

    def wait(
        fs: Iterable[Any], *, timeout: float | None = None, return_when: str = asyncio.ALL_COMPLETED
    ) -> Any:  # the library's signature
        return asyncio.wait([start(value) for value in fs], timeout=timeout, return_when=return_when)

    def wait_for(fut: Any, timeout: float | None) -> Any:  # the library's signature
        return asyncio.wait_for(awaitable(fut), timeout)

    return {
        "gather": gather,
        "create_task": create_task,
        "ensure_future": lambda value, *, loop=None: start(value),
        "shield": lambda value: asyncio.shield(start(value)),
        "as_completed": as_completed,
        "wait": wait,
        "wait_for": wait_for,
    }


def _running(scene: Scene, loop: Loop) -> dict[str, Any]:
    def run(main: Any, *, debug: Any = None, loop_factory: Any = None) -> Any:
        if scene.is_async or asyncio.current_task(cast("Any", loop)) is not None:
            if asyncio.iscoroutine(main):
                main.close()
            raise RuntimeError("asyncio.run() cannot be called from a running event loop: write `await` instead")
        return loop.run_main(awaitable(main))

    async def to_thread(func: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        return await loop.run_in_executor(None, partial(func, *args, **kwargs))

    numbers = count(1)

    def run_coroutine_threadsafe(coro: Any, loop: Any) -> Any:
        future = Future(scene.hub, next(numbers))
        task = scene.loop.create_task(coro)
        task.add_done_callback(lambda done: _copy_end(done, future))
        future.add_done_callback(lambda ended: task.cancel() if ended.cancelled() else None)
        return future

    def get_running_loop() -> Loop:
        if not loop.is_running():
            raise RuntimeError("no running event loop")
        return loop

    get_loop = lambda: loop  # noqa: E731  # under three names
    return {
        "run": run,
        "Runner": _runner_class(run, loop),
        "to_thread": to_thread,
        "run_coroutine_threadsafe": run_coroutine_threadsafe,
        "get_event_loop": get_loop,
        "get_running_loop": get_running_loop,
        "new_event_loop": get_loop,
        "set_event_loop": lambda loop: None,
        "wrap_future": lambda future, *, loop=None: _wrap(scene.loop, future),
    }


def _runner_class(run: Callable[..., Any], loop: Loop) -> type:
    class Runner:
        """`asyncio.Runner`: runs coroutines one after another."""

        def __init__(self, *, debug: Any = None, loop_factory: Any = None) -> None:
            """Take what the library's takes."""

        def __enter__(self) -> Runner:
            return self

        def __exit__(self, *_: object) -> None:
            """Leave nothing behind."""

        def run(self, coro: Any, *, context: Any = None) -> Any:
            return run(coro)

        def get_loop(self) -> Loop:
            return loop

        def close(self) -> None:
            """Leave nothing behind."""

    Runner.__module__, Runner.__qualname__ = "asyncio", "Runner"
    return Runner


def _wrap(loop: Loop, future: Any) -> asyncio.Future[Any]:
    """Return an asyncio future that ends as an executor's future does."""
    if asyncio.isfuture(future):
        return future
    wrapped = loop.create_future()

    future.add_done_callback(lambda done: _copy_end(done, wrapped))
    return wrapped


def _copy_end(done: Any, future: Any) -> None:
    """Let a future end as another did."""
    if future.done():
        return
    if done.cancelled():
        future.cancel()
    elif done.exception() is not None:
        future.set_exception(done.exception())
    else:
        future.set_result(done.result())
