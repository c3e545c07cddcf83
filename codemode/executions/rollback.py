"""Rollback: a program of the inverses that an execution's tools name, newest call first."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from codemode.catalog.inverse import Inverse, InverseInvalid
from codemode.catalog.tool import Effect
from codemode.errors import RequestRepeated
from codemode.executions.run.ends import value_of
from codemode.executions.types.ids import may_be_execution
from codemode.executions.types.records import OPEN
from codemode.gateway.call import CallState
from codemode.transports.base import Page

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from codemode.catalog.catalog import Catalog
    from codemode.executions.journal.base import Journal
    from codemode.executions.life.programs import Request
    from codemode.executions.types.record import End, Record, RecordedCall
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


def plan(record: Record, catalog: Catalog) -> Rollback:
    """Return what the current tools can undo of an execution."""
    steps: list[Step] = []
    left: list[Left] = []
    for call in sorted(record.calls.values(), key=lambda one: one.sequence, reverse=True):
        if call.effect in ("", Effect.READ):
            continue
        if call.end is None or call.end.state is CallState.UNKNOWN:
            left.append(Left(call.path, call.tool, "it is unknown whether it took effect"))
        elif call.end.state is CallState.COMMITTED:
            inverse = _inverse(call, catalog)
            steps.append(inverse) if isinstance(inverse, Step) else left.append(inverse)
    return Rollback(tuple(steps), tuple(left))


def _value(end: End, *, is_page: bool) -> Any:
    answer = value_of(end, is_page=is_page)
    return answer.value if isinstance(answer, Page) else answer


def _inverse(call: RecordedCall, catalog: Catalog) -> Step | Left:
    assert call.end is not None  # noqa: S101 - it was committed
    reused = call.end.facts.get("reused")
    if reused:
        return Left(call.path, call.tool, f"it was made by {str(reused).partition(' ')[0]}: roll that execution back")
    text = catalog.get(call.tool).revert if call.tool in catalog else ""
    if not text:
        return Left(call.path, call.tool, "its tool names no inverse")
    if call.end.is_error:
        return Left(call.path, call.tool, "its answer was unusable, so the arguments of its inverse are unknown")
    try:
        inverse = Inverse.parse(text)
        arguments = inverse.arguments(result=_value(call.end, is_page=call.is_page), arguments=call.arguments)
    except InverseInvalid as error:
        return Left(call.path, call.tool, str(error))
    name = _named(inverse.tool, call.tool.partition(".")[0], catalog)
    if name is None:
        return Left(call.path, call.tool, f"its inverse {inverse.tool} is not in the catalog")
    if "[secret " in json.dumps(arguments):
        return Left(call.path, call.tool, "its inverse needs a secret, and secrets are not recorded")
    return Step(call.path, name, arguments)


def _named(name: str, namespace: str, catalog: Catalog) -> str | None:
    """Return the id of a tool in the namespace, or else in the whole catalog."""
    return next((catalog.get(one).id for one in (f"{namespace}.{name}", name) if one in catalog), None)


async def begin_rollback(
    planned: Rollback, request: Request, start: Callable[[Request], Awaitable[str]], journal: Journal
) -> Rollback:
    """Start a rollback's execution. Continue an earlier one that failed, and return one that did not."""
    while True:
        try:
            return replace(planned, execution=await start(request))
        except RequestRepeated as repeated:
            earlier = await journal.get(repeated.execution)
            if earlier.status in (*OPEN, "completed"):
                return replace(planned, execution=earlier.given.id)
            again = f"rollback {earlier.given.id}"
            request = replace(request, resume_from=earlier.given.id, key=again)
