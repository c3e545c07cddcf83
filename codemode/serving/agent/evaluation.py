"""Measure how well a model does tasks on a catalog: success, tokens, turns and time, in each mode."""

from __future__ import annotations

import re
import statistics
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from codemode.errors import ConfigurationError
from codemode.executions.types.outcome_lines import failure_text
from codemode.serving.agent.agent import Agent
from codemode.text.yaml import YamlLoader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from codemode.service import CodeMode
    from codemode.serving.agent.events import AgentResult
    from codemode.serving.agent.models import Model
    from codemode.settings import AgentMode, AgentSettings

#: A number as people and models write it: 60,924.17, 60 924.17 or -3.
_NUMBER = re.compile(r"-?\d+(?:[,\u00a0\u202f ]\d{3})+(?:\.\d+)?|-?\d+(?:\.\d+)?")

#: How far a number in an answer may be from the right one: half a cent.
_NEAR = 0.005


class Task(BaseModel):
    """A user's request, and how to tell whether it was done: by `answer`, `check`, or both.

    All fields but `id` and `message` are programs. `setup` runs before the task. The model's answer must contain every
    number and text in the result of `answer`. The result of `check` is true once the task is done. `solution` does the
    task.
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
            message = "set answer, check, or both: otherwise nothing shows whether the task was done"
            raise ValueError(message)
        return self


class TaskSet(BaseModel):
    """A file of tasks for the configured sources, or for a freshly started example `surface`."""

    model_config = ConfigDict(extra="forbid")

    surface: Literal["gym", "outbox"] | None = None
    tasks: tuple[Task, ...] = Field(min_length=1)


@dataclass(frozen=True, slots=True)
class Attempt:
    """How one task ended, and in which mode. `why` is the reason why it counts as not done."""

    task: str
    done: bool
    why: str
    status: str
    tokens: int
    turns: int
    duration_s: float
    cost: float | None
    mode: str = ""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """All attempts in one mode."""

    mode: AgentMode
    attempts: tuple[Attempt, ...]

    @property
    def success(self) -> float:
        """Share of tasks done."""
        return sum(attempt.done for attempt in self.attempts) / len(self.attempts)

    @property
    def tokens(self) -> float:
        """Mean input and output tokens per task."""
        return statistics.fmean(attempt.tokens for attempt in self.attempts)

    @property
    def turns(self) -> float:
        """Mean requests to the model per task."""
        return statistics.fmean(attempt.turns for attempt in self.attempts)

    @property
    def duration_s(self) -> float:
        """Median seconds per task."""
        return statistics.median(attempt.duration_s for attempt in self.attempts)

    def to_json(self) -> dict[str, Any]:
        """Return the evaluation as JSON data."""
        summary = {"success": self.success, "tokens": self.tokens, "turns": self.turns, "duration_s": self.duration_s}
        return {"mode": self.mode, **summary, "attempts": [asdict(attempt) for attempt in self.attempts]}


def read_tasks(file: Path) -> TaskSet:
    """Read a task file. Raises ConfigurationError that lists every mistake in it."""
    try:
        tasks = TaskSet.model_validate(yaml.load(file.read_text(encoding="utf-8"), YamlLoader))  # noqa: S506 -- a safe loader
    except OSError as error:
        message = f"cannot read the tasks {file}: {error.strerror}"
        raise ConfigurationError(message) from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        message = f"the tasks {file} are not YAML: {' '.join(str(error).split())}"
        raise ConfigurationError(message) from None
    except ValidationError as error:
        mistakes = [f"{file}: {'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors() if one["loc"]]
        raise ConfigurationError("\n".join(mistakes) or f"{file}: expected a mapping with a list of `tasks`") from None
    ids = [task.id for task in tasks.tasks]
    twice = sorted({id_ for id_ in ids if ids.count(id_) > 1})
    if twice:
        message = f"{file}: more than one task has the id {', '.join(twice)}"
        raise ConfigurationError(message)
    return tasks


async def evaluate_agent(
    service: CodeMode,
    tasks: Sequence[Task],
    settings: AgentSettings,
    *,
    model: Model | None = None,
    begun: Callable[[Task], None] = lambda _: None,
    ended: Callable[[Attempt], None] = lambda _: None,
    earlier: Mapping[str, Attempt] = MappingProxyType({}),
) -> Evaluation:
    """Have an agent do the tasks one after another, each in its own conversation.

    `begun` is called before each task, `ended` after it. Tasks with an `earlier` attempt, by id, are not repeated.
    Raises ConfigurationError if a program of a task fails.
    """
    attempts = []
    for task in tasks:
        if task.id in earlier:
            attempts.append(earlier[task.id])
            continue
        begun(task)
        if task.setup:
            await _value(service, task, "setup")
        async with Agent(service, settings, model=model, mode=settings.mode) as agent:
            result = await agent.answer(task.message)
        why = await _missing(service, task, result)
        attempts.append(_attempt(task, why, result))
        ended(attempts[-1])
    return Evaluation(settings.mode, tuple(attempts))


def _attempt(task: Task, why: str, result: AgentResult) -> Attempt:
    return Attempt(
        task.id,
        not why,
        why,
        result.status,
        result.usage.total,
        result.iterations,
        result.duration_s,
        result.cost,
        result.mode,
    )


async def _missing(service: CodeMode, task: Task, result: AgentResult) -> str:
    """Return the reason why the task is not done, or ""."""
    if result.status != "completed":
        return f"{result.status}: {' '.join(result.text.split())[:200]}"
    if task.check and (await _value(service, task, "check")) is not True:
        return "the check did not return true"
    if task.answer:
        lacking = untold(result.text, await _value(service, task, "answer"))
        if lacking:
            return f"the answer lacks {', '.join(map(repr, lacking[:3]))}: {' '.join(result.text.split())[:200]}"
    return ""


async def _value(service: CodeMode, task: Task, name: str) -> Any:
    ended = await service.execute(getattr(task, name))
    if not ended.ok:
        message = f"task {task.id}: its {name} program fails: {failure_text(ended.failure)}"
        raise ConfigurationError(message)
    return ended.value


def untold(text: str, value: Any) -> list[Any]:
    """Return the numbers and texts of a result, also of its lists and dictionaries, that a text does not contain."""
    return [leaf for leaf in _leaves(value) if not tells(text, leaf)]


def tells(text: str, value: Any) -> bool:
    """Whether a text contains a number to the cent, in any notation, or a text in any case and spacing."""
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
