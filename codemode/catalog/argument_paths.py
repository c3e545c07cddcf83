"""Arguments by path: `limit`, or `pagination.starting_after` for a field of an object argument."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codemode.catalog.schema import Schema
    from codemode.catalog.tool import Tool

_INTEGER = re.compile(r"-?\d{1,18}")


def argument_at(arguments: Mapping[str, Any], path: str) -> Any:
    """Return the value at a path, None if there is none."""
    value: Any = arguments
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value


def with_argument(arguments: Mapping[str, Any], path: str, value: object) -> dict[str, Any]:
    """Return a copy of the arguments with the value at the path."""
    name, _, rest = path.partition(".")
    inner = arguments.get(name)
    own = with_argument(inner if isinstance(inner, dict) else {}, rest, value) if rest else value
    return {**arguments, name: own}


def fitting(tool: Tool, path: str, value: object) -> object:
    """Return a number or a text in the type that the parameter at the path declares."""
    schema = _schema_at(tool, path)
    types = schema.resolved().types() if schema is not None else ()
    if type(value) is int and types and not {"integer", "number"} & set(types) and "string" in types:
        return str(value)
    if isinstance(value, str) and "integer" in types and "string" not in types and _INTEGER.fullmatch(value):
        return int(value)
    return value


def _schema_at(tool: Tool, path: str) -> Schema | None:
    first, *names = path.split(".")
    schema = next((parameter.schema for parameter in tool.parameters if parameter.name == first), None)
    for name in names:
        schema = schema.resolved().properties().get(name) if schema is not None else None
    return schema
