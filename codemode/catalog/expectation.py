"""Compare results with their schemas, at almost no cost: types and required fields of the upper levels.

Two levels of objects are compared, and the first item of each list. A full validation of a page takes milliseconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import NoneType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from codemode.catalog.schema import Schema

#: Levels of objects that are compared, and the most fields of each.
_LEVELS = 2
_MOST_FIELDS = 60

_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (NoneType,),
}

_ABSENT = object()


@dataclass(frozen=True, slots=True)
class Expectation:
    """The JSON types that a value may have, and those of its fields and items. `types` is empty if any is possible.

    `told` are the types as the schema names them. `fields` are names with expectations, and whether each is required.
    """

    types: frozenset[type] = frozenset()
    told: str = ""
    fields: tuple[tuple[str, Expectation, bool], ...] = ()
    item: Expectation | None = None

    def difference(self, value: Any, source: str) -> str:
        """Return how a result differs, as the end of a sentence, or "". It has names and types, but no values.

        `source` says who expects it: `the document says`.
        """
        return self._difference(value, source, "")

    def _difference(self, value: Any, source: str, place: str) -> str:
        if self.types and type(value) not in self.types and not self._is_whole(value):
            what = f"a field `{place}`" if place else "a result"
            return f"returned {what} of type {_name(value)} where {source} {self.told}"
        if type(value) is dict:
            return self._in_fields(value, source, f"{place}." if place else "") if self.fields else ""
        if type(value) is list and value and self.item is not None:
            return self.item._difference(value[0], source, f"{place}[]")
        return ""

    def _in_fields(self, value: dict[str, Any], source: str, prefix: str) -> str:
        for name, expected, is_required in self.fields:
            item = value.get(name, _ABSENT)
            if item is _ABSENT:
                if is_required:
                    return f"returned no field `{prefix}{name}`, which the document requires"
                continue
            types = expected.types
            if (types and type(item) not in types) or expected.fields or expected.item is not None:
                found = expected._difference(item, source, prefix + name)
                if found:
                    return found
        return ""

    def _is_whole(self, value: Any) -> bool:
        """Whether a value is an integer written as 1.0 (JSON Schema, 6.1.1)."""
        return int in self.types and type(value) is float and value.is_integer()


_ANYTHING = Expectation()


def declared(schema: Schema) -> Expectation:
    """Return what a declared schema expects of a result."""
    return _expectation(schema, _LEVELS, learned=False)


def learned(schema: Schema) -> Expectation:
    """Return what a schema learned from results expects: nothing is required, null and all numbers are possible."""
    return _expectation(schema, _LEVELS, learned=True)


def _expectation(schema: Schema, levels: int, *, learned: bool) -> Expectation:
    names = _names(schema, depth=0)
    if not names:
        return _ANYTHING
    if schema.is_nullable() or learned:
        names = names if "null" in names else [*names, "null"]
    types = {type_ for name in names for type_ in _TYPES[name]}
    if learned and int in types:
        types.add(float)
    whole = schema.resolved()
    items = whole.items() if "array" in names else None
    return Expectation(
        frozenset(types),
        " or ".join(names),
        _fields(whole, levels, learned=learned) if "object" in names and levels else (),
        _expectation(items, levels, learned=learned) if items is not None and levels else None,
    )


def _fields(schema: Schema, levels: int, *, learned: bool) -> tuple[tuple[str, Expectation, bool], ...]:
    required = frozenset() if learned else schema.required()
    fields = []
    for name, part in list(schema.properties().items())[:_MOST_FIELDS]:
        if part.first("writeOnly") is True:
            continue
        expected = _expectation(part, levels - 1, learned=learned)
        if expected.types or name in required:
            fields.append((name, expected, name in required))
    return tuple(fields)


def _names(schema: Schema, depth: int) -> list[str]:
    """Return the names of the possible types, without duplicates. Empty if any type is possible."""
    whole = schema.resolved()
    if whole.first("format") == "byte" or whole.is_file() or depth > _LEVELS:
        return []
    names = list(whole.types())
    if not names:
        found = [_names(variant, depth + 1) for variant in whole.variants() if variant.get("type") != "null"]
        names = [name for each in found for name in each] if all(found) else []
    return list(dict.fromkeys(names)) if all(name in _TYPES for name in names) else []


def _name(value: Any) -> str:
    return "null" if value is None else type(value).__name__
