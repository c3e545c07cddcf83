"""Find a suite by its name on the command line."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from codemode.errors import ConfigurationError, SourceError
from codemode.sources.functions.source import import_target
from codemode.text.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codemode.bench.suite import Suite, Task

#: The class of each bundled suite, and what provides its tasks.
SUITES = {
    "agentdojo": ("codemode.bench.suites.agentdojo:AgentDojo", "pip install 'codemode[bench]'"),
    "bfcl": ("codemode.bench.suites.bfcl:Bfcl", "pip install mpmath, and pip install --no-deps bfcl-eval"),
    "tau2": ("codemode.bench.suites.tau2:Tau2", "pip install 'codemode[bench]'"),
    "m3": ("codemode.bench.suites.m3:M3ToolEval", "clone github.com/xingyaoww/code-act"),
    "gym": ("codemode.bench.suites.gym:Gym", ""),
}


def suite_of(text: str) -> Suite:
    """Return the suite in `NAME`, `NAME:VARIANT`, `FILE.py:NAME` or `package.module:NAME`.

    Raises ConfigurationError.
    """
    name, _, variant = text.partition(":")
    if name in SUITES:
        return _bundled(name, variant)
    if "." not in name:
        known = did_you_mean(name, SUITES) or f"; the suites are {', '.join(SUITES)}"
        message = f"there is no suite {name!r}{known}. A suite of your own is FILE.py:NAME"
        raise ConfigurationError(message)
    try:
        found: Suite = _instance(import_target(text))
    except SourceError as error:
        raise ConfigurationError(str(error)) from None
    if not isinstance(getattr(found, "name", None), str) or not callable(getattr(found, "tasks", None)):
        message = f"{text} is not a suite: it needs `name` and `tasks()` (docs/how-to/add-a-suite.md)"
        raise ConfigurationError(message)
    return found


def _instance(target: Any) -> Any:
    return target() if isinstance(target, type) else target


def _bundled(name: str, variant: str) -> Suite:
    location, remedy = SUITES[name]
    module, _, class_ = location.partition(":")
    try:
        kind = getattr(import_module(module), class_)
    except ImportError as error:
        message = f"the suite {name} is not installed ({error}): {remedy}"
        raise ConfigurationError(message) from None
    suite: Suite = kind(variant) if variant else kind()
    return suite


def chosen_tasks(suite: Suite, choice: str) -> Sequence[Task]:
    """Return all tasks (""), the first ones ("10"), or those with these ids ("a,b"). Raises ConfigurationError."""
    tasks = suite.tasks()
    if not choice:
        return tasks
    if choice.isdecimal() and choice not in {task.id for task in tasks}:
        return tasks[: int(choice)]
    by_id = {task.id: task for task in tasks}
    wanted = [one.strip() for one in choice.split(",")]
    unknown = next((one for one in wanted if one not in by_id), None)
    if unknown is not None:
        message = f"--tasks: {suite.name} has no task {unknown!r}{did_you_mean(unknown, by_id)}"
        raise ConfigurationError(message)
    return [by_id[one] for one in wanted]
