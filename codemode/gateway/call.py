"""One call of a tool, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from codemode.gateway.caller import LOCAL, Caller
from codemode.gateway.policy import Decision, Ruling, Tally

if TYPE_CHECKING:
    from codemode.catalog.tool import Tool
    from codemode.errors import CodeModeError


class CallState(StrEnum):
    """What is known of a call once its execution has ended."""

    COMMITTED = "committed"  # the other side did it, and answered
    FAILED = "failed"  # the other side, or this one, said no
    DENIED = "denied"  # not allowed: nothing was sent
    REJECTED = "rejected"  # a person did not allow it: nothing was sent
    PENDING = "pending"  # a person has to allow it: nothing was sent
    UNKNOWN = "unknown"  # it was sent and no answer is known: it may have been done
    NOT_STARTED = "not started"  # nothing was sent


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A request to call `tool` (an id or an exact alias) with keyword `arguments`, for one execution of a caller.

    `tally` counts the calls of the execution.
    """

    execution: str
    path: str
    tool: str
    arguments: dict[str, Any]
    caller: Caller = LOCAL
    tally: Tally = field(default_factory=Tally)


@dataclass(frozen=True, slots=True)
class JudgedCall:
    """A call that was resolved, validated and decided on, and not sent.

    `arguments` are as they would be sent. `error` says why it cannot be: no such tool, wrong arguments, or the policy.
    """

    call: ToolCall
    tool: Tool | None = None
    arguments: dict[str, Any] = field(default_factory=dict)
    ruling: Ruling | None = None
    error: CodeModeError | None = None

    @property
    def state(self) -> CallState:
        """What is known of it before it is sent."""
        if self.ruling is None or self.ruling.decision is Decision.ALLOW:
            return CallState.FAILED if self.error else CallState.NOT_STARTED
        return CallState.PENDING if self.ruling.decision is Decision.ASK else CallState.DENIED

    def approved(self, by: str) -> JudgedCall:
        """The same call with a person's yes."""
        rule = f"{self.ruling.rule if self.ruling else ''}, approved by {by}"
        return replace(self, ruling=Ruling(Decision.ALLOW, rule), error=None)


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """How a call ended: a `value` where it was committed, else an `error`. `tool` is the id it was resolved to."""

    tool: str
    state: CallState
    value: Any = None
    error: CodeModeError | None = None
