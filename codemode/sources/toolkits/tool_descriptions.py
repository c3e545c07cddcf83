"""Tool descriptions of planners: `spec.planner.config.tool_descriptions` of a YAML file (name, description, args)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from codemode.sources.toolkits.described import Described

if TYPE_CHECKING:
    from codemode.sources.toolkits.described import Descriptions, Document

_WHOLE = ("spec", "planner", "config", "tool_descriptions")

_NAME = re.compile(r"[A-Za-z_]\w*")


def is_tool_descriptions(data: Any) -> bool:
    """Whether it holds such a list, where the whole file has it or at its top."""
    return _found(data) is not None


def read_tool_descriptions(document: Document, found: Descriptions) -> None:
    """Add the described tools; the name of the whole is its title. Raises SourceError with the line of a mistake."""
    path = _found(document.data) or ()
    described: Any = document.data
    for key in path:
        described = described[key]
    metadata = document.data.get("metadata")
    found.title = found.title or (str(metadata.get("name", "")) if isinstance(metadata, Mapping) else "")
    for number, item in enumerate(described):
        place: tuple[str | int, ...] = (*path, number)
        name = item.get("name") if isinstance(item, Mapping) else None
        if not isinstance(name, str) or not name:
            raise document.error("a described tool has a name", *place)
        names = _names(document, item.get("args") or (), (*place, "args"))
        found.tools.append(Described(name, document, place, str(item.get("description") or "").strip(), names=names))


def _names(document: Document, args: Any, path: tuple[str | int, ...]) -> dict[str, str]:
    """The arguments with what is said of each: a list of names, or of names with descriptions, or a mapping."""
    if isinstance(args, str):
        args = [name.strip() for name in args.split(",") if name.strip()]
    if isinstance(args, Mapping):
        names = {str(name): _about(about) for name, about in args.items()}
    elif isinstance(args, (list, tuple)):
        names = {_name_of(arg): _about(arg) if isinstance(arg, Mapping) else "" for arg in args}
    else:
        names = {"": ""}
    wrong = next((name for name in names if not _NAME.fullmatch(name)), None)
    if wrong is not None:
        message = f"args are names, alone or each with its description{f': {wrong!r} is none' if wrong else ''}"
        raise document.error(message, *path)
    return names


def _name_of(arg: Any) -> str:
    if isinstance(arg, Mapping):
        return str(arg.get("name") or (next(iter(arg)) if len(arg) == 1 else ""))
    return arg if isinstance(arg, str) else ""


def _about(arg: Any) -> str:
    """What is said of an argument: a text, or the `description` of a mapping (or its only value)."""
    if isinstance(arg, Mapping):
        only = next(iter(arg.values())) if len(arg) == 1 and "name" not in arg else ""
        return str(arg.get("description") or only or "")
    return arg if isinstance(arg, str) else ""


def _found(data: Any) -> tuple[str, ...] | None:
    for path in (_WHOLE, _WHOLE[-1:]):
        value = data
        for key in path:
            value = value.get(key) if isinstance(value, Mapping) else None
        if isinstance(value, list):
            return path
    return None
