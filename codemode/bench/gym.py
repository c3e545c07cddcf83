"""The bundled gym service: 137 operations over HTTP, started afresh for each task (`api_specs/gym/tasks.yaml`)."""

from __future__ import annotations

from functools import partial
from importlib.resources import as_file, files
from typing import TYPE_CHECKING, Any

from codemode.bench.suite import Episode, Run, Task, Verdict
from codemode.serving.agent.evaluation import read_tasks, untold
from codemode.serving.cli.example_services import example_sources

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codemode.serving.agent.evaluation import Task as GymTask


class Gym:
    """The tasks of the back office of a gym. Their gold programs are their `solution`, or else their `answer`."""

    name = "gym"

    def tasks(self) -> Sequence[Task]:
        """Return the tasks of the file."""
        with as_file(files("api_specs.gym") / "tasks.yaml") as file:
            return [Task(task.id, [task.message], partial(_begin, task)) for task in read_tasks(file).tasks]


def _begin(task: GymTask) -> Episode:
    async def judge(run: Run) -> Verdict:
        if task.check and await _value(run, task.check) is not True:
            return Verdict(solved=False, reason="the check did not return true")
        lacking = untold(run.answer, await _value(run, task.answer)) if task.answer else []
        return Verdict(not lacking, f"the answer lacks {', '.join(map(str, lacking[:3]))}" if lacking else "")

    return Episode(
        judge,
        gold=[task.solution or task.answer],
        setup=task.setup,
        sources=partial(example_sources, ("gym",)),
    )


async def _value(run: Run, program: str) -> Any:
    return (await run.service.execute(program)).raise_for_status().value
