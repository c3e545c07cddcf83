"""Taking back what an execution has done: a program of the inverses that its tools name, the newest call first."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from codemode.catalog.inverse import Inverse, InverseInvalid
from codemode.catalog.tool import Effect
from codemode.errors import RequestRepeated
from codemode.executions.executor import may_be_execution
from codemode.executions.journal.base import OPEN
from codemode.gateway.call import CallState

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from codemode.catalog.catalog import Catalog
    from codemode.executions.journal.base import Journal, NewExecution
    from codemode.executions.programs import Request
    from codemode.executions.replay.record import Record, RecordedCall


@dataclass(frozen=True, slots=True)
class Step:
    """One call to be taken back (its path), and what does it."""

    path: str
    tool: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Left:
    """One call that stays, or may have been made, and why."""

    path: str
    tool: str
    why: str


@dataclass(frozen=True, slots=True)
class Rollback:
    """What is taken back, in that order, and what is not. `execution` is that of the calls that do it."""

    steps: tuple[Step, ...]
    left: tuple[Left, ...]
    execution: str = ""

    def program(self) -> str:
        """The program that takes them back. The first that fails ends it: what is older may be needed by it."""
        return "\n".join(f"{step.tool}(**{step.arguments!r})" for step in self.steps)


def is_rollback(given: NewExecution) -> bool:
    """Whether it takes another back: it is the request of that execution's id, which no request of a caller is."""
    return may_be_execution(given.request_digest)


def plan(record: Record, catalog: Catalog) -> Rollback:
    """What can be taken back of an execution, by the tools that there are."""
    steps: list[Step] = []
    left: list[Left] = []
    for call in sorted(record.calls.values(), key=lambda one: one.sequence, reverse=True):
        if call.effect in ("", Effect.READ):
            continue
        if call.end is None or call.end.state is CallState.UNKNOWN:
            left.append(Left(call.path, call.tool, "whether it was done is not known"))
        elif call.end.state is CallState.COMMITTED:
            found = _inverse(call, catalog)
            steps.append(found) if isinstance(found, Step) else left.append(found)
    return Rollback(tuple(steps), tuple(left))


def _inverse(call: RecordedCall, catalog: Catalog) -> Step | Left:
    assert call.end is not None  # noqa: S101 - it was committed
    reused = call.end.facts.get("reused")
    if reused:
        return Left(call.path, call.tool, f"it was done by {str(reused).partition(' ')[0]}: roll that back")
    text = catalog.get(call.tool).revert if call.tool in catalog else ""
    if not text:
        return Left(call.path, call.tool, "nothing is named that takes it back")
    if call.end.is_error:
        return Left(call.path, call.tool, "its answer could not be used")
    try:
        inverse = Inverse.parse(text)
        arguments = inverse.arguments(result=json.loads(call.end.answer), arguments=call.arguments)
    except InverseInvalid as error:
        return Left(call.path, call.tool, str(error))
    name = _named(inverse.tool, call.tool.partition(".")[0], catalog)
    if name is None:
        return Left(call.path, call.tool, f"there is no tool {inverse.tool}, which would take it back")
    if "[secret " in json.dumps(arguments):
        return Left(call.path, call.tool, "what would take it back needs a secret, and none is kept")
    return Step(call.path, name, arguments)


def _named(name: str, namespace: str, catalog: Catalog) -> str | None:
    """The id of a tool of the same namespace, or of any."""
    return next((catalog.get(one).id for one in (f"{namespace}.{name}", name) if one in catalog), None)


async def begin_rollback(
    found: Rollback, request: Request, start: Callable[[Request], Awaitable[str]], journal: Journal
) -> Rollback:
    """Start the execution of a rollback. An earlier one that failed is continued; one that did not is returned."""
    while True:
        try:
            return replace(found, execution=await start(request))
        except RequestRepeated as repeated:
            earlier = await journal.get(repeated.execution)
            if earlier.status in (*OPEN, "completed"):
                return replace(found, execution=earlier.given.id)
            again = f"rollback {earlier.given.id}"
            request = replace(request, resume_from=earlier.given.id, key=again)
