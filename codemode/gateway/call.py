"""One call of a tool, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from codemode.errors import CodeModeError


class CallState(StrEnum):
    """What is known of a call once its execution has ended."""

    COMMITTED = "committed"  # the other side did it, and answered
    FAILED = "failed"  # the other side, or this one, said no
    DENIED = "denied"  # not allowed: nothing was sent
    UNKNOWN = "unknown"  # it was sent and no answer is known: it may have been done
    NOT_STARTED = "not started"  # nothing was sent


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A request to call `tool` (an id or an exact alias) with keyword `arguments`, for one execution."""

    execution: str
    path: str
    tool: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """How a call ended: a `value` where it was committed, else an `error`. `tool` is the id it was resolved to."""

    tool: str
    state: CallState
    value: Any = None
    error: CodeModeError | None = None
