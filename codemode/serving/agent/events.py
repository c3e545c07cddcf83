"""Events of an agent, in the order in which they happen. The last one is `Ended`."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from codemode.executions.types.outcome import ExecutionOutcome
    from codemode.serving.agent.transcript import TokenUsage
    from codemode.settings import AgentMode

AgentStatus = Literal[
    "completed",  # the model answered
    "refused",  # the model or its provider refused
    "malformed",  # the model's answers were unusable, even after repairs
    "repeating",  # the model kept making the same call
    "iterations",  # a limit was reached; the result has what was achieved so far
    "tokens",
    "cost",
    "unreachable",  # the model's provider could not be reached, or answered with an error
]


@dataclass(frozen=True, slots=True)
class Asked:
    """A request to the model: its number, how many tool definitions it has, and how a menu chose them."""

    iteration: int
    definitions: int
    summary: str = ""


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of the model's text."""

    text: str


@dataclass(frozen=True, slots=True)
class CallStarted:
    """A call is about to be made, with its parsed arguments."""

    id: str
    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class CallEnded:
    """A call has ended. `text` is the answer for the model, `outcome` that of the program behind it."""

    id: str
    name: str
    text: str
    ok: bool
    duration_s: float
    outcome: ExecutionOutcome | None = None


@dataclass(frozen=True, slots=True)
class ToolsRequested:
    """The model asked for more tools. `loaded` holds the ids of the added tools."""

    id: str
    name: str
    arguments: dict[str, Any]
    text: str
    loaded: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Repaired:
    """The model's answer was unusable. It got the problem and was asked again."""

    problem: str


@dataclass(frozen=True, slots=True)
class ModeChanged:
    """With `mode: auto`, the agent changed the mode: `malformed` calls or programs did nothing."""

    mode: AgentMode
    malformed: int


@dataclass(frozen=True, slots=True)
class Action:
    """One call in a result's history: what was called, and with what result."""

    name: str
    arguments: dict[str, Any]
    observation: str
    ok: bool


@dataclass(frozen=True, slots=True)
class AgentResult:
    """The answer to a message. Pass `messages`, in chat completion format, as history to the next one.

    `text` is the model's answer, or what was achieved before a limit was reached. `cost` is in the currency of the
    prices, or None without prices. `mode` is the mode in which the message ended. `figures` are the numbers in the
    answer that have no source in the conversation.
    """

    status: AgentStatus
    text: str
    messages: tuple[dict[str, Any], ...]
    actions: tuple[Action, ...]
    usage: TokenUsage
    cost: float | None
    iterations: int
    duration_s: float
    mode: AgentMode
    figures: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the model answered."""
        return self.status == "completed"

    def to_json(self) -> dict[str, Any]:
        """Return the result as JSON data."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of the turn, with its result."""

    result: AgentResult


Event = Asked | TextDelta | CallStarted | CallEnded | ToolsRequested | Repaired | ModeChanged | Ended
