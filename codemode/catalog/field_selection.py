"""Select fields of results by path. The other fields reach neither programs, nor the journal, nor models.

A path has the form of JMESPath: dots join names, and `[]` stands for the items of a list (`items[].owner.id`,
`[].id`). A path includes everything below its last name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from codemode.catalog.schema import Schema

if TYPE_CHECKING:
    from collections.abc import Iterable

_SEGMENT = re.compile(r"\[\]|[^.\[\]]+")
_ITEM = "[]"


class _Tree(dict[str, "_Tree"]):
    """The selected names, each with the selection below it. An empty tree selects everything."""


@dataclass(frozen=True, slots=True)
class FieldSelection:
    """The fields that are kept of a tool's results.

    A page keeps all its own fields, such as `total` and cursors; paths narrow its items. A result that has none of the
    selected fields at its top level is kept whole, so one pattern can match tools with different results.
    """

    paths: tuple[str, ...]
    _tree: _Tree = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_tree", _tree_of(_SEGMENT.findall(path) for path in self.paths))

    def narrowed(self, value: Any, *, is_page: bool) -> Any:
        """Return a result with the selected fields."""
        return _Narrowing().of(value, self._at_top(value, is_page=is_page))

    def narrowed_page(self, value: Any, items: list[Any]) -> tuple[Any, list[Any]]:
        """Return a page and its items with the selected fields. The items are parts of the page."""
        narrowing = _Narrowing()
        narrowed = narrowing.of(value, self._at_top(value, is_page=True))
        return narrowed, [narrowing.made.get(id(item), item) for item in items]

    def narrowed_schema(self, schema: Schema, *, is_page: bool) -> Schema:
        """Return the schema of the narrowed results."""
        properties = schema.resolved().properties()
        return _schema(schema, self._at_top(properties, is_page=is_page) if properties else self._tree)

    def paths_in(self, schema: Schema) -> set[str]:
        """Return the paths that lead to a declared field."""
        return {path for path in self.paths if _is_declared(schema, _SEGMENT.findall(path))}

    def _at_top(self, value: Any, *, is_page: bool) -> _Tree:
        if not isinstance(value, dict):
            return self._tree
        if is_page:
            return _Tree({**{str(name): _Tree() for name in value}, **self._tree})
        return _Tree() if self._tree.keys().isdisjoint(value) else self._tree


class _Narrowing:
    """Narrow one value. `made` maps the `id` of each object and list to its narrowed copy.

    The fields of an object are in the order of the paths: it has more fields than there are paths.
    """

    def __init__(self) -> None:
        self.made: dict[int, Any] = {}

    def of(self, value: Any, tree: _Tree) -> Any:
        if not tree:
            return value
        made: Any
        if isinstance(value, dict):
            fields = [(name, below) for name, below in tree.items() if name in value]
            made = {name: self.of(value[name], below) if below else value[name] for name, below in fields}
        elif isinstance(value, list) and _ITEM in tree:
            below = tree[_ITEM]
            made = [self.of(item, below) for item in value]
        else:
            return value
        self.made[id(value)] = made
        return made


def _tree_of(paths: Iterable[list[str]]) -> _Tree:
    branches: dict[str, list[list[str]]] = {}
    for first, *rest in paths:
        branches.setdefault(first, []).append(rest)
    return _Tree({name: _Tree() if [] in rests else _tree_of(rests) for name, rests in branches.items()})


def _is_declared(schema: Schema, segments: list[str]) -> bool:
    if not segments:
        return True
    first, *rest = segments
    whole = schema.resolved()
    below = whole.items() if first == _ITEM else whole.properties().get(first)
    if below is not None:
        return _is_declared(below, rest)
    return any(_is_declared(variant, segments) for variant in whole.variants())


def _schema(schema: Schema, tree: _Tree) -> Schema:
    """Return the schema of the values that `_Narrowing.of` returns."""
    whole = schema.resolved()
    properties, items, variants = whole.properties(), whole.items(), whole.variants()
    made: dict[str, Any]
    if not tree:
        return schema
    if properties:
        kept = {name: part for name, part in properties.items() if name in tree}
        made = {
            "type": "object",
            "properties": {name: _part(part, tree[name], whole) for name, part in kept.items()},
            "required": sorted(whole.required() & kept.keys()),
        }
    elif items is not None and _ITEM in tree:
        made = {"type": "array", "items": _part(items, tree[_ITEM], whole)}
    elif variants:
        made = {"anyOf": [_part(variant, tree, whole) for variant in variants]}
    else:
        return schema
    title = whole.name or whole.get("title")
    made |= {"title": title} if title else {}
    made |= {"nullable": True} if schema.is_nullable() else {}
    return Schema(made, whole.graph, whole.base, whole.name)


def _part(schema: Schema, tree: _Tree, whole: Schema) -> Any:
    """Return a part of a narrowed schema. Its references must resolve in the document of the whole."""
    narrowed = _schema(schema, tree)
    return narrowed.value if narrowed.base == whole.base else {}
