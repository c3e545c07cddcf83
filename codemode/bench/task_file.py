"""Tasks of one's own: a YAML file of requests, with programs that tell whether each was done."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from codemode.bench.suite import Episode, Run, Task, Verdict
from codemode.errors import ConfigurationError
from codemode.executions.types.outcome_lines import failure_text
from codemode.serving.cli.example_services import example_sources
from codemode.settings import mistakes
from codemode.text.counted import counted
from codemode.text.yaml import YamlLoader

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from codemode.settings import Settings

#: A number as people and models write it: 60,924.17, 60 924.17 or -3.
_NUMBER = re.compile(r"-?\d+(?:[,\u00a0\u202f ]\d{3})+(?:\.\d+)?|-?\d+(?:\.\d+)?")

#: How far a number in an answer may be from the right one: half a cent.
_NEAR = 0.005


class WrittenTask(BaseModel):
    """A user's request, and how to tell whether it was done: by `expect`, `answer`, `check`, or several of them.

    `expect` is a value, and the fields after it are programs. `setup` runs before the task. The model's answer must
    contain every number and text in `expect` and in the result of `answer`. The result of `check` is true once the task
    is done. `solution` does the task.
    """

    model_config = ConfigDict(extra="forbid")

    id: str = ""
    message: str = Field(min_length=1)
    expect: Any = None
    setup: str = ""
    answer: str = ""
    check: str = ""
    solution: str = ""

    @model_validator(mode="after")
    def _can_be_judged(self) -> WrittenTask:
        if not self.answer and not self.check and self.expect is None:
            message = "set expect, answer or check: otherwise nothing shows whether the task was done"
            raise ValueError(message)
        return self


class TaskSet(BaseModel):
    """A file of tasks for the configured sources, or for an example `surface`, started afresh for each task.

    `modes` are those in which a model plays them, unless the command names others. The `id` of a task is its number,
    if it has no other.
    """

    model_config = ConfigDict(extra="forbid")

    surface: Literal["gym", "outbox"] | None = None
    modes: tuple[str, ...] = ()
    tasks: tuple[WrittenTask, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _numbered(self) -> TaskSet:
        for number, task in enumerate(self.tasks, 1):
            task.id = task.id or str(number)
        return self


class TaskFile:
    """The tasks of a file as a suite. Gold programs are their `solution`, or else their `answer`.

    Raises ConfigurationError that lists every mistake in the file.
    """

    def __init__(self, file: Path, name: str = "") -> None:
        self.name = name or file.stem
        self._set = read_tasks(file)
        self._settings: Settings | None = None

    @property
    def needs_configuration(self) -> bool:
        """Whether the tasks are for configured sources, whose state all attempts share."""
        return self._set.surface is None

    @property
    def modes(self) -> Sequence[str]:
        """The modes that the file names."""
        return self._set.modes

    def check_solutions(self, ids: Sequence[str]) -> None:
        """Check that tasks with these ids can be played without a model. Raises ConfigurationError."""
        lacking = [one.id for one in self._set.tasks if one.id in ids and not _solution(one)]
        if lacking:
            message = (
                f"no model plays, and {self.name} has no solution of {counted(len(lacking), 'task')} "
                f"({', '.join(lacking)}): name a model with --model, or add `solution`, a program that does the task"
            )
            raise ConfigurationError(message)

    def configure(self, settings: Settings) -> None:
        """Set the configuration whose sources the tasks use."""
        self._settings = settings

    def tasks(self) -> Sequence[Task]:
        """Return the tasks of the file."""
        return [Task(one.id, [one.message], partial(self._begin, one)) for one in self._set.tasks]

    def _begin(self, task: WrittenTask) -> Episode:
        gold = list(filter(None, (_solution(task),)))
        if self._set.surface is None:
            return Episode(partial(_judged, task), gold=gold, setup=task.setup, settings=self._settings)
        sources = partial(example_sources, (self._set.surface,))
        return Episode(partial(_judged, task), gold=gold, setup=task.setup, sources=sources)


def _solution(task: WrittenTask) -> str:
    """Return the program that does a task without a model; "" if there is none."""
    return task.solution or task.answer or (repr(task.expect) if not task.check else "")


def read_tasks(file: Path) -> TaskSet:
    """Read a task file. Raises ConfigurationError that lists every mistake in it."""
    try:
        text = file.read_text(encoding="utf-8")
        node, content = yaml.compose(text, YamlLoader), yaml.load(text, YamlLoader)  # noqa: S506 -- a safe loader
    except OSError as error:
        message = f"cannot read the tasks {file}: {error.strerror}"
        raise ConfigurationError(message) from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        message = f"the tasks {file} are not YAML: {' '.join(str(error).split())}"
        raise ConfigurationError(message) from None
    if not isinstance(content, dict):
        message = f"{file}: expected a mapping with a list of `tasks`"
        raise ConfigurationError(message)
    try:
        tasks = TaskSet.model_validate(content)
    except ValidationError as error:
        wrong = "\n".join(f"{file}: line {line}: {text}" for line, text in sorted(mistakes(error, node, TaskSet)))
        raise ConfigurationError(wrong) from None
    ids = [task.id for task in tasks.tasks]
    twice = sorted({id_ for id_ in ids if ids.count(id_) > 1})
    if twice:
        message = f"{file}: more than one task has the id {', '.join(twice)}"
        raise ConfigurationError(message)
    return tasks


async def _judged(task: WrittenTask, run: Run) -> Verdict:
    if task.expect is not None and (lacking := untold(run.answer, task.expect)):
        return Verdict(solved=False, reason=_lacks(run.answer, lacking))
    for name, program in (("check", task.check), ("answer", task.answer)):
        if not program:
            continue
        outcome = await run.service.execute(program)
        if not outcome.ok:
            return Verdict(solved=False, reason=f"its {name} program fails: {failure_text(outcome.failure)}")
        if name == "check" and outcome.value is not True:
            return Verdict(solved=False, reason="the check did not return true")
        lacking = untold(run.answer, outcome.value) if name == "answer" else []
        if lacking:
            return Verdict(solved=False, reason=_lacks(run.answer, lacking))
    return Verdict(solved=True)


def _lacks(answer: str, lacking: Sequence[Any]) -> str:
    said = " ".join(answer.split())[:200]
    lacks = f"the answer lacks {', '.join(map(repr, lacking[:3]))}"
    return f"{lacks}: {said!r}" if said else f"{lacks}: it is empty"


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
