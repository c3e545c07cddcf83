"""Placeholders of path templates as frameworks write them: `{id:int}`, `{uuid:id}`, `{**path}`, `{proxy+}`, `{id?}`.

The standard form is `{name}` (OpenAPI 3.1, Path Templating). Routers of ASP.NET, Starlette, JAX-RS, gRPC and AWS add a
type, a pattern or a mark for several segments, and their generators copy it to the document.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection

#: A placeholder. A pattern in it may have braces: `{id:[0-9]{3}}`.
_HOLE = re.compile(r"\{((?:[^{}]|\{[^{}]*\})*)\}")

#: Characters of a placeholder that is more than a name.
_DECORATION = re.compile(r"[:=*+?{]")

#: Between a name and its pattern, a type and its name, or a name and its default.
_SEPARATOR = re.compile(r"[:=]")

#: The types that routers write before or after a name.
_TYPES = frozenset(
    [
        "str",
        "string",
        "slug",
        "alpha",
        "int",
        "integer",
        "long",
        "number",
        "float",
        "double",
        "decimal",
        "bool",
        "boolean",
        "uuid",
        "guid",
        "date",
        "datetime",
        "path",
    ]
)

#: Patterns that match several segments.
_OF_SEGMENTS = re.compile(r"path|.*\*\*|\(?\.[*+]\??\)?|[^\[\]]*/[^\[\]]*")


class PathTemplate(NamedTuple):
    """A path with plain placeholders, their names in order, and those whose values span several segments."""

    text: str
    names: tuple[str, ...]
    expanded: frozenset[str]


def path_template(path: str, declared: Collection[str] = ()) -> PathTemplate:
    """Return the template of a path. `declared` are the names of its path parameters, which decide ambiguous forms."""
    names: list[str] = []
    expanded: set[str] = set()

    def plain(hole: re.Match[str]) -> str:
        name, spans = _read(hole[1], declared)
        names.append(name)
        if spans:
            expanded.add(name)
        return f"{{{name}}}"

    return PathTemplate(_HOLE.sub(plain, path), tuple(names), frozenset(expanded))


def _read(inner: str, declared: Collection[str]) -> tuple[str, bool]:
    """Return the name in a placeholder, and whether its value spans several segments."""
    if not _DECORATION.search(inner):
        return inner, False
    left, right = (part.strip() for part in (*_SEPARATOR.split(inner, maxsplit=1), "")[:2])
    name = left.strip("*+?")
    spans = left[:1] in ("*", "+") or left[-1:] in ("*", "+") or _OF_SEGMENTS.fullmatch(right) is not None
    if inner in declared:
        return inner, spans
    if right in declared or (name not in declared and name.lower() in _TYPES and _is_name(right)):
        return right, name.lower() == "path"
    return (name, spans) if name else (inner, False)


def _is_name(text: str) -> bool:
    return text.isidentifier() and text.lower() not in _TYPES
