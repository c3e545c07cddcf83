"""Descriptions of waiting code: what it waits for, in which variable and line. Deadlock messages are made of them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import greenlet

from sandbox.guest.language.compilation import FILENAME

if TYPE_CHECKING:
    from asyncio import Task
    from collections.abc import Iterable, Iterator
    from types import FrameType


def waiting_code(what: str, waiter: greenlet.greenlet | None) -> str:
    """Return `Queue (rows, line 4)` for code that blocks in a method of an object, else `what (line 4)`."""
    frame = sys._getframe() if waiter is greenlet.getcurrent() else getattr(waiter, "gr_frame", None)
    owner, place = _place(_frames(frame))
    return (what or type(owner).__name__) + place


def waiting_task(task: Task[Any]) -> str:
    """Return `Lock (lock, line 4)` for a task that awaits; "" for one that awaits nothing."""
    frames: list[FrameType] = []
    step: Any = task.get_coro()
    while getattr(step, "cr_await", None) is not None:
        frames.insert(0, step.cr_frame)
        step = step.cr_await
    owners = (frame.f_locals["self"] for frame in frames if "self" in frame.f_locals and not _is_own(frame))
    what = next((type(owner).__name__ for owner in owners), "")
    place = _place(frames)[1]
    return f"{what or 'await'}{place}" if place else what


def _frames(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def _is_own(frame: FrameType) -> bool:
    return frame.f_code.co_filename == FILENAME


def _place(frames: Iterable[FrameType]) -> tuple[Any, str]:
    """Return the object whose method the program called last, and ` (lock, line 4)`: its variable and the line."""
    owner: Any = None
    for frame in frames:
        if _is_own(frame):
            name = None if owner is None else next((name for name, value in _names(frame) if value is owner), None)
            return owner, f" ({name}, line {frame.f_lineno})" if name else f" (line {frame.f_lineno})"
        owner = frame.f_locals.get("self", owner)
    return owner, ""


def _names(frame: FrameType) -> Iterator[tuple[str, Any]]:
    yield from frame.f_locals.items()
    yield from frame.f_globals.items()
    of = getattr(frame.f_locals.get("self"), "__dict__", {})
    yield from ((f"self.{name}", value) for name, value in of.items())
