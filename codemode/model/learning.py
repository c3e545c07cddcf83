"""Learn the fields of undocumented results on request: call the reads of a source, and share the shapes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from codemode.catalog.observed import is_undocumented
from codemode.catalog.paging import paging_of
from codemode.catalog.stubs import examples_of, stub
from codemode.catalog.tool import Effect
from codemode.errors import ConfigurationError
from codemode.text.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from codemode.catalog.catalog import Catalog
    from codemode.catalog.observed import ObservedShapes
    from codemode.catalog.tool import Tool
    from codemode.executions.types.outcome import ExecutionOutcome

#: Items that are asked for in a page.
_ITEMS = 5


class Learned(NamedTuple):
    """What became of a tool: its signature, or else why its fields are not known."""

    tool: str
    signature: str = ""
    problem: str = ""


class LearningPlan(NamedTuple):
    """The calls that show the fields of results, by tool, and the undocumented reads that need arguments."""

    calls: tuple[tuple[Tool, str], ...]
    skipped: tuple[Tool, ...]


def learning_plan(source: str, catalog: Catalog, is_guarded: Callable[[Tool], bool]) -> LearningPlan:
    """Return the calls of a source's undocumented reads. Writes, and calls that need a person, are never made.

    Raises ConfigurationError for an unknown source.
    """
    tools = [tool for tool in catalog if tool.source == source]
    if not tools:
        names = {tool.source for tool in catalog}
        message = f"there is no source {source!r} with tools{did_you_mean(source, names)}"
        raise ConfigurationError(message)
    reads = [tool for tool in tools if tool.effect is Effect.READ and is_undocumented(tool) and not is_guarded(tool)]
    calls = [(tool, next(_calls(tool), "")) for tool in reads]
    return LearningPlan(
        tuple((tool, call) for tool, call in calls if call), tuple(tool for tool, call in calls if not call)
    )


async def learn(
    plan: LearningPlan, execute: Callable[[str], Awaitable[ExecutionOutcome]], shapes: ObservedShapes, caller: str
) -> list[Learned]:
    """Make the calls of a plan one after the other, and share what they show with all callers."""
    learned = []
    for tool, call in plan.calls:
        outcome = await execute(call)
        if not outcome.ok:
            problem = outcome.failure.message if outcome.failure is not None else str(outcome.status)
            learned.append(Learned(tool.id, problem=problem))
        elif shapes.share(caller, tool):
            learned.append(Learned(tool.id, stub(tool, observed=shapes.schema(caller, tool)).partition("\n")[0]))
        else:
            learned.append(Learned(tool.id, problem="the answer is empty"))
    return [
        *learned,
        *(Learned(tool.id, problem="it needs arguments, and no example is known") for tool in plan.skipped),
    ]


def _calls(tool: Tool) -> Iterator[str]:
    """Yield calls of a tool: without arguments but the size of a page, else its examples."""
    if not any(parameter.required for parameter in tool.parameters):
        paging = paging_of(tool)
        yield f"{tool.id}({f'{paging.size}={_ITEMS}' if paging is not None and paging.size else ''})"
    yield from examples_of(tool)
