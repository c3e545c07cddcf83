"""Errors of `store` and `load`. Programs see them as ToolError."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codemode.errors import ExecutionError
from codemode.text.nearest import nearest

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Stored names that a message lists.
_LISTED = 10


class StateNotFound(ExecutionError):
    """No program of this conversation has stored a value under that name, or it has expired."""

    code = "state_not_found"

    def __init__(self, name: str, stored: Sequence[str]) -> None:
        meant = nearest(name, stored)
        known = f"stored: {', '.join(stored[:_LISTED])}" if stored else "nothing is stored"
        advice = f"did you mean {meant!r}?" if meant else f"{known}; store(name, value) stores a value"
        super().__init__(f"this conversation has no stored value {name[:80]!r}: {advice}")


class NoLastResult(ExecutionError):
    """No earlier program of this conversation has returned a result, or the result is no longer kept."""

    code = "no_last_result"

    def __init__(self) -> None:
        super().__init__("no earlier program of this conversation has returned a result, so there is no `last`")


class StateRejected(ExecutionError):
    """A value or its name cannot be stored. The message names the limit."""

    code = "state_rejected"
