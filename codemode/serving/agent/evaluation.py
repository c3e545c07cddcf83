"""How well a model does tasks on a catalog: success, tokens, turns and time, in each way of bringing it the tools."""

from __future__ import annotations

import re
import statistics
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from codemode.errors import ConfigurationError
from codemode.serving.agent.agent import Agent
from codemode.serving.model_text import failure_text
from codemode.text.yaml import YamlLoader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from codemode.service import CodeMode
    from codemode.serving.agent.events import AgentResult
    from codemode.serving.agent.models import Model
    from codemode.settings import AgentMode, AgentSettings

#: A number as people and models write it: 60,924.17 or 60 924.17 or -3.
_NUMBER = re.compile(r"-?\d+(?:[,\u00a0\u202f ]\d{3})+(?:\.\d+)?|-?\d+(?:\.\d+)?")

#: How far a number in an answer may be from the right one: half of the last digit of money.
_NEAR = 0.005


class Task(BaseModel):
    """What a user asks, and how to tell whether it was done: `answer`, `check`, or both.

    `setup` is run before it. `answer` is a program whose result the answer must tell, every number and text in it;
    `check` one whose result is true once the task was done; `solution` one that does it.
    """

    model_config = ConfigDict(extra="forbid")

    id: str = Field(min_length=1)
    message: str = Field(min_length=1)
    setup: str = ""
    answer: str = ""
    check: str = ""
    solution: str = ""

    @model_validator(mode="after")
    def _can_be_judged(self) -> Task:
        if not self.answer and not self.check:
            message = "give answer, check, or both: else nobody can tell whether it was done"
            raise ValueError(message)
        return self


class TaskSet(BaseModel):
    """A file of tasks, on the configuration's sources or on a `surface` that ships with the project, started afresh."""

    model_config = ConfigDict(extra="forbid")

    surface: Literal["gym", "outbox"] | None = None
    tasks: tuple[Task, ...] = Field(min_length=1)


@dataclass(frozen=True, slots=True)
class Attempt:
    """How one task ended. `why` is why it counts as not done."""

    task: str
    done: bool
    why: str
    status: str
    tokens: int
    turns: int
    duration_s: float
    cost: float | None


@dataclass(frozen=True, slots=True)
class Evaluation:
    """All tasks in one mode."""

    mode: AgentMode
    attempts: tuple[Attempt, ...]

    @property
    def success(self) -> float:
        """The share of the tasks that were done."""
        return sum(attempt.done for attempt in self.attempts) / len(self.attempts)

    @property
    def tokens(self) -> float:
        """Input and output of a task, the mean."""
        return statistics.fmean(attempt.tokens for attempt in self.attempts)

    @property
    def turns(self) -> float:
        """Requests to the model for a task, the mean."""
        return statistics.fmean(attempt.turns for attempt in self.attempts)

    @property
    def duration_s(self) -> float:
        """Seconds for a task, the median."""
        return statistics.median(attempt.duration_s for attempt in self.attempts)

    def to_json(self) -> dict[str, Any]:
        """As JSON data."""
        summary = {"success": self.success, "tokens": self.tokens, "turns": self.turns, "duration_s": self.duration_s}
        return {"mode": self.mode, **summary, "attempts": [asdict(attempt) for attempt in self.attempts]}


def read_tasks(file: Path) -> TaskSet:
    """Read a file of tasks. Raises ConfigurationError with every mistake in it."""
    try:
        tasks = TaskSet.model_validate(yaml.load(file.read_text(encoding="utf-8"), YamlLoader))  # noqa: S506 -- a safe loader
    except OSError as error:
        message = f"the tasks {file} cannot be read: {error.strerror}"
        raise ConfigurationError(message) from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        message = f"the tasks {file} are not YAML: {' '.join(str(error).split())}"
        raise ConfigurationError(message) from None
    except ValidationError as error:
        said = [f"{file}: {'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors() if one["loc"]]
        raise ConfigurationError("\n".join(said) or f"{file}: a mapping with a list of `tasks` is expected") from None
    ids = [task.id for task in tasks.tasks]
    twice = sorted({id_ for id_ in ids if ids.count(id_) > 1})
    if twice:
        message = f"{file}: there is more than one task called {', '.join(twice)}"
        raise ConfigurationError(message)
    return tasks


async def evaluate_agent(
    service: CodeMode,
    tasks: Sequence[Task],
    settings: AgentSettings,
    *,
    model: Model | None = None,
    begun: Callable[[Task], None] = lambda _: None,
) -> Evaluation:
    """Have an agent do the tasks, one after the other, each in a conversation of its own.

    `begun` is told of each. Raises ConfigurationError where the program of a task does not run.
    """
    attempts = []
    for task in tasks:
        begun(task)
        if task.setup:
            await _value(service, task, "setup")
        async with Agent(service, settings, model=model) as agent:
            result = await agent.answer(task.message)
        why = await _missing(service, task, result)
        attempts.append(
            Attempt(
                task.id,
                not why,
                why,
                result.status,
                result.usage.total,
                result.iterations,
                result.duration_s,
                result.cost,
            )
        )
    return Evaluation(settings.mode, tuple(attempts))


async def _missing(service: CodeMode, task: Task, result: AgentResult) -> str:
    """Why the task was not done, or ""."""
    if result.status != "completed":
        return f"{result.status}: {' '.join(result.text.split())[:200]}"
    if task.check and (await _value(service, task, "check")) is not True:
        return "the check is not true"
    if task.answer:
        lacking = [leaf for leaf in _leaves(await _value(service, task, "answer")) if not tells(result.text, leaf)]
        if lacking:
            return (
                f"the answer does not tell {', '.join(map(repr, lacking[:3]))}: {' '.join(result.text.split())[:200]}"
            )
    return ""


async def _value(service: CodeMode, task: Task, name: str) -> Any:
    ended = await service.execute(getattr(task, name))
    if not ended.ok:
        message = f"task {task.id}: its {name} does not run: {failure_text(ended)}"
        raise ConfigurationError(message)
    return ended.value


def tells(text: str, value: Any) -> bool:
    """Whether a text tells a number, by any notation and to the cent, or a text, in any case and spacing."""
    if isinstance(value, bool) or value is None:
        return True
    if isinstance(value, (int, float)):
        return any(abs(number - value) <= _NEAR for number in _numbers(text))
    return " ".join(str(value).casefold().split()) in " ".join(text.casefold().split())


def _numbers(text: str) -> Iterable[float]:
    for found in _NUMBER.findall(text):
        yield float(re.sub(r"[^\d.-]", "", found))
        yield from (float(part) for part in re.findall(r"-?\d+(?:\.\d+)?", found))


def _leaves(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        value = list(value.values())
    if not isinstance(value, list):
        yield value
        return
    for inner in value:
        yield from _leaves(inner)
