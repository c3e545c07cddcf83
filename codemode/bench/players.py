"""Players: they answer the messages of a task. One plays the gold programs, one is a model."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from codemode.bench.results import Step, TurnRecord
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
from codemode.serving.model_text import failure_text

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from codemode.bench.suite import Episode, Task
    from codemode.executions.execution import ExecutionOutcome
    from codemode.service import CodeMode
    from codemode.serving.agent.events import AgentResult, Event
    from codemode.serving.agent.models import Model
    from codemode.settings import AgentSettings

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
        """Run the gold program. The answer is the suite's, or the program's result."""
        outcome = await service.execute(episode.gold[index])
        value = outcome.value if outcome.has_value else None
        return TurnRecord(
            message=task.messages[index],
            answer=episode.gold_answers[index] if episode.gold_answers else _text(value),
            steps=[step_of(episode.gold[index], outcome)],
            status=outcome.status,
            duration_s=outcome.usage.wall_s,
        )


class AgentPlayer:
    """A model behind an OpenAI-compatible endpoint, in one of the agent's modes."""

    def __init__(self, settings: AgentSettings, model: Model | None = None) -> None:
        self.model = settings.model
        self.mode: str = settings.mode
        self._settings = settings
        self._model = model
        self._history: dict[int, tuple[dict[str, Any], ...]] = {}

    async def answer(
        self, service: CodeMode, task: Task, episode: Episode, index: int, before: Sequence[TurnRecord]
    ) -> TurnRecord:
        """Send the message to the model, with the conversation so far."""
        settings = with_instructions(self._settings, task)
        history = self._history.pop(id(episode), ()) if index else ()
        async with Agent(service, settings, model=self._model) as agent:
            record, result = await record_of(task.messages[index], agent.run(task.messages[index], history=history))
        if index + 1 < len(task.messages):
            self._history[id(episode)] = result.messages
        return record


def with_instructions(settings: AgentSettings, task: Task) -> AgentSettings:
    """Return the settings with the instructions of the task after their own."""
    instructions = "\n\n".join(filter(None, (settings.instructions, task.instructions)))
    return settings.model_copy(update={"instructions": instructions})


async def record_of(message: str, events: AsyncIterator[Event]) -> tuple[TurnRecord, AgentResult]:
    """Return the record and the result of a message from the events of its agent."""
    steps: list[Step] = []
    programs: dict[str, str] = {}
    written = ""
    async for event in events:
        match event:
            case Asked():
                written = ""
            case TextDelta(text):
                written += text
            case CallStarted(id_, name, arguments):
                programs[id_] = str(arguments.get("code") or f"{name}({arguments})")
            case CallEnded():
                steps.append(_step_of_event(programs.get(event.id, event.name), event))
            case ToolsRequested():
                steps.append(Step(f"{event.name}({event.arguments})", "completed", event.text[:SHOWN]))
            case Repaired(problem):
                steps.append(Step(written[:SHOWN], "asked again", error=problem[:SHOWN]))
            case ModeChanged(mode, malformed):
                steps.append(Step("", f"changed to {mode}", f"{malformed} calls or programs did nothing"))
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
    )
    return record, result


def step_of(program: str, outcome: ExecutionOutcome) -> Step:
    """Return a program and its outcome as a line of the transcript."""
    return Step(
        program=program,
        status=outcome.status,
        value=_shown(outcome)[:SHOWN],
        error="" if outcome.ok else failure_text(outcome)[:SHOWN],
        calls=[f"{call.tool} {call.state} {call.preview}" for call in outcome.calls],
        duration_s=outcome.usage.wall_s,
    )


def _step_of_event(program: str, event: CallEnded) -> Step:
    if event.outcome is not None:  # with the text that the model reads
        step, text = step_of(program, event.outcome), event.text[:SHOWN]
        return replace(step, value=text) if event.outcome.ok else replace(step, error=text)
    return Step(program, "completed" if event.ok else "failed", event.text[:SHOWN], duration_s=event.duration_s)


def _shown(outcome: ExecutionOutcome) -> str:
    """Return what a program printed, and its result."""
    value = _text(outcome.value) if outcome.has_value and outcome.value is not None else ""
    return "\n".join(filter(None, (outcome.output.rstrip(), value)))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else repr(value)
