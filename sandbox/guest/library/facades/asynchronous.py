"""`asyncio`: the library's primitives on our loop. Where the library takes only coroutines, tool calls work, too."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from sandbox.guest.library.facades.copies import copies_of
from sandbox.guest.library.facades.threads import futures_names
from sandbox.guest.scheduling.awaitables import awaitable, is_awaitable
from sandbox.guest.scheduling.identity import PLACE
from sandbox.guest.tools import PendingCall, Record

if TYPE_CHECKING:
    from collections.abc import Callable

    from sandbox.guest.library.scene import Scene
    from sandbox.guest.scheduling.loop import Loop

#: Threads of the default executor: any number, so that calls in `asyncio.to_thread` run in parallel.
_ANY_NUMBER = 1 << 30
_chain: Any = asyncio.futures._chain_future  # type: ignore[attr-defined]


def context_names(scene: Scene) -> dict[str, Any]:
    """Return the names of `contextvars`. A new context keeps the place of the program, by which calls are named."""

    def new() -> contextvars.Context:
        context = contextvars.Context()
        context.run(PLACE.set, PLACE.get())
        return context

    return {"Context": new}


def asyncio_names(scene: Scene) -> dict[str, Any]:
    """Return the functions of `asyncio` that start and run things."""
    scene.hub.prepare()
    loop = scene.loop
    loop.new_executor = lambda: futures_names(scene)["ThreadPoolExecutor"](_ANY_NUMBER, "asyncio")
    return {**_starting(scene, loop), **_running(scene, loop)}


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


def _starting(scene: Scene, loop: Loop) -> dict[str, Any]:
    start = partial(as_future, loop)

    def gather(*awaitables: Any, return_exceptions: bool = False) -> Any:
        if len(awaitables) == 1 and isinstance(awaitables[0], list | tuple | set | Iterator):
            kind = type(awaitables[0]).__name__
            message = f"gather() takes the awaitables themselves, not a {kind} of them: write asyncio.gather(*calls)"
            raise TypeError(message)
        if not awaitables:
            return start([])
        _note_plain(scene, awaitables)
        known = {id(value): start(value) for value in {id(value): value for value in awaitables}.values()}
        return asyncio.gather(*[known[id(value)] for value in awaitables], return_exceptions=return_exceptions)

    return {
        "gather": gather,
        "create_task": lambda coro, **options: loop.create_task(awaitable(coro), **options),
        "ensure_future": lambda value, *, loop=None: start(value),
        "shield": lambda value: asyncio.shield(start(value)),
        "as_completed": lambda fs, *, timeout=None: asyncio.as_completed(map(start, fs), timeout=timeout),
        "wait": lambda fs, **options: asyncio.wait([start(value) for value in fs], **options),
        "wait_for": lambda fut, timeout: asyncio.wait_for(awaitable(fut), timeout),
    }


def _note_plain(scene: Scene, values: tuple[Any, ...]) -> None:
    """Note that calls which should run in parallel have run before `gather`, because nothing deferred them."""
    plain = sum(type(value) is Record or type(value) is list for value in values)
    if plain > 1:
        scene.note(
            f"{plain} calls that asyncio.gather was given had run before, one after another: call them inside of "
            "gather, in a list of their own, or in `async def` functions that await them"
        )


def _running(scene: Scene, loop: Loop) -> dict[str, Any]:
    its_loop = cast("Any", loop)

    def run(main: Any, *, debug: Any = None, loop_factory: Any = None) -> Any:
        if scene.is_async or asyncio.current_task(its_loop) is not None:
            if asyncio.iscoroutine(main):
                main.close()
            raise RuntimeError("asyncio.run() cannot be called from a running event loop: write `await` instead")
        return loop.run_main(awaitable(main))

    async def to_thread(func: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        return await loop.run_in_executor(None, partial(func, *args, **kwargs))

    def run_coroutine_threadsafe(coro: Any, loop: Any) -> Any:
        future = copies_of(scene)["concurrent.futures._base"].Future()
        _chain(scene.loop.create_task(coro), future)
        return future

    def get_running_loop() -> Loop:
        if not loop.is_running():
            raise RuntimeError("no running event loop")
        return loop

    return {
        "run": run,
        "to_thread": to_thread,
        "run_coroutine_threadsafe": run_coroutine_threadsafe,
        **dict.fromkeys(("get_event_loop", "new_event_loop"), lambda: loop),
        "get_running_loop": get_running_loop,
        "set_event_loop": lambda loop: None,
        "wrap_future": lambda future, *, loop=None: asyncio.wrap_future(future, loop=its_loop),
    }
