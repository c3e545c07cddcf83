"""Mistakes in suites, rejected with what is wrong and how it should be."""

from __future__ import annotations

import inspect
from collections import Counter
from typing import TYPE_CHECKING

from codemode.bench.suite import Episode, Task, Verdict
from codemode.errors import ConfigurationError
from codemode.text.counted import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codemode.bench.suite import Run


def check_tasks(suite: str, tasks: Sequence[Task]) -> None:
    """Reject what is no task, tasks with the same id, and messages that are a text. Raises ConfigurationError."""
    for task in tasks:
        if not isinstance(task, Task):
            message = f"{suite}: tasks() returned {type(task).__name__}: it must return a list of Task"
            raise ConfigurationError(message)
    twice = [id_ for id_, times in Counter(task.id for task in tasks).items() if times > 1]
    if twice:
        message = f"{suite}: {counted(len(twice), 'task id')} used more than once, such as {twice[0]!r}"
        raise ConfigurationError(message)
    for task in tasks:
        if isinstance(task.messages, str):
            message = f"{suite}: `Task.messages` of {task.id!r} is a text: it is a list of texts"
            raise ConfigurationError(message)
        if not task.messages:
            message = f"{suite}: `Task.messages` of {task.id!r} is empty"
            raise ConfigurationError(message)


def begun(task: Task) -> Episode:
    """Begin an attempt. Raises TypeError if the suite returns something else than an episode."""
    episode = task.begin()
    if not isinstance(episode, Episode):
        message = (
            f"`Task.begin` returned {type(episode).__name__}: it must return an Episode, and is no coroutine function"
        )
        raise TypeError(message)
    return episode


def check_gold(task: Task, episode: Episode) -> None:
    """Reject gold that does not fit the messages. Raises ValueError."""
    for name, given in (("gold", episode.gold), ("gold_answers", episode.gold_answers)):
        if isinstance(given, str):
            message = f"`Episode.{name}` is a text: it is a list with one text for each message"
            raise ValueError(message)
        if len(given) != len(task.messages) and (given or name == "gold"):
            message = f"`Episode.{name}` has length {len(given)}, for {counted(len(task.messages), 'message')}"
            raise ValueError(message)


async def verdict_of(episode: Episode, run: Run) -> Verdict:
    """Return the judge's verdict on a run. Raises TypeError if the judge returns something else."""
    waiting = episode.judge(run)
    if not inspect.isawaitable(waiting):
        raise TypeError("the judge is no coroutine function: define it with `async def`")
    verdict = await waiting
    if not isinstance(verdict, Verdict):
        message = f"the judge returned {type(verdict).__name__}: it must return a Verdict"
        raise TypeError(message)
    return verdict
