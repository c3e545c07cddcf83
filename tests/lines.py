"""Count the lines of Python that a piece of code runs: the same figure on every machine."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType


class Lines:
    """How many lines ran."""

    def __init__(self) -> None:
        self.count = 0

    def trace(self, _: FrameType, event: str, __: Any) -> Any:
        """Count a line; see `sys.settrace`."""
        self.count += event == "line"
        return self.trace


@contextmanager
def counted() -> Iterator[Lines]:
    """Count the lines that this thread runs within functions that are called meanwhile."""
    lines, before = Lines(), sys.gettrace()
    sys.settrace(lines.trace)
    try:
        yield lines
    finally:
        sys.settrace(before)
