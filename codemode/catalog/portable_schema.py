"""JSON Schemas in the subset that the providers of models accept for the parameters of a function.

OpenAI, Anthropic and Gemini each reject a whole request for one keyword in one definition. Models need a schema as a
hint only, since the gateway checks every argument against the whole one. So references are put in their places, and
what the subset cannot express becomes words in a description. `tests/unit/codemode/catalog/test_portable_schema.py`
lists what each provider accepts.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from codemode.catalog.schema import says_nullable

#: Schemas in one definition. A larger definition is cut at a smaller depth.
MOST_SCHEMAS = 300

#: Depths at which a definition is cut, the largest that fits is taken. The last one is taken in any case.
_DEPTHS = (12, 8, 6, 5, 4, 3, 2, 1)

#: Fields that are named where an object is cut, and the characters of one fact in a description.
_NAMED, _FACT_CHARACTERS = 20, 200

_TYPES = ("string", "number", "integer", "boolean", "array", "object", "null")

#: Keywords that the subset has, by the type to which they apply.
_KEYWORDS = {
    "string": ("minLength", "maxLength"),
    "number": ("minimum", "maximum"),
    "integer": ("minimum", "maximum"),
    "array": ("minItems", "maxItems"),
}

#: Keywords that become words, by the type to which they apply.
_FACTS = {
    "string": ("format", "pattern"),
    "number": ("exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "integer": ("exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
}

#: Keywords from which the type follows where none is given.
_IMPLIED = {
    "object": ("properties", "additionalProperties", "patternProperties", "required"),
    "array": ("items", "prefixItems", "minItems", "maxItems"),
    "string": ("minLength", "maxLength", "pattern", "format"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
}

_SCALARS = [{"type": "string"}, {"type": "number"}, {"type": "boolean"}, {"type": "object"}]
_PYTHON = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


class _TooLarge(Exception):
    """The schema has more than `MOST_SCHEMAS` parts at this depth."""


def portable(
    properties: Mapping[str, Any], definitions: Mapping[str, Any], required: Collection[str] = ()
) -> dict[str, dict[str, Any]]:
    """Return schemas by name in the subset. `definitions` are the targets of references of the form `#/$defs/NAME`.

    A definition of more than `MOST_SCHEMAS` schemas is cut where it is deepest.
    """
    for depth in _DEPTHS[:-1]:
        try:
            return _Portable(definitions, MOST_SCHEMAS).each(properties, (), depth, required)
        except _TooLarge:
            continue
    return _Portable(definitions, None).each(properties, (), _DEPTHS[-1], required)


class _Portable:
    """Converts the schemas of one definition. `left` counts the schemas that may follow, None for any number."""

    def __init__(self, definitions: Mapping[str, Any], left: int | None) -> None:
        self._definitions = definitions
        self._left = left

    def each(
        self, properties: Mapping[str, Any], inside: tuple[str, ...], depth: int, required: Collection[str] = ()
    ) -> dict[str, dict[str, Any]]:
        """Return schemas by name. One that may be left out, and is null then, needs no null among its types."""
        made = {str(name): self._of(schema, inside, depth) for name, schema in properties.items()}
        for name, schema in properties.items():
            if name not in required and isinstance(schema, Mapping) and schema.get("default", 0) is None:
                made[str(name)] = _without_null(made[str(name)])
        return made

    def _of(self, schema: Any, inside: tuple[str, ...], depth: int) -> dict[str, Any]:
        """Return one schema. `inside` are the definitions around it: a second time, each is cut."""
        if self._left is not None:
            self._left -= 1
            if self._left < 0:
                raise _TooLarge
        flat, inside, is_cut = self._flat(schema, inside)
        if is_cut or depth <= 0:
            return _cut(flat)
        branches = [self._flat(branch, inside) for branch in _branches(flat)]
        if "properties" in flat or not branches:
            return self._united(_merged([flat, *(_optional(branch) for branch, _, _ in branches)]), inside, depth)
        rest = {name: value for name, value in flat.items() if name not in ("anyOf", "oneOf", "description")}
        made = [
            _cut(branch) if cut else self._of(_merged([branch, rest]), within, depth - 1)
            for branch, within, cut in branches
        ]
        return _any_of(made, flat.get("description"), is_nullable=says_nullable(flat))

    def _flat(self, schema: Any, inside: tuple[str, ...]) -> tuple[dict[str, Any], tuple[str, ...], bool]:
        """Return a schema with its references and `allOf` merged in, the definitions around it, and whether to cut."""
        if not isinstance(schema, Mapping):
            return {}, inside, False
        rest = {name: value for name, value in schema.items() if name not in (*_REFERENCES, "allOf")}
        parts, is_cut = [rest], False
        for reference in (str(schema[name]) for name in _REFERENCES if name in schema):
            name = reference.rpartition("/")[2]
            target = self._definitions.get(name)
            if name in inside:
                parts.append(dict(target) if isinstance(target, Mapping) else {})
                is_cut = True
                continue
            merged, inside, cut = self._flat(target, (*inside, name))
            parts.append(merged)
            is_cut = is_cut or cut
        for part in _listed(schema.get("allOf")):
            merged, inside, cut = self._flat(part, inside)
            parts.append(merged)
            is_cut = is_cut or cut
        return _merged(parts), inside, is_cut

    def _united(self, flat: Mapping[str, Any], inside: tuple[str, ...], depth: int) -> dict[str, Any]:
        """Return a schema without alternatives of its own, as one type or as one alternative for each of its types."""
        made = [self._of_type(type_, flat, inside, depth) for type_ in _types(flat)]
        if not made:
            made = [*map(dict, _SCALARS), {"type": "array", "items": {"anyOf": [dict(one) for one in _SCALARS]}}]
        return _any_of(made, flat.get("description"))

    def _of_type(self, type_: str, flat: Mapping[str, Any], inside: tuple[str, ...], depth: int) -> dict[str, Any]:
        made: dict[str, Any] = {"type": type_}
        facts = [f"{name}: {flat[name]}" for name in _FACTS.get(type_, ()) if _is_fact(flat.get(name))]
        made |= {name: flat[name] for name in _KEYWORDS.get(type_, ()) if _is_number(flat.get(name))}
        values = [value for value in _values(flat) if _fits(value, type_)]
        if values and type_ == "string" and all(values):
            made["enum"] = list(dict.fromkeys(values))
        elif values:
            facts.append(f"one of {', '.join(json.dumps(value, ensure_ascii=False) for value in values)}")
        if type_ == "array":
            made["items"] = self._items(flat, inside, depth)
        if type_ == "object":
            made |= self._fields(flat, inside, depth)
            facts += self._other_fields(flat, inside)
        if flat.get("default") not in (None, "", [], {}) and _fits(flat["default"], type_):
            facts.append(f"default: {json.dumps(flat['default'], ensure_ascii=False)}")
        return _with_facts(made, facts)

    def _items(self, flat: Mapping[str, Any], inside: tuple[str, ...], depth: int) -> dict[str, Any]:
        """Return one schema for all items. That of a tuple is any of its own."""
        first = _listed(flat.get("prefixItems")) or _listed(flat.get("items"))
        if first:
            return _any_of([self._of(item, inside, depth - 1) for item in first], None)
        return self._of(flat.get("items"), inside, depth - 1)

    def _fields(self, flat: Mapping[str, Any], inside: tuple[str, ...], depth: int) -> dict[str, Any]:
        properties = flat.get("properties")
        if not isinstance(properties, Mapping) or not properties:
            return {}
        required = [name for name in _listed(flat.get("required")) if name in properties]
        fields = self.each(properties, inside, depth - 1, required)
        return {"properties": fields, **({"required": required} if required else {})}

    def _other_fields(self, flat: Mapping[str, Any], inside: tuple[str, ...]) -> list[str]:
        """Describe the fields that have no name in the schema."""
        others = flat.get("additionalProperties")
        if not isinstance(others, Mapping) or not others:
            return []
        types = " or ".join(_types(self._flat(others, inside)[0]))
        return (
            [f"other fields: {types}" if flat.get("properties") else f"any field names; values: {types}"]
            if types
            else []
        )


def _cut(flat: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema without those inside of it: its type, and the names of its fields."""
    types = _types(flat)
    type_ = types[0] if types else "object"
    made: dict[str, Any] = {"type": type_}
    if type_ == "array":
        made["items"] = {"type": "object"}
    if flat.get("description"):
        made["description"] = flat["description"]
    names = [str(name) for name in flat.get("properties") or ()][:_NAMED] if type_ == "object" else []
    return _with_facts(made, [f"fields: {', '.join(names)}"] if names else [])


