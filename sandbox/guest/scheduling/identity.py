"""Places: each call of a program is named by where it stands in the tree of the program's tasks.

The main program, each task and each job counts its own events (calls made, children started). `"4"` is event 4 of the
main program, `"3.1"` the first call of the child that was started as event 3. Timing does not change these names.
"""

from __future__ import annotations

import hashlib
from contextvars import ContextVar
from typing import Any

#: A path longer than this is replaced by a digest.
LONGEST = 160


class Worker:
    """What a program takes for a thread: one that it has started, or one of an executor's, which may be asked for."""

    __slots__ = ("is_ready", "name", "thread")

    def __init__(self, name: str, thread: Any = None) -> None:
        self.name = name
        self.thread = thread
        self.is_ready = False


class Place:
    """One task, job or main program, and how many events it has had. `thread` is what the program takes for the thread
    that runs it, None for the main one.
    """

    __slots__ = ("_events", "_prefix", "thread")

    def __init__(self, prefix: str = "", thread: Worker | None = None) -> None:
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
#: The innermost `asyncio.run` that a task was started in. Jobs may be in several of them at a time.
RUN: ContextVar[int] = ContextVar("run", default=0)
#: What the scheduler keeps among the variables of a context.
OURS = frozenset({PLACE, RUN})


def here() -> Place:
    """Return the place of the code that runs."""
    place = PLACE.get()
    if place is None:
        raise RuntimeError("this code runs between tasks, where nothing can be called or started")
    return place
