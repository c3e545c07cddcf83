"""Players: they answer the messages of a task. One plays the gold programs, one is a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from codemode.bench.phases import Phases
from codemode.bench.refusals import rules_of, written_tool_calls
from codemode.bench.results import Step, TurnRecord
from codemode.serving.agent.agent import Agent
from codemode.serving.agent.events import CallEnded, CallStarted, Ended
from codemode.serving.model_text import failure_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from codemode.bench.suite import Episode, Task
    from codemode.executions.execution import ExecutionOutcome
    from codemode.service import CodeMode
    from codemode.serving.agent.models import Model
    from codemode.settings import AgentSettings

#: Characters of a result that a transcript shows.
_SHOWN = 2_000


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
            steps=[step_of(episode.gold[index], outcome, service.catalog.namespaces)],
            status=outcome.status,
            duration_s=outcome.usage.wall_s,
            tools_s=outcome.usage.wall_s,
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
        instructions = "\n\n".join(filter(None, (self._settings.instructions, task.instructions)))
        settings = self._settings.model_copy(update={"instructions": instructions})
        steps: list[Step] = []
        phases = Phases()
        programs: dict[str, str] = {}
        history = self._history.pop(id(episode), ()) if index else ()
        async with Agent(service, settings, model=self._model) as agent:
            async for event in agent.run(task.messages[index], history=history):
                phases.take(event)
                if isinstance(event, CallStarted):
                    programs[event.id] = str(event.arguments.get("code") or f"{event.name}({event.arguments})")
                elif isinstance(event, CallEnded):
                    steps.append(_step_of_event(programs.get(event.id, event.name), event, service.catalog.namespaces))
                elif isinstance(event, Ended):
                    result = event.result
        if index + 1 < len(task.messages):
            self._history[id(episode)] = result.messages
        return TurnRecord(
            message=task.messages[index],
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


def step_of(program: str, outcome: ExecutionOutcome, namespaces: Iterable[str] = (), name: str = "execute") -> Step:
    """Return a program and its outcome as a line of the transcript. `namespaces` are those of the tools."""
    rules = rules_of(outcome)
    return Step(
        program=program,
        status=outcome.status,
        value=_text(outcome.value)[:_SHOWN] if outcome.has_value else None,
        error="" if outcome.ok else failure_text(outcome)[:_SHOWN],
        calls=[f"{call.tool} {call.state} {call.preview}" for call in outcome.calls],
        duration_s=outcome.usage.wall_s,
        name=name,
        refusals=rules,
        held=written_tool_calls(program, namespaces) if rules else 0,
    )


def _step_of_event(program: str, event: CallEnded, namespaces: Iterable[str]) -> Step:
    if event.outcome is not None:
        return step_of(program, event.outcome, namespaces, event.name)
    status = "completed" if event.ok else "failed"
    return Step(program, status, event.text[:_SHOWN], duration_s=event.duration_s, name=event.name)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else repr(value)
