"""What an agent tells while it works, in the order in which it happens; the last is `Ended`."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from codemode.executions.execution import ExecutionOutcome
    from codemode.serving.agent.transcript import TokenUsage

AgentStatus = Literal[
    "completed",  # the model gave its answer
    "refused",  # the model said that it will not
    "malformed",  # its answers stayed unreadable, repaired or not
    "repeating",  # it made the same call again and again
    "iterations",  # a bound was reached: what was achieved by then is there
    "tokens",
    "cost",
    "unreachable",  # the model's service gave no answer, or an error
]


@dataclass(frozen=True, slots=True)
class Asked:
    """The model is asked: for the how manyth time, with how many definitions, and what a menu chose them by."""

    iteration: int
    definitions: int
    summary: str = ""


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of the model's text."""

    text: str


@dataclass(frozen=True, slots=True)
class CallStarted:
    """A call is about to be made; `arguments` are as they were understood."""

    id: str
    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class CallEnded:
    """A call has its answer: `text` is what the model reads, `outcome` that of the program behind it."""

    id: str
    name: str
    text: str
    ok: bool
    duration_s: float
    outcome: ExecutionOutcome | None = None


@dataclass(frozen=True, slots=True)
class ToolsRequested:
    """The model asked for more tools; no call of a tool. `loaded` are the ids of those that it has now besides."""

    id: str
    name: str
    arguments: dict[str, Any]
    text: str
    loaded: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Repaired:
    """The model's answer could not be used; it was told why and asked once more."""

    problem: str


@dataclass(frozen=True, slots=True)
class Action:
    """One thing that was done, as it stands in the history of a result: what was asked for, and what came of it."""

    name: str
    arguments: dict[str, Any]
    observation: str
    ok: bool


@dataclass(frozen=True, slots=True)
class AgentResult:
    """How a message was answered. `messages` are those of chat completions, to be given as history to the next one.

    `text` is the model's answer; where a bound ended the work, what was achieved by then. `cost` is in the currency of
    the prices, None where there are none.
    """

    status: AgentStatus
    text: str
    messages: tuple[dict[str, Any], ...]
    actions: tuple[Action, ...]
    usage: TokenUsage
    cost: float | None
    iterations: int
    duration_s: float

    @property
    def ok(self) -> bool:
        """Whether the model gave its answer."""
        return self.status == "completed"

    def to_json(self) -> dict[str, Any]:
        """The result as JSON data."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Ended:
    """The end, with the result."""

    result: AgentResult


Event = Asked | TextDelta | CallStarted | CallEnded | ToolsRequested | Repaired | Ended
