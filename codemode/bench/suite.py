"""What a suite is: tasks, each with fresh state, tools, gold programs and a judge."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from contextlib import AbstractAsyncContextManager

    from codemode.service import CodeMode
    from codemode.settings import Settings


class ToolCall(NamedTuple):
    """A call that reached a tool: the tool's name in the suite, and its arguments."""

    tool: str
    arguments: Mapping[str, Any]


class Turn(NamedTuple):
    """What one user message led to: the final text, and the calls in their order."""

    answer: str
    calls: Sequence[ToolCall]


@dataclass(frozen=True, slots=True)
class Run:
    """A task after its last turn. `service` still has the task's tools."""

    turns: Sequence[Turn]
    service: CodeMode

    @property
    def answer(self) -> str:
        """All answers, one per line."""
        return "\n".join(turn.answer for turn in self.turns)

    @property
    def calls(self) -> list[ToolCall]:
        """The calls of all turns."""
        return [call for turn in self.turns for call in turn.calls]


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a task was solved, and the reason if not. `details` are further facts, as JSON data."""

    solved: bool
    reason: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)


def no_sources() -> AbstractAsyncContextManager[Mapping[str, Any]]:
    """Return no sources: the default of `Episode.sources`."""
    return nullcontext({})


@dataclass(frozen=True, slots=True)
class Episode:
    """One attempt at a task, on fresh state that no other attempt shares.

    - `tools`: functions or tool objects by namespace, bound to the fresh state.
    - `added`: further tools that first exist at a turn, by the turn's index.
    - `sources`: yields `sources` of a configuration, for services that run as long as the attempt.
    - `settings`: in place of `sources`, a configuration that applies as it is: sources, policy, journal.
    - `setup`: a program that prepares the state, or "".
    - `gold`: one program for each message, which does what the suite says is right.
    - `gold_answers`: one text for each message. Without it, the answer is the result of the gold program.
    - `has_trace`: whether the gold programs make the calls that a model would make.
    - `judge`: decides on the state and the answers.
    """

    judge: Callable[[Run], Awaitable[Verdict]]
    gold: Sequence[str]
    gold_answers: Sequence[str] = ()
    tools: Mapping[str, Sequence[object]] = field(default_factory=dict)
    added: Mapping[int, Mapping[str, Sequence[object]]] = field(default_factory=dict)
    sources: Callable[[], AbstractAsyncContextManager[Mapping[str, Any]]] = no_sources
    settings: Settings | None = None
    setup: str = ""
    has_trace: bool = True


@dataclass(frozen=True, slots=True)
class Task:
    """A task: the user's messages, and `begin`, which creates an attempt.

    - `instructions`: for the agent, before the messages.
    - `gold_fails`: why a gold program fails or the task stays unsolved, if that is known. Another outcome fails a gold
      run.
    """

    id: str
    messages: Sequence[str]
    begin: Callable[[], Episode]
    instructions: str = ""
    gold_fails: str = ""


class Suite(Protocol):
    """Tasks under one name. `name` stands in results and reports."""

    name: str

    def tasks(self) -> Sequence[Task]:
        """Return all tasks, in a fixed order. Raises ConfigurationError if the data cannot be read."""
        ...
