"""A surface of 900 tools: tasks of the gym, beside operations of AWS (package `botocore`, Apache-2.0).

Whole services are added in the order that `random.Random(900)` gives, until there are 900 tools. Nothing is behind
them: their calls fail. The tasks are the first of the gym's that were not played before, in another random order.
"""

from __future__ import annotations

import random
import re
from dataclasses import replace
from functools import cache, partial
from itertools import islice
from typing import TYPE_CHECKING, Any

import botocore.session

from benchmarks.agents.paired import FOLDER
from codemode.bench.registry import suite_of, tasks_of
from codemode.bench.tools import ReadingTool, SuiteTool
from codemode.catalog.identifiers import identifier

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from codemode.bench.suite import Episode, Task

TOOLS = 900
TASKS = 10

#: Number of the gym's tools.
_OF_THE_GYM = 137

#: How the names of operations begin that change nothing.
_READS = ("Describe", "Get", "List", "Search", "Query", "Scan", "BatchGet", "Head", "Lookup")

_DEPTH = 3  # levels of nested objects in a schema; deeper ones are `{"type": "object"}`

_TYPES = {"boolean": "boolean", "integer": "integer", "long": "integer", "float": "number", "double": "number"}


class Surface:
    """Ten tasks of the gym among 900 tools."""

    name = "surface"
    packages = ("botocore",)

    def tasks(self) -> Sequence[Task]:
        """Return the tasks."""
        chance = random.Random(TOOLS)  # noqa: S311 -- a draw that anybody can repeat
        played = {
            line.split()[1]
            for file in FOLDER.glob("[0-9].txt")
            for line in file.read_text(encoding="utf-8").splitlines()
            if line.startswith("gym ")
        }
        tasks = {task.id: task for task in tasks_of(suite_of("gym")) if not task.gold_fails}
        chosen = chance.sample(sorted(set(tasks) - played), TASKS)
        return [replace(tasks[id_], begin=partial(_begin, tasks[id_])) for id_ in chosen]


def _begin(task: Task) -> Episode:
    episode = task.begin()
    return replace(episode, tools={**episode.tools, **services()})


@cache
def services() -> dict[str, list[SuiteTool]]:
    """Return the operations of AWS by namespace, as many as 900 tools lack."""
    tools: dict[str, list[SuiteTool]] = {}
    for namespace, tool in islice(_operations(), TOOLS - _OF_THE_GYM):
        tools.setdefault(namespace, []).append(tool)
    return tools


def _operations() -> Iterator[tuple[str, SuiteTool]]:
    session = botocore.session.get_session()
    names = sorted(session.get_available_services())
    random.Random(TOOLS).shuffle(names)  # noqa: S311 -- a draw that anybody can repeat
    for service in names:
        model = session.get_service_model(service)
        for name in model.operation_names:
            yield identifier(service), _tool(service, model.operation_model(name))


def _tool(service: str, operation: Any) -> SuiteTool:
    schema = {"type": "object"} if operation.input_shape is None else _schema(operation.input_shape, _DEPTH)
    kind = ReadingTool if operation.name.startswith(_READS) else SuiteTool
    return kind(_snake(operation.name), _plain(operation.documentation), schema, partial(_missing, service))


def _missing(service: str, **_: Any) -> Any:
    message = f"no account of {service} is connected"
    raise LookupError(message)


def _schema(shape: Any, depth: int) -> dict[str, Any]:
    """Return the JSON Schema of a shape."""
    if shape.type_name == "list":
        return {"type": "array", "items": _schema(shape.member, depth)}
    if shape.type_name == "structure" and depth:
        members = {
            name: {**_schema(member, depth - 1), "description": _plain(member.documentation)}
            for name, member in shape.members.items()
        }
        return {"type": "object", "properties": members, "required": list(shape.required_members)}
    if shape.type_name in ("structure", "map"):
        return {"type": "object"}
    return {
        "type": _TYPES.get(shape.type_name, "string"),
        **({"enum": shape.enum} if getattr(shape, "enum", ()) else {}),
    }


def _plain(html: str) -> str:
    """Return the first sentences of a text, without its tags."""
    text = " ".join(re.sub(r"<[^>]{1,200}>", " ", html or "").split())
    return text if len(text) <= 300 else text[:300].rsplit(" ", 1)[0] + " …"


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


suite = Surface
