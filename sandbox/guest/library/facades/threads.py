"""`concurrent.futures`, `threading` and `queue`: copies of the library's modules over jobs of the scheduler."""

from __future__ import annotations

from concurrent import futures
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sandbox.guest.library.allowlist import MODULES
from sandbox.guest.library.facades.copies import copies_of
from sandbox.guest.scheduling.ends import ENDS
from sandbox.guest.scheduling.hub import child_context
from sandbox.guest.scheduling.identity import here

if TYPE_CHECKING:
    from collections.abc import Callable

    from sandbox.guest.library.scene import Scene


def listed(module: str, copy: Any) -> dict[str, Any]:
    """Return the names of a copy that the allowlist has as facades."""
    return {name: getattr(copy, name) for name in MODULES[module].facade if hasattr(copy, name)}


def queue_names(scene: Scene) -> dict[str, Any]:
    """Return the names of `queue`."""
    return listed("queue", copies_of(scene)["queue"])


def threading_names(scene: Scene) -> dict[str, Any]:
    """Return the names of `threading`."""
    copy = copies_of(scene)["threading"]
    copy.local = copies_of(scene)["_threading_local"].local

    def excepthook(args: Any) -> None:
        if isinstance(args.exc_value, ENDS):
            raise args.exc_value
        if args.exc_type is not SystemExit:
            scene.note(f"{args.thread.name} ended with {args.exc_type.__name__}: {args.exc_value}")

    def finish() -> bool:
        executors = copies_of(scene).get("concurrent.futures.thread")
        workers = executors._threads_queues if executors is not None else ()
        kept = [each for each in copy.enumerate() if not each.daemon and each not in workers]
        left = [each for each in kept if each is not copy.main_thread()]
        for each in left:
            copy.Thread.join(each)
        return bool(left)

    copy.excepthook = excepthook
    copy.active_count = copy.activeCount = lambda: 1  # threads of the system; the program's are jobs
    scene.hub.endings.append(finish)
    return listed("threading", copy)


@lru_cache(maxsize=1)  # one class of executors for a program, which asyncio uses as well
def futures_names(scene: Scene) -> dict[str, Any]:
    """Return the names of `concurrent.futures`. The calls of a job are named by where it was submitted."""
    base, copy = copies_of(scene)["concurrent.futures._base"], copies_of(scene)["concurrent.futures.thread"]
    # asyncio takes futures of the library's own class.
    base.Future = type("Future", (base.Future, futures.Future), {"__module__": "concurrent.futures"})
    left: dict[Any, None] = {}

    class ThreadPoolExecutor(copy.ThreadPoolExecutor):  # type: ignore[name-defined,misc]
        def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
            for_worker, for_job = child_context(), child_context()

            def in_thread(thread: int) -> Any:
                here().thread = thread
                return fn(*args, **kwargs)

            submit = super().submit
            future = for_worker.run(submit, lambda: for_job.run(in_thread, here().thread))
            left[future] = None
            future.add_done_callback(left.pop)
            return future

    def finish() -> bool:
        waited = list(left)
        base.wait(waited)
        return bool(waited)

    ThreadPoolExecutor.__module__, ThreadPoolExecutor.__qualname__ = "concurrent.futures.thread", "ThreadPoolExecutor"
    scene.hub.endings.append(finish)
    names = {**vars(base), **vars(copy), "ThreadPoolExecutor": ThreadPoolExecutor}
    return {name: names[name] for name in MODULES["concurrent.futures"].facade}
