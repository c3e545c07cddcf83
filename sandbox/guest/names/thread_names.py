"""`concurrent.futures`, `threading`, `queue`: jobs of the scheduler under the names that programs know."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any

from sandbox.guest.concurrency import executor, queues, threads
from sandbox.guest.names.kinds import stand_in
from sandbox.guest.runtime.access import WRITABLE
from sandbox.guest.runtime.classes import BASES

if TYPE_CHECKING:
    from collections.abc import Callable

    from sandbox.guest.names.scene import Scene


def _futures(scene: Scene) -> dict[str, Any]:
    scene.hub.prepare()
    numbers = count(1)

    def make() -> executor.Future:
        return executor.Future(scene.hub, next(numbers))

    future = stand_in("Future", "concurrent.futures", executor.Future, make=make)
    return {**executor.make_names(scene.hub, numbers), "Future": future}


def _threading(scene: Scene) -> dict[str, Any]:
    scene.hub.prepare()

    def failed(name: str, error: BaseException) -> None:
        scene.note(f"{name} ended with {type(error).__name__}: {error}")

    names = threads.make_threading(scene.hub, count(1), failed)
    for name in ("Thread", "local"):
        BASES.add(names[name])
        WRITABLE.add(names[name])
    return names


def _queue(scene: Scene) -> dict[str, Any]:
    scene.hub.prepare()
    return queues.make_queue(scene.hub)


BUILDERS: dict[str, Callable[[Scene], dict[str, Any]]] = {
    "concurrent.futures": _futures,
    "threading": _threading,
    "queue": _queue,
}
