"""Places: the paths that name the calls of a program by their position in its tree of tasks.

The main program, each task and each job count their own events: calls made and children started. `"4"` is event 4 of
the main program; `"3.1"` is the first call of the child that was started as event 3. Timing does not change a path.
"""

from __future__ import annotations

import hashlib
from contextvars import ContextVar

#: Longer paths are replaced by a digest.
LONGEST = 160
#: The number of the main thread.
MAIN_THREAD = 1


class Place:
    """The position of one task, job or main program, and the number of its thread (`threading.get_ident`)."""

    __slots__ = ("_events", "_prefix", "thread")

    def __init__(self, prefix: str = "", thread: int = MAIN_THREAD) -> None:
        self._prefix = prefix
        self._events = 0
        self.thread = thread

    def next(self) -> str:
        """Return the path of the next event."""
        self._events += 1
        return f"{self._prefix}{self._events}"

    def child(self) -> Place:
        """Return the place of a child that is started as the next event."""
        path = self.next()
        if len(path) > LONGEST - 12:
            path = "~" + hashlib.blake2b(path.encode(), digest_size=16).hexdigest()
        return Place(path + ".", self.thread)


PLACE: ContextVar[Place | None] = ContextVar("place", default=None)
#: The innermost `asyncio.run` that a task was started in. Several can run at a time, in different jobs.
RUN: ContextVar[int] = ContextVar("run", default=0)


def here() -> Place:
    """Return the place of the code that runs."""
    place = PLACE.get()
    if place is None:
        raise RuntimeError("this code runs between tasks, where nothing can be called or started")
    return place
