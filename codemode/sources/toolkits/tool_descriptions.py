"""Read planner tool descriptions: `spec.planner.config.tool_descriptions` of a YAML file (name, description, args)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from codemode.sources.functions.described import ToolDescription

if TYPE_CHECKING:
    from codemode.sources.functions.described import Descriptions, Document

_FULL_PATH = ("spec", "planner", "config", "tool_descriptions")

_NAME = re.compile(r"[A-Za-z_]\w*")


def is_tool_descriptions(data: Any) -> bool:
    """Whether the data holds `tool_descriptions`, at its full path or at the top level."""
    return _list_path(data) is not None


def read_tool_descriptions(document: Document, descriptions: Descriptions) -> None:
    """Add the described tools to `descriptions`, with `metadata.name` as title. Raises SourceError with the line."""
    path = _list_path(document.data) or ()
    described: Any = document.data
    for key in path:
        described = described[key]
    metadata = document.data.get("metadata")
    descriptions.title = descriptions.title or (str(metadata.get("name", "")) if isinstance(metadata, Mapping) else "")
    for number, item in enumerate(described):
        item_path: tuple[str | int, ...] = (*path, number)
        name = item.get("name") if isinstance(item, Mapping) else None
        if not isinstance(name, str) or not name:
            raise document.error("a described tool must have a name", *item_path)
        names = _names(document, item.get("args") or (), (*item_path, "args"))
        descriptions.tools.append(
            ToolDescription(name, document, item_path, str(item.get("description") or "").strip(), names=names)
        )


def _names(document: Document, args: Any, path: tuple[str | int, ...]) -> dict[str, str]:
    """Return the argument names with their descriptions. `args` is a string, a list or a mapping."""
    if isinstance(args, str):
        args = [name.strip() for name in args.split(",") if name.strip()]
    if isinstance(args, Mapping):
        names = {str(name): _description_of(text) for name, text in args.items()}
    elif isinstance(args, (list, tuple)):
        names = {_name_of(arg): _description_of(arg) if isinstance(arg, Mapping) else "" for arg in args}
    else:
        names = {"": ""}
    invalid = next((name for name in names if not _NAME.fullmatch(name)), None)
    if invalid is not None:
        message = f"args must be names, with or without descriptions{f': {invalid!r} is not a name' if invalid else ''}"
        raise document.error(message, *path)
    return names


def _name_of(arg: Any) -> str:
    if isinstance(arg, Mapping):
        return str(arg.get("name") or (next(iter(arg)) if len(arg) == 1 else ""))
    return arg if isinstance(arg, str) else ""


def _description_of(arg: Any) -> str:
    """Return the description of an argument: a string, or the `description` or only value of a mapping."""
    if isinstance(arg, Mapping):
        single = next(iter(arg.values())) if len(arg) == 1 and "name" not in arg else ""
        return str(arg.get("description") or single or "")
    return arg if isinstance(arg, str) else ""


def _list_path(data: Any) -> tuple[str, ...] | None:
    for path in (_FULL_PATH, _FULL_PATH[-1:]):
        value = data
        for key in path:
            value = value.get(key) if isinstance(value, Mapping) else None
        if isinstance(value, list):
            return path
    return None
