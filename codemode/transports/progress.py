"""How far a call is, as its service says while it works: heard by whoever made the call."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def unheard(_: str) -> None:
    """Nobody listens."""


#: What is given the words of the service, set by who makes the call.
PROGRESS: ContextVar[Callable[[str], None]] = ContextVar("call_progress", default=unheard)
