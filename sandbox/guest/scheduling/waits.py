"""Descriptions of waiting code: what it waits for, and in which line. Deadlock messages are made of them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import greenlet

from sandbox.guest.language.compilation import FILENAME

if TYPE_CHECKING:
    from asyncio import Task
    from types import FrameType


def waiting_code(what: str, waiter: greenlet.greenlet | None) -> str:
    """Return `Queue (line 4)` for code that blocks in a method of an object, else `what (line 4)`."""
    frame = sys._getframe() if waiter is greenlet.getcurrent() else getattr(waiter, "gr_frame", None)
    owner: Any = None
    while frame is not None and not _is_own(frame):
        owner = frame.f_locals.get("self", owner)
        frame = frame.f_back
    return (what or type(owner).__name__) + _line(frame)


def waiting_task(task: Task[Any]) -> str:
    """Return `Lock (line 4)` for a task that awaits; "" for one that awaits nothing."""
    own: FrameType | None = None
    what = "await"
    step: Any = task.get_coro()
    while getattr(step, "cr_await", None) is not None:
        if _is_own(step.cr_frame):
            own, what = step.cr_frame, "await"
        elif what == "await" and "self" in step.cr_frame.f_locals:
            what = type(step.cr_frame.f_locals["self"]).__name__
        step = step.cr_await
    return f"{what}{_line(own)}" if own is not None or what != "await" else ""


def _is_own(frame: FrameType) -> bool:
    return frame.f_code.co_filename == FILENAME


def _line(frame: FrameType | None) -> str:
    return "" if frame is None else f" (line {frame.f_lineno})"
