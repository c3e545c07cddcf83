"""Players: they answer the messages of a task. One plays the gold programs, one does nothing, one is a model."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from codemode.bench.checks import check_gold
from codemode.bench.results import Step, TurnRecord
from codemode.executions.types.outcome_lines import failure_text
from codemode.serving.agent.agent import Agent
from codemode.serving.agent.events import (
    Asked,
    CallEnded,
    CallStarted,
    Ended,
    ModeChanged,
    Repaired,
    TextDelta,
    ToolsRequested,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Sequence

    from codemode.bench.suite import Episode, Task
    from codemode.executions.types.outcome import ExecutionOutcome
    from codemode.service import CodeMode
    from codemode.serving.agent.events import AgentResult, Event
    from codemode.serving.agent.models import Model
    from codemode.settings import AgentSettings


class Phases:
    """Adds up seconds as the events of an agent arrive.

    `model_s` is the time from each request to the first event after its answer. `tools_s` is the time from the start of
    calls to the next request, or to the end. Searches are calls.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self.model_s = 0.0
        self.tools_s = 0.0
        self._clock = clock
        self._asked: float | None = None
        self._called: float | None = None

    def take(self, event: Event) -> None:
        """Take the next event."""
        if isinstance(event, TextDelta):
            return
        now = self._clock()
        if self._asked is not None:
            self.model_s += now - self._asked
            self._asked = None
        if isinstance(event, CallStarted):
            self._called = now if self._called is None else self._called
            return
        if self._called is not None:
            self.tools_s += now - self._called
            self._called = now
        if isinstance(event, Asked):
            self._asked, self._called = now, None


def rules_of(outcome: ExecutionOutcome) -> tuple[str, ...]:
    """Return the rules that refused a program before anything was sent; none if it ran."""
    return tuple(one.rule for one in outcome.failure.refusals) if outcome.failure is not None else ()


def written_tool_calls(program: str, namespaces: Iterable[str]) -> int:
    """Return how many calls of tools are written in a program. A call in a loop counts once."""
    roots = "|".join(re.escape(one) for one in (*namespaces, "tools"))
    return len(re.findall(rf"(?<![\w.])(?:{roots})(?:\.\w+)+\(", program))


#: Characters of a result that a transcript shows.
SHOWN = 2_000


class Player(Protocol):
    """Answers messages. `model` and `mode` stand in the results."""

    model: str
    mode: str

    async def answer(
        self, service: CodeMode, task: Task, episode: Episode, index: int, before: Sequence[TurnRecord]
    ) -> TurnRecord:
        """Answer the message with this index, after the turns before it."""
        ...


class GoldPlayer:
    """Runs the suite's gold program for each message, through `CodeMode.execute`."""

    model = "gold"
    mode = "code"

    async def answer(
        self, service: CodeMode, task: Task, episode: Episode, index: int, before: Sequence[TurnRecord]
    ) -> TurnRecord:
        """Run the gold program. The answer is the suite's, or the program's result.

        Raises ValueError if there is not one program for each message.
        """
        check_gold(task, episode)
        outcome = await service.execute(episode.gold[index])
        value = outcome.value if outcome.has_value else None
        return TurnRecord(
            message=task.messages[index],
            answer=episode.gold_answers[index] if episode.gold_answers else _text(value),
            steps=[step_of(episode.gold[index], outcome, service.catalog.namespaces)],
            status=outcome.status,
            duration_s=outcome.usage.wall_s,
            tools_s=outcome.usage.wall_s,
        )


class IdlePlayer:
    """Calls nothing, and answers with an empty text: what it solves says nothing about a model."""

    model = "idle"
    mode = "code"

    async def answer(
        self, service: CodeMode, task: Task, episode: Episode, index: int, before: Sequence[TurnRecord]
    ) -> TurnRecord:
        """Return an empty answer."""
        return TurnRecord(task.messages[index])


