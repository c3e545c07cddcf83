"""One tool call and its outcome."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from codemode.catalog.tool import Effect
from codemode.errors import AccessDenied
from codemode.gateway.caller import LOCAL, Caller
from codemode.gateway.policy import Decision, Ruling, Tally

if TYPE_CHECKING:
    from codemode.catalog.saved import SavedProgram
    from codemode.catalog.tool import Tool
    from codemode.errors import CodeModeError
    from codemode.transports.auth.account import Account


class CallState(StrEnum):
    """The state of a call. A read changes nothing, so it is never committed or unknown."""

    RUNNING = "running"  # it was sent and its answer is awaited
    COMMITTED = "committed"  # the service did it and answered
    READ = "read"  # the service answered a read
    CANCELLED = "cancelled"  # a read that was sent, and whose answer nobody awaited
    FAILED = "failed"  # the service or codemode rejected it
    DENIED = "denied"  # the policy denies it: nothing was sent
    REJECTED = "rejected"  # a person rejected it: nothing was sent
    PENDING = "pending"  # it waits for a person: nothing was sent
    UNKNOWN = "unknown"  # it was sent without a known answer: the service may have done it
    NOT_STARTED = "not started"  # nothing was sent
    PLANNED = "planned"  # a dry run listed it: nothing was sent


def state_of(effect: str, state: CallState) -> CallState:
    """Return the state of a call with an effect, as ledgers have it."""
    return _OF_READS.get(state, state) if effect == Effect.READ else state


_OF_READS = {CallState.COMMITTED: CallState.READ, CallState.UNKNOWN: CallState.CANCELLED}


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A request to call `tool` (an id or an exact alias) with keyword arguments, in one execution of a caller.

    `tally` counts the calls of the execution. `within` is the saved program that makes the call, if one does.
    """

    execution: str
    path: str
    tool: str
    arguments: dict[str, Any]
    caller: Caller = LOCAL
    tally: Tally = field(default_factory=Tally)
    within: SavedProgram | None = None


@dataclass(frozen=True, slots=True)
class JudgedCall:
    """A call after resolution, validation and decision, and before sending.

    `arguments` are those that will be sent. `error` is the reason for a rejection: an unknown tool, invalid arguments,
    or the policy. `account` is whose credentials will be sent, None if the source has no choice of them.
    """

    call: ToolCall
    tool: Tool | None = None
    arguments: dict[str, Any] = field(default_factory=dict)
    ruling: Ruling | None = None
    error: CodeModeError | None = None
    account: Account | None = None

    @property
    def state(self) -> CallState:
        """The state before sending."""
        if self.ruling is None or self.ruling.decision is Decision.ALLOW:
            return CallState.FAILED if self.error else CallState.NOT_STARTED
        return CallState.PENDING if self.ruling.decision is Decision.ASK else CallState.DENIED

    def denied(self, by: str, reason: str) -> JudgedCall:
        """Return the call as denied, after the policy has allowed it."""
        error = AccessDenied(self.tool.id if self.tool else self.call.tool, by, reason)
        return replace(self, ruling=Ruling(Decision.DENY, by, reason), error=error)

    def approved(self, by: str) -> JudgedCall:
        """Return the call with an approval by a person or a plugin."""
        return self.allowed(f"{self.ruling.rule if self.ruling else ''}, approved by {by}")

    def allowed(self, rule: str) -> JudgedCall:
        """Return the call as allowed by a rule."""
        return replace(self, ruling=Ruling(Decision.ALLOW, rule), error=None)


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """The outcome of a call: a `value` if it was committed, else an `error`. `tool` is the resolved id.

    `note` says how the value differs from its schema.
    """

    tool: str
    state: CallState
    value: Any = None
    error: CodeModeError | None = None
    note: str = ""
