"""What a rollback undoes, and what it leaves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from codemode.executions.types.ids import may_be_execution

if TYPE_CHECKING:
    from codemode.executions.types.records import NewExecution


@dataclass(frozen=True, slots=True)
class Step:
    """The inverse of one call. `path` is the path of the call that it undoes."""

    path: str
    tool: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Left:
    """A committed or unknown call that is not undone, and the reason."""

    path: str
    tool: str
    why: str


@dataclass(frozen=True, slots=True)
class Rollback:
    """The calls to undo, in order, and those left in place. `execution` is the id of the rollback's own execution."""

    steps: tuple[Step, ...]
    left: tuple[Left, ...]
    execution: str = ""

    def program(self) -> str:
        """Return the program that undoes the calls.

        The program ends at the first failure, because older calls may depend on newer ones.
        """
        return "\n".join(f"{step.tool}(**{step.arguments!r})" for step in self.steps)


def is_rollback(execution: NewExecution) -> bool:
    """Return whether an execution is a rollback. Its request digest is an execution id, which a caller's never is."""
    return may_be_execution(execution.request_digest)