class AgentPlayer:
    """A model behind an OpenAI-compatible endpoint, in one of the agent's modes."""

    def __init__(self, settings: AgentSettings, model: Model | None = None) -> None:
        self.model = settings.model
        self.mode: str = settings.mode
        self._settings = settings
        self._model = model
        self._history: dict[int, tuple[dict[str, Any], ...]] = {}

    def with_model(self, model: Model) -> AgentPlayer:
        """Return a player with the same settings and another model."""
        return AgentPlayer(self._settings, model)

    async def answer(
        self, service: CodeMode, task: Task, episode: Episode, index: int, before: Sequence[TurnRecord]
    ) -> TurnRecord:
        """Send the message to the model, with the conversation so far."""
        settings = with_instructions(self._settings, task)
        history = self._history.pop(id(episode), ()) if index else ()
        async with Agent(service, settings, model=self._model, mode=settings.mode) as agent:
            events = agent.run(task.messages[index], history=history)
            record, result = await record_of(task.messages[index], events, service.catalog.namespaces)
        if index + 1 < len(task.messages):
            self._history[id(episode)] = result.messages
        return record


def with_instructions(settings: AgentSettings, task: Task) -> AgentSettings:
    """Return the settings with the instructions of the task after their own."""
    instructions = "\n\n".join(filter(None, (settings.instructions, task.instructions)))
    return settings.model_copy(update={"instructions": instructions})


async def record_of(
    message: str, events: AsyncIterator[Event], namespaces: Iterable[str] = ()
) -> tuple[TurnRecord, AgentResult]:
    """Return the record and the result of a message from the events of its agent. Programs call tools in namespaces."""
    steps: list[Step] = []
    phases = Phases()
    programs: dict[str, str] = {}
    written = ""
    async for event in events:
        phases.take(event)
        match event:
            case Asked():
                written = ""
            case TextDelta(text):
                written += text
            case CallStarted(id_, name, arguments):
                programs[id_] = str(arguments.get("code") or f"{name}({arguments})")
            case CallEnded():
                steps.append(_step_of_event(programs.get(event.id, event.name), event, namespaces))
            case ToolsRequested():
                steps.append(Step(f"{event.name}({event.arguments})", value=event.text[:SHOWN], name=event.name))
            case Repaired(problem):
                steps.append(Step(written[:SHOWN], "asked again", error=problem[:SHOWN], name="answer"))
            case ModeChanged(mode, malformed):
                steps.append(Step("", f"changed to {mode}", f"{malformed} calls or programs did nothing", name="mode"))
            case Ended():
                result = event.result
    record = TurnRecord(
        message=message,
        answer=result.text,
        steps=steps,
        status=result.status,
        requests=result.iterations,
        input_tokens=result.usage.input,
        output_tokens=result.usage.output,
        cached_tokens=result.usage.cached,
        duration_s=result.duration_s,
        model_s=phases.model_s,
        tools_s=phases.tools_s,
    )
    return record, result


def step_of(program: str, outcome: ExecutionOutcome, namespaces: Iterable[str] = (), name: str = "execute") -> Step:
    """Return a program and its outcome as a line of the transcript. `namespaces` are those of the tools."""
    rules = rules_of(outcome)
    return Step(
        program=program,
        status=outcome.status,
        value=_shown(outcome)[:SHOWN],
        error="" if outcome.ok else failure_text(outcome.failure)[:SHOWN],
        calls=[f"{call.tool} {call.state} {call.preview}" for call in outcome.calls],
        duration_s=outcome.usage.wall_s,
        name=name,
        refusals=rules,
        held=written_tool_calls(program, namespaces) if rules else 0,
    )


def _step_of_event(program: str, event: CallEnded, namespaces: Iterable[str]) -> Step:
    text = event.text[:SHOWN]
    if event.outcome is not None:  # with the text that the model reads
        step = step_of(program, event.outcome, namespaces, event.name)
        return replace(step, value=text) if event.outcome.ok else replace(step, error=text)
    return Step(program, "completed" if event.ok else "failed", text, duration_s=event.duration_s, name=event.name)


def _shown(outcome: ExecutionOutcome) -> str:
    """Return what a program printed, and its result."""
    value = _text(outcome.value) if outcome.has_value and outcome.value is not None else ""
    return "\n".join(filter(None, (outcome.output.rstrip(), value)))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else repr(value)
