"""`concurrent.futures`, `threading`, `queue`: jobs of the scheduler under the names that programs know."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any

from sandbox.guest.scheduling import executor, queues, threads

if TYPE_CHECKING:
    from sandbox.guest.library.scene import Scene


def futures_names(scene: Scene) -> dict[str, Any]:
    """The names of `concurrent.futures`."""
    scene.hub.prepare()
    return executor.make_names(scene.hub, count(1))


def threading_names(scene: Scene) -> dict[str, Any]:
    """The names of `threading`."""
    scene.hub.prepare()

    def failed(name: str, error: BaseException) -> None:
        scene.note(f"{name} ended with {type(error).__name__}: {error}")

    return threads.make_threading(scene.hub, count(1), failed)


def queue_names(scene: Scene) -> dict[str, Any]:
    """The names of `queue`."""
    scene.hub.prepare()
    return queues.make_queue(scene.hub)
