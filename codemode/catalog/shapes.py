"""Schemas as Python types that a model can read: `list[Client] | None`, and `Client = {"id": int, "name": str}`.

A schema that was reached by a reference, or that has too many fields to stand in a line, gets a name; its definition is
written once, when there is room for it. So a cycle of any size costs no more than the definitions that are asked for.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from codemode.catalog.names import type_name
from codemode.catalog.tokens import estimate

if TYPE_CHECKING:
    from codemode.catalog.schema import Schema

#: More alternatives than these are not written out.
MOST_LITERALS = 12
MOST_VARIANTS = 6
MOST_FIELDS = 60

#: An anonymous object with at most this many fields, all simple, stands where it is used.
FIELDS_IN_LINE = 3

#: Types inside types are followed this deep where they have no name.
DEEPEST = 5

_SCALARS = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "file": "Content"}


class Direction(StrEnum):
    """Which way the data goes: `readOnly` fields are never sent, `writeOnly` fields never come back."""

    REQUEST = "request"
    RESPONSE = "response"


class Shapes:
    """Writes types, and remembers which names it used so that they can be defined afterwards."""

    def __init__(self, direction: Direction = Direction.RESPONSE, *, naming: bool = True) -> None:
        self._naming = naming
        self.direction = direction
        self._names: dict[int, str] = {}
        self._pending: deque[tuple[str, Schema, Direction]] = deque()

    def text(self, schema: Schema, hint: str = "", depth: int = 0) -> str:
        """The type of a schema; `hint` names what has no name of its own."""
        literal = _literal(schema)
        if literal is not None:
            return literal
        target = schema.resolved()
        if target.value is True or target.value == {}:
            return "Any"
        if target.value is False:
            return "None"
        parts = self._alternatives(target, hint or schema.name, depth)
        if schema.is_nullable() and "Any" not in parts:
            parts.append("None")
        return " | ".join(_merged(parts)) or "None"

    def define(self, budget_tokens: int) -> tuple[list[str], list[str]]:
        """Definitions of the names used so far, nearest first, within a budget; and the names left undefined."""
        lines: list[str] = []
        left: list[str] = []
        spent = 0
        while self._pending:
            name, schema, direction = self._pending.popleft()
            if spent >= budget_tokens:
                left.append(name)
                continue
            known = len(self._pending)
            self.direction = direction
            line = f"{name} = {self._object(schema, name, 0)}"
            cost = estimate(line)
            if spent + cost > budget_tokens and lines:
                while len(self._pending) > known:
                    self._pending.pop()
                left.append(name)
                continue
            spent += cost
            lines.append(line)
        return lines, left

    def _alternatives(self, schema: Schema, hint: str, depth: int) -> list[str]:
        variants = [variant for variant in schema.variants() if variant.get("type") != "null"]
        if variants and not schema.get("properties"):
            if len(variants) > MOST_VARIANTS:
                return self._common(variants)
            found = [self.text(variant, hint, depth + 1) for variant in variants]
            return [part for text in found for part in text.split(" | ") if part != "None"] or ["Any"]
        names = schema.types()
        if not names and schema.first("type") == "null":
            return ["None"]
        if not names:
            members = [part for part in schema.conjuncts() if part.variants()]
            if members and members[0].value is not schema.value:
                return self._alternatives(members[0], hint, depth + 1)
            return [_type_of_example(schema)]
        return [self._one(name, schema, hint, depth) for name in names]

    def _common(self, variants: list[Schema]) -> list[str]:
        kinds = {kind for variant in variants for kind in variant.resolved().types()}
        return sorted({"object": "dict", "array": "list"}.get(kind, _SCALARS.get(kind, "Any")) for kind in kinds) or [
            "Any"
        ]

    def _one(self, name: str, schema: Schema, hint: str, depth: int) -> str:
        if name == "array":
            return self._array(schema, hint, depth)
        if name == "object":
            return self._named(schema, hint, depth)
        if name == "string" and schema.first("format") == "binary":
            return "Content"
        return _SCALARS.get(name, "Any")

    def _array(self, schema: Schema, hint: str, depth: int) -> str:
        items = schema.first("items")
        if not isinstance(items, Mapping) or depth > DEEPEST:
            return "list"
        inner = self.text(schema.at(items), hint.removesuffix("s"), depth + 1)
        return "list" if inner == "Any" else f"list[{inner}]"

    def _named(self, schema: Schema, hint: str, depth: int) -> str:
        properties = self._visible(schema)
        if not properties:
            return self._mapping(schema, hint, depth)
        if not self._naming:
            return type_name(schema.name.rpartition(".")[2]) or "dict"
        if depth <= DEEPEST and not schema.name and _is_small(properties):
            return self._object(schema, hint, depth)
        return self._name(schema, hint)

    def _mapping(self, schema: Schema, hint: str, depth: int) -> str:
        extra = schema.first("additionalProperties")
        if not isinstance(extra, Mapping) or not extra or depth > DEEPEST:
            return "dict"
        inner = self.text(schema.at(extra), f"{hint}Value", depth + 1)
        return "dict" if inner == "Any" else f"dict[str, {inner}]"

    def _name(self, schema: Schema, hint: str) -> str:
        key = id(schema.value)
        if key not in self._names:
            title = schema.get("title")
            wanted = (
                type_name(schema.name.rpartition(".")[2])
                or (type_name(title) if isinstance(title, str) else "")
                or type_name(hint)
            )
            self._names[key] = _free(wanted or "Object", set(self._names.values()))
            self._pending.append((self._names[key], schema, self.direction))
        return self._names[key]

    def _object(self, schema: Schema, name: str, depth: int) -> str:
        required = schema.required()
        fields = []
        properties = self._visible(schema)
        for field, value in list(properties.items())[:MOST_FIELDS]:
            mark = "?" if self.direction is Direction.REQUEST and field not in required else ""
            fields.append(
                f"{json.dumps(field, ensure_ascii=False)}{mark}: {self.text(value, f'{name}_{field}', depth + 1)}"
            )
        if len(properties) > MOST_FIELDS:
            fields.append(f"... {len(properties) - MOST_FIELDS} more")
        return "{" + ", ".join(fields) + "}"

    def _visible(self, schema: Schema) -> dict[str, Schema]:
        hidden = "readOnly" if self.direction is Direction.REQUEST else "writeOnly"
        return {name: value for name, value in schema.properties().items() if value.first(hidden) is not True}


def literals(schema: Schema) -> list[Any] | None:
    """The values that are allowed, without null, where they are listed and plain; else None."""
    constant = schema.first("const")
    values = [constant] if constant is not None else schema.first("enum")
    if not isinstance(values, list):
        return None
    plain = [value for value in values if value is not None]
    if not plain or not all(isinstance(value, (str, int, bool)) for value in plain):
        return None
    return list(dict.fromkeys(plain)) if len({type(value) for value in plain}) == 1 else plain


def _literal(schema: Schema) -> str | None:
    values = literals(schema)
    if values is None or len(values) > MOST_LITERALS:
        return None
    shown = ", ".join(
        json.dumps(value, ensure_ascii=False) if isinstance(value, str) else str(value) for value in values
    )
    return f"Literal[{shown}]" + (" | None" if schema.is_nullable() else "")


def _merged(parts: list[str]) -> list[str]:
    """Alternatives without repetition, literals in one."""
    listed = [part for part in parts if part.startswith("Literal[")]
    distinct = dict.fromkeys(part for part in parts if part != "None")
    if len(listed) > 1:
        values = dict.fromkeys(value for part in listed for value in part[8:-1].split(", "))
        joined = f"Literal[{', '.join(values)}]"
        distinct = dict.fromkeys(joined if part in listed else part for part in distinct)
    return [*distinct, *(["None"] if "None" in parts else [])]


def _type_of_example(schema: Schema) -> str:
    """A type where none is declared, from what is: listed values, the default, an example, a string's keywords."""
    values = schema.first("enum")
    for value in (*(values if isinstance(values, list) else ()), schema.first("default"), schema.first("example")):
        match value:
            case bool():
                return "bool"
            case int():
                return "int"
            case float():
                return "float"
            case str():
                return "str"
            case list():
                return "list"
            case dict():
                return "dict"
    if any(schema.first(key) is not None for key in ("pattern", "minLength", "maxLength", "format")):
        return "str"
    return "Any"


def _is_small(properties: dict[str, Schema]) -> bool:
    if len(properties) > FIELDS_IN_LINE:
        return False
    return all(not {"object", "array"} & set(value.resolved().types()) for value in properties.values())


def _free(name: str, taken: set[str]) -> str:
    candidate = name
    number = 2
    while candidate in taken:
        candidate = f"{name}{number}"
        number += 1
    return candidate
