"""Tools of suites: described by a schema, recorded when they are called, and called in programs."""

from __future__ import annotations

import copy
import functools
import inspect
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pydantic_core import to_jsonable_python

from codemode.bench.suite import ToolCall
from codemode.catalog.identifiers import identifier
from codemode.sources.functions.callables import tool
from codemode.sources.functions.source import name_of

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Mapping, Sequence


@dataclass(frozen=True, slots=True)
class SuiteTool:
    """A tool that a suite describes by a JSON Schema. `function` takes the arguments as keywords."""

    name: str
    description: str
    args_schema: Mapping[str, Any]
    function: Callable[..., Any]

    async def run(self, **arguments: Any) -> Any:
        """Call the function on the event loop, one call at a time. Return JSON data."""
        return to_jsonable_python(self.function(**arguments), fallback=str)


class ReadingTool(SuiteTool):
    """A tool that changes nothing."""

    @tool(effect="read")
    async def run(self, **arguments: Any) -> Any:
        """Call the function on the event loop, one call at a time. Return JSON data."""
        return to_jsonable_python(self.function(**arguments), fallback=str)


def recorded(tools: Iterable[object], record: Callable[[ToolCall], None]) -> list[object]:
    """Return the tools, each of which reports its calls to `record` first."""
    return [_recorded(one, record) for one in tools]


def _recorded(target: Any, record: Callable[[ToolCall], None]) -> object:
    name = target.name if isinstance(target, SuiteTool) else name_of(target)
    function = target.function if isinstance(target, SuiteTool) else target

    @functools.wraps(function)
    def call(*positional: Any, **named: Any) -> Any:
        given = inspect.signature(function).bind(*positional, **named).arguments if positional else named
        record(ToolCall(name, copy.deepcopy(dict(given))))  # the function may keep and change what it gets
        return function(*positional, **named)

    if isinstance(target, SuiteTool):
        return replace(target, function=call)
    return call


def program_of(calls: Sequence[ToolCall], namespace: str, failing: Container[int] = ()) -> str:
    """Return the program that makes these calls in order. Its result is that of the last one.

    `failing` are the indexes of calls that fail by intent; the program goes on after them.
    """
    lines = []
    for index, call in enumerate(calls):
        line = expression_of(call, namespace)
        lines.append(f"try:\n    {line}\nexcept ToolError:\n    pass" if index in failing else line)
    return "\n".join(lines) or "None"


def expression_of(call: ToolCall, namespace: str) -> str:
    """Return a call as a Python expression. An argument that is a ToolCall becomes a nested call.

    Programs know a tool by its identifier: `lockDoors` is `lock_doors`.
    """
    arguments = (
        f"{name}={expression_of(value, namespace) if isinstance(value, ToolCall) else repr(value)}"
        for name, value in call.arguments.items()
    )
    return f"{namespace}.{identifier(call.tool)}({', '.join(arguments)})"
