"""Read OpenAI function tools: of chat completions, of the Responses API, and the older `functions`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from codemode.catalog.tool import Effect
from codemode.sources.functions.described import ToolDescription
from codemode.sources.loaded import SourceWarning

if TYPE_CHECKING:
    from codemode.sources.functions.described import Descriptions, Document

#: The top-level keys that may hold a list of tools.
LISTS = ("tools", "functions")

_EFFECTS = tuple(Effect)


def is_function_list(data: Any) -> bool:
    """Whether the data is a list of tools, at the top level or under a key of `LISTS`."""
    items = data if isinstance(data, list) else _tool_list(data)
    return bool(items) and all(isinstance(item, Mapping) for item in items) and any(_is_function(i) for i in items)


def read_functions(document: Document, descriptions: Descriptions) -> None:
    """Add the functions of a list to `descriptions`. Raises SourceError with the line of an invalid one."""
    key = () if isinstance(document.data, list) else (next(key for key in LISTS if key in document.data),)
    for number, item in enumerate(document.data[key[0]] if key else document.data):
        _read(document, item, (*key, number), descriptions)


def described(document: Document, item: Any, path: tuple[str | int, ...]) -> ToolDescription:
    """Read one function in any of the shapes. Raises SourceError with the line if it is invalid.

    Besides OpenAI's fields, it may have `effect`, `endpoint` and `examples`.
    """
    if not isinstance(item, Mapping):
        raise document.error("a function must be an object with a name", *path)
    inner = item.get("function")
    function = inner if isinstance(inner, Mapping) else item
    name = function.get("name")
    if not isinstance(name, str) or not name:
        raise document.error("a function must have a name", *path)
    schema = function.get("parameters") or {}
    if not isinstance(schema, Mapping) or not isinstance(schema.get("properties", {}), Mapping):
        message = f"the parameters of {name!r} must be a JSON Schema of an object"
        raise document.error(message, *path)
    effect = item.get("effect", function.get("effect"))
    if effect is not None and effect not in _EFFECTS:
        message = f"the effect of {name!r} must be one of {', '.join(_EFFECTS)}"
        raise document.error(message, *path)
    returns = function.get("output_schema")
    return ToolDescription(
        name,
        document,
        path,
        description=str(function.get("description") or ""),
        schema=schema,
        returns=returns if isinstance(returns, Mapping) else None,
        effect=None if effect is None else Effect(effect),
        examples=texts(document, function.get("examples") or (), *path, "examples"),
        endpoint=str(item.get("endpoint", function.get("endpoint", ""))),
    )


def texts(document: Document, value: Any, *path: str | int) -> tuple[str, ...]:
    """Return a list of strings as a tuple. Raises SourceError with the line if it is anything else."""
    if isinstance(value, (list, tuple)) and all(isinstance(text, str) for text in value):
        return tuple(value)
    raise document.error("must be a list of strings", *path)


def _read(document: Document, item: Mapping[str, Any], path: tuple[str | int, ...], descriptions: Descriptions) -> None:
    kind = item.get("type", "function")
    if kind == "namespace" and isinstance(item.get("tools"), list):  # a group in the Responses API
        for number, inner in enumerate(item["tools"]):
            tool = described(document, inner, (*path, "tools", number))
            descriptions.tools.append(replace(tool, toolkit=str(item.get("name", ""))))
    elif kind == "function":
        descriptions.tools.append(described(document, item, path))
    else:
        descriptions.warnings.append(
            SourceWarning(document.where(*path), f"a tool of type {kind!r} runs only at its API: left out")
        )


def _is_function(item: Mapping[str, Any]) -> bool:
    inner = item.get("function", item)
    return item.get("type") == "namespace" or (isinstance(inner, Mapping) and "name" in inner)


def _tool_list(data: Any) -> Any:
    lists = (data.get(key) for key in LISTS) if isinstance(data, Mapping) else ()
    return next((items for items in lists if isinstance(items, list)), None)