def _merged(parts: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return one schema for `allOf`: earlier parts win, fields and required names add up."""
    made: dict[str, Any] = {}
    for part in parts:
        for name, value in part.items():
            if name not in made:
                made[name] = value
            elif name == "properties" and isinstance(value, Mapping) and isinstance(made[name], Mapping):
                made[name] = {**value, **made[name]}
            elif name == "required" and isinstance(value, list) and isinstance(made[name], list):
                made[name] = list(dict.fromkeys([*made[name], *value]))
    return made


def _optional(branch: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of one alternative of an object, none of them required."""
    return {"properties": branch["properties"]} if isinstance(branch.get("properties"), Mapping) else {}


def _branches(flat: Mapping[str, Any]) -> list[Any]:
    return _listed(flat.get("anyOf")) or _listed(flat.get("oneOf"))


def _any_of(made: list[dict[str, Any]], description: Any, *, is_nullable: bool = False) -> dict[str, Any]:
    """Return one schema or `anyOf`, which Gemini accepts alone: a description is that of the first alternative."""
    flat = [inner for one in made for inner in one.get("anyOf", (one,))]
    if is_nullable:
        flat.append({"type": "null"})
    distinct = [one for at, one in enumerate(flat) if one not in flat[:at]]
    first = distinct[0]
    if isinstance(description, str) and description and description not in first.get("description", ""):
        more = f" {first['description']}" if "description" in first else ""
        distinct[0] = {**first, "description": f"{description}{more}"}
    return distinct[0] if len(distinct) == 1 else {"anyOf": distinct}


def _without_null(made: dict[str, Any]) -> dict[str, Any]:
    """Return a schema without null, unless it has no other type."""
    others = [one for one in made.get("anyOf", ()) if one["type"] != "null"]
    return _any_of(others, None) if others else made


def _types(flat: Mapping[str, Any]) -> list[str]:
    """Return the types of a schema, or those that follow from its keywords; none if it may be anything."""
    said = flat.get("type")
    types = [one for one in (said if isinstance(said, list) else [said]) if one in _TYPES]
    if not types:
        types = list(dict.fromkeys(_type_of(value) for value in _values(flat)))
    if not types:
        types = [next((name for name, words in _IMPLIED.items() if any(word in flat for word in words)), "")]
    if says_nullable(flat) and types != [""]:
        types.append("null")
    return sorted(filter(None, dict.fromkeys(types)), key=lambda name: name == "null")


def _values(flat: Mapping[str, Any]) -> list[Any]:
    return [flat["const"]] if "const" in flat else _listed(flat.get("enum"))


def _type_of(value: Any) -> str:
    return _PYTHON.get(type(value), "null")


def _fits(value: Any, type_: str) -> bool:
    return _type_of(value) == type_ or (type_ == "number" and _type_of(value) == "integer")


def _is_fact(value: Any) -> bool:
    return isinstance(value, str) or _is_number(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _with_facts(made: dict[str, Any], facts: list[str]) -> dict[str, Any]:
    """Add facts to the description of a schema."""
    if not facts:
        return made
    shown = "; ".join(fact if len(fact) <= _FACT_CHARACTERS else f"{fact[:_FACT_CHARACTERS]}…" for fact in facts)
    said = made.get("description", "")
    return {**made, "description": f"{said} ({shown})" if said else f"({shown})"}
