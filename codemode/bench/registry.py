"""Find a suite by its name on the command line."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from traceback import extract_tb
from typing import TYPE_CHECKING, Any

from codemode.bench.clone import REMEDY, member_of, names_of
from codemode.bench.task_file import TaskFile
from codemode.errors import ConfigurationError, SourceError
from codemode.sources.functions.source import import_target
from codemode.text.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codemode.bench.suite import Suite, Task


def suite_of(text: str) -> Suite:
    """Return the suite in `TASKS.yaml`, or in `NAME`, `FILE.py:NAME`, `package.module:NAME` with or without `:VARIANT`.

    Raises ConfigurationError.
    """
    name, _, rest = text.partition(":")
    if text.endswith((".yaml", ".yml")):
        return TaskFile(Path(text))
    if text == "gym":
        return TaskFile(Path(str(files("api_specs.gym") / "tasks.yaml")), "gym")
    if "." not in name:
        return _of_the_clone(name, rest)
    attribute, _, variant = rest.partition(":")
    try:
        target = import_target(f"{name}:{attribute}")
    except SourceError as error:
        raise ConfigurationError(str(error)) from None
    found = _instance(text, target, variant)
    if not isinstance(getattr(found, "name", None), str) or not callable(getattr(found, "tasks", None)):
        message = f"{text} is not a suite: it needs `name` and `tasks()` (docs/how-to/add-a-suite.md)"
        raise ConfigurationError(message)
    suite: Suite = found
    return suite


def _instance(text: str, target: Any, variant: str) -> Any:
    """Return the suite itself, or an instance of its class. The variant is the only argument of the class."""
    if not isinstance(target, type):
        if variant:
            message = f"{text}: only the class of a suite takes the variant {variant!r}"
            raise ConfigurationError(message)
        return target
    try:
        return target(variant) if variant else target()
    except TypeError as error:
        message = (
            f"{text}: {error}. The class of a suite takes no argument, or the text VARIANT of FILE.py:NAME:VARIANT"
        )
        raise ConfigurationError(message) from error


def _of_the_clone(name: str, variant: str) -> Suite:
    suites = names_of("suites")
    if name not in suites:
        names = ("gym", *suites)
        known = did_you_mean(name, names) or f"; the suites are {', '.join(names)}"
        where = "" if suites else ". Suites that others wrote come with a clone of codemode"
        message = f"there is no suite {name!r}{known}{where}. A suite of your own is FILE.py:NAME, or TASKS.yaml"
        raise ConfigurationError(message)
    kind = member_of(suites[name], "suite")
    suite: Suite = kind(variant) if variant else kind()
    return suite


def tasks_of(suite: Suite) -> Sequence[Task]:
    """Return the tasks of a suite. Raises ConfigurationError if there are none, or they cannot be read."""
    try:
        tasks = list(suite.tasks())
    except ConfigurationError:
        raise
    except ImportError as error:
        message = f"the suite {suite.name} is not installed ({error}): {REMEDY}"
        raise ConfigurationError(message) from error
    except Exception as error:
        line = extract_tb(error.__traceback__)[-1]
        message = f"{suite.name}: tasks() failed at {line.filename}:{line.lineno}: {type(error).__name__}: {error}"
        raise ConfigurationError(message) from error
    if not tasks:
        message = f"the suite {suite.name} has no tasks"
        raise ConfigurationError(message)
    return tasks


def chosen_tasks(suite: Suite, choice: str) -> Sequence[Task]:
    """Return all tasks (""), the first ones ("10"), or those with these ids ("a,b", or in a file "@FILE").

    Raises ConfigurationError.
    """
    tasks = tasks_of(suite)
    if not choice:
        return tasks
    if choice.isdecimal() and choice not in {task.id for task in tasks}:
        if int(choice) == 0:
            raise ConfigurationError("--tasks: give at least one task")
        return tasks[: int(choice)]
    by_id = {task.id: task for task in tasks}
    wanted = _listed(Path(choice[1:]), suite.name) if choice[0] == "@" else [one.strip() for one in choice.split(",")]
    unknown = next((one for one in wanted if one not in by_id), None)
    if unknown is not None:
        message = f"--tasks: {suite.name} has no task {unknown!r}{did_you_mean(unknown, by_id)}"
        raise ConfigurationError(message)
    return [by_id[one] for one in wanted]


def _listed(file: Path, suite: str) -> list[str]:
    """Return the tasks of a suite in a file with lines `SUITE TASK` and comments. Raises ConfigurationError."""
    try:
        lines = [line.partition("#")[0].split() for line in file.read_text(encoding="utf-8").splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        message = f"--tasks @{file}: {error}"
        raise ConfigurationError(message) from None
    wrong = next((number for number, words in enumerate(lines, 1) if len(words) not in (0, 2)), None)
    if wrong is not None:
        message = f"--tasks @{file}: line {wrong} is not a suite and a task, such as: gym dark-theme"
        raise ConfigurationError(message)
    wanted = [words[1] for words in lines if words and words[0] == suite]
    if not wanted:
        message = f"--tasks @{file}: it has no task of the suite {suite}"
        raise ConfigurationError(message)
    return wanted
