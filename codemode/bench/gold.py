"""Whether a run of gold programs went as its suite says: the gate of `make bench-agents`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from codemode.bench.results import Result
    from codemode.bench.suite import Task


def surprises(tasks: Sequence[Task], results: Iterable[Result]) -> list[str]:
    """Return a line for each gold task that fails without `Task.gold_fails`, or does not fail in spite of it.

    A task also fails if its judge accepts the state that a failed program left.
    """
    known = {task.id: task.gold_fails for task in tasks}
    found = ((one, _failure(one), known[one.task]) for one in results)
    return [
        f"{one.task}: {failure or f'solved, although `gold_fails` says: {declared}'}"
        for one, failure, declared in found
        if bool(failure) != bool(declared)
    ]


def _failure(result: Result) -> str:
    """Return why the gold programs failed, or ""."""
    if not result.solved:
        return result.reason or "not solved"
    return f"solved, although a gold program {result.fault}" if result.fault else ""
