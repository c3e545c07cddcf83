"""Whether a run of gold programs went as its suite says: the gate of `make bench-agents`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from codemode.bench.results import Result
    from codemode.bench.suite import Task


def surprises(tasks: Sequence[Task], results: Iterable[Result]) -> list[str]:
    """Return a line for each gold task that newly fails, or is solved although `Task.gold_fails` says why not."""
    known = {task.id: task.gold_fails for task in tasks}
    return [
        f"{one.task}: solved, although `gold_fails` says: {known[one.task]}"
        if one.solved
        else f"{one.task}: {one.reason}"
        for one in results
        if one.solved == bool(known[one.task])
    ]
