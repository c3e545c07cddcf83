"""Render schemas as Python types for models: `list[Client] | None`, and `Client = {"id": int, "name": str}`.

A schema behind a reference, or with too many fields for one line, gets a name. Its definition is rendered once, within
the token budget, so circular schemas cost no more than the definitions that are rendered.

Compact types take half the tokens. Definitions of results group the fields by type, in a comment
(`# Client = {id, branchId: int; name: str}`), and arguments show their format, pattern or bounds (`"YYYY-MM-DD"`).
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from codemode.catalog import value_names
from codemode.catalog.identifiers import snake, type_name
from codemode.catalog.restrictions import restricted
from codemode.catalog.schema import walk
from codemode.catalog.tokens import estimate
from codemode.text.prose import shorten

if TYPE_CHECKING:
    from collections.abc import Callable

    from codemode.catalog.schema import Schema

#: The most literals and alternatives that are listed. Of more literals the first few are shown, with the number of the
#: others.
MOST_LITERALS = 12
LITERALS_SHOWN = 5
MOST_VARIANTS = 6

#: The most literals of a result in compact types. More are rendered as their type.
_RESULT_LITERALS = 4

#: The most characters of the named values of one field.
_LONGEST_NAMES = 120

#: The most fields of the envelope of a list.
_PAGE_FIELDS = 6

#: The most fields of a definition, by room. With fewer than `_LEAST_DEFINITION` tokens, nothing is defined.
_FIELDS_SHOWN = (60, 25, 10)
_FIELDS_SHOWN_COMPACT = (60, 25, 16, 10, 6)
_LEAST_DEFINITION = 20

#: The most fields of an anonymous object that is rendered in place. All of them must be simple.
FIELDS_IN_LINE = 3

#: The deepest nesting of types without names.
DEEPEST = 5

#: The most types that are searched for a name, and the most fields of each.
_MOST_SEARCHED = 1000

_SCALARS = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "file": "Content"}


#: The last words of fields that a program needs most: what it is, in which state, how much, and when.
_KEYS = frozenset(
    ("id", "ids", "uuid", "key", "name", "title", "number", "login", "slug", "email", "type", "status", "state",
     "amount", "total", "price", "balance", "currency", "cost", "quantity", "count", "date", "time", "at", "on", "due",
     "start", "end", "created", "updated", "url")
)  # fmt: skip


def _is_key(field: str) -> bool:
    """Return whether a field says what a record is, its state, an amount or a date."""
    return snake(field).rpartition("_")[2] in _KEYS


class Direction(StrEnum):
    """The direction of the data. Requests omit `readOnly` fields, responses omit `writeOnly` fields."""

    REQUEST = "request"
    RESPONSE = "response"


class Shapes:
    """Render types, and collect the names that need definitions. `naming=False` renders names without definitions."""

    def __init__(
        self,
        direction: Direction = Direction.RESPONSE,
        *,
        naming: bool = True,
        compact: bool = False,
        wanted: Callable[[str], bool] = _is_key,
    ) -> None:
        """`wanted` says which fields a definition keeps that is cut, beside ids, names, states, amounts and dates."""
        self._naming = naming
        self.is_compact = compact
        self.direction = direction
        self._wanted = wanted
        self._names: dict[int, str] = {}
        self._schemas: dict[str, list[tuple[Schema, Direction, str]]] = {}  # with their names, by the name wanted
        self._bodies: dict[str, str] = {}  # names by what they are defined as
        self._undefined: set[int] = set()
        self._pages: dict[str, str] = {}  # names of envelopes by their text
        self._page_lines: list[str] = []
        self._pending: deque[tuple[str, Schema, Direction]] = deque()

    def copy(self) -> Shapes:
        """Return shapes with the same names, to try a rendering that may not fit."""
        other = Shapes(self.direction, naming=self._naming, compact=self.is_compact, wanted=self._wanted)
        other.adopt(self)
        return other

    def adopt(self, other: Shapes) -> None:
        """Take over the names of a copy whose rendering is used."""
        self._names, self._undefined, self._pending = dict(other._names), set(other._undefined), other._pending.copy()
        self._pages, self._page_lines = dict(other._pages), list(other._page_lines)
        self._schemas, self._bodies = {name: list(same) for name, same in other._schemas.items()}, dict(other._bodies)

    def text(self, schema: Schema, hint: str = "", depth: int = 0) -> str:
        """Return the type of a schema. `hint` names a schema without a name."""
        return " | ".join(_merge_parts(self._parts(schema, hint, depth))) or "None"

    def _parts(self, schema: Schema, hint: str, depth: int) -> list[str]:
        """Return the alternatives of a type. Each literal is one alternative."""
        values = self._literals(schema)
        if values:
            return [*values, *(["None"] if schema.is_nullable() else [])]
        target = schema.resolved()
        if target.value is True or target.value == {}:
            return ["Any"]
        if target.value is False:
            return ["None"]
        parts = self._alternatives(target, hint or schema.name, depth)
        return [*parts, "None"] if schema.is_nullable() and "Any" not in parts else parts

    def define(self, budget_tokens: int) -> tuple[list[str], list[str]]:
        """Return the definitions of the names used so far, within a budget, and the names that did not fit.

        A name that did not fit is defined by a later call if it is used again.
        """
        lines, self._page_lines = self._page_lines, []
        budget_tokens -= sum(estimate(line) + 1 for line in lines)
        undefined: list[str] = []
        while self._pending:
            name, schema, direction = self._pending.popleft()
            self.direction = direction
            line = self._definition(name, schema, budget_tokens)
            if line is None:
                undefined.append(name)
                self._undefined.add(id(schema.value))
            else:
                budget_tokens -= estimate(line) + 1
                lines.append(line)
        return lines, undefined

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the types used so far."""
        return tuple(self._names.values())

    def find(self, name: str) -> tuple[Schema, Direction] | None:
        """Return the schema behind a name, however deep the types used so far refer to it, or None."""
        for _ in range(_MOST_SEARCHED):
            if not self._pending:
                return None
            current, schema, self.direction = self._pending.popleft()
            if current == name:
                return schema, self.direction
            self._object(schema, current, 0, limit=_MOST_SEARCHED)  # its fields name further types
        return None

    def _definition(self, name: str, schema: Schema, budget_tokens: int) -> str | None:
        """Return a definition with as many fields as fit, or None. Names that only it used are dropped."""
        for limit in _FIELDS_SHOWN_COMPACT if self.is_compact else _FIELDS_SHOWN:
            known = len(self._pending)
            body = self._body(name, schema, limit)
            line = self._line(name, self._bodies.get(body, body))
            if estimate(line) < budget_tokens:
                self._bodies.setdefault(body, name)
                return line
            self._drop({self._pending.pop()[0] for _ in range(len(self._pending) - known)})
            if budget_tokens < _LEAST_DEFINITION:
                break
        return None

    def _drop(self, names: set[str]) -> None:
        self._names = {key: name for key, name in self._names.items() if name not in names}
        self._schemas = {wanted: [one for one in same if one[2] not in names] for wanted, same in self._schemas.items()}

    @property
    def undefined(self) -> list[str]:
        """The names that did not fit, in the order of their use."""
        return [name for key, name in self._names.items() if key in self._undefined]

    def _line(self, name: str, body: str) -> str:
        is_comment = self.is_compact and self.direction is Direction.RESPONSE
        return f"# {name} = {body}" if is_comment else f"{name} = {body}"

    def _body(self, name: str, schema: Schema, limit: int) -> str:
        if self.is_compact and self.direction is Direction.RESPONSE:
            return self._grouped(schema, name, limit)
        notes = self._notes(schema, limit)
        return self._object(schema, name, 0, limit) + (f"  # {notes}" if notes else "")

    def _grouped(self, schema: Schema, name: str, limit: int) -> str:
        """Render the fields of a result by type, in the order of the first field of each type."""
        properties = self._visible(schema)
        shown = [(field, properties[field]) for field in self._chosen(list(properties), limit)]
        text = _by_type({field: self.text(value, f"{name}_{field}", 1) for field, value in shown})
        return f"{{{text}; … {len(properties) - limit} more}}" if len(properties) > limit else f"{{{text}}}"

    def _notes(self, schema: Schema, limit: int) -> str:
        """Return the comment of a definition: its required fields, and the number of hidden fields."""
        fields, required = self._visible(schema), self._required(schema)
        notes = []
        if self.direction is Direction.REQUEST and len(required) < len(fields):
            notes.append(f"required: {', '.join(required)}" if required else "all optional")
        named = ((field, value_names.in_words(value)) for field, value in list(fields.items())[:limit])
        notes += [f"{field}: {shorten(names, _LONGEST_NAMES)}" for field, names in named if names]
        if len(fields) > limit:
            notes.append(f"{len(fields) - limit} more fields")
        return "; ".join(notes)

    def _literals(self, schema: Schema) -> list[str]:
        """Return the values of an enumeration as types. A long one has the first few and the number of the others."""
        values = literals(schema) or []
        is_brief = self.is_compact and self.direction is Direction.RESPONSE
        if len(values) > (_RESULT_LITERALS if is_brief else MOST_LITERALS):
            if (is_brief and schema.types()) or not all(isinstance(value, str) for value in values):
                return []
            values = [*values[:LITERALS_SHOWN], f"… {len(values) - LITERALS_SHOWN} more"]
        return [f"Literal[{_string(value) if isinstance(value, str) else value}]" for value in values]

    def _alternatives(self, schema: Schema, hint: str, depth: int) -> list[str]:
        variants = [variant for variant in schema.variants() if variant.get("type") != "null"]
        if variants and not schema.get("properties"):
            if len(variants) > MOST_VARIANTS:
                return self._common(variants)
            parts = [part for variant in variants for part in self._parts(variant, hint, depth + 1)]
            return [part for part in parts if part != "None"] or ["Any"]
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
        if name == "string" and schema.is_file():
            return "Content"
        text = _SCALARS.get(name, "Any")
        if name == "string" and self.direction is Direction.RESPONSE and schema.is_json_text():
            return f"{text} (JSON text)"
        return restricted(text, schema) if self.is_compact and self.direction is Direction.REQUEST else text

    def _array(self, schema: Schema, hint: str, depth: int) -> str:
        items = schema.first("items")
        if depth > DEEPEST:
            return "list"
        positions = schema.first("prefixItems")
        if isinstance(positions, list) and positions and not isinstance(items, Mapping):
            return f"tuple[{', '.join(self.text(schema.at(position), hint, depth + 1) for position in positions)}]"
        if not isinstance(items, Mapping):
            return "list"
        inner = self.text(schema.at(items), hint.removesuffix("s"), depth + 1)
        return "list" if inner == "Any" else f"list[{inner}]"

    def _named(self, schema: Schema, hint: str, depth: int) -> str:
        if not self._naming and schema.properties():
            return type_name(schema.name.rpartition(".")[2]) or "dict"
        properties = self._visible(schema)
        if not properties:
            return self._mapping(schema, hint, depth)
        if self.is_compact and self.direction is Direction.RESPONSE and (page := self._page(properties, hint, depth)):
            return page
        if depth <= DEEPEST and not schema.name and _is_small(properties):
            return self._object(schema, hint, depth)
        return self._name(schema, hint)

    def _page(self, properties: dict[str, Schema], hint: str, depth: int) -> str:
        """Return `Page[Client]` for a list of named objects with a few plain fields beside it, else "".

        Equal envelopes have one definition: `# Page[X] = {items: list[X]; total: int}`.
        """
        kinds = {field: value.resolved().types() for field, value in properties.items()}
        lists = [field for field, types in kinds.items() if types == ("array",)]
        if len(lists) != 1 or len(properties) > _PAGE_FIELDS or any("object" in types for types in kinds.values()):
            return ""
        items = self.text(properties[lists[0]], hint, depth + 1)
        item = items.removeprefix("list[").removesuffix("]")
        if item not in self._names.values():
            return ""
        others = {field: self.text(value, field, depth + 1) for field, value in properties.items() if field != lists[0]}
        text = _by_type({lists[0]: "list[X]", **others})
        if text not in self._pages:
            self._pages[text] = _unused_name("Page", {*self._names.values(), *self._pages.values()})
            self._page_lines.append(f"# {self._pages[text]}[X] = {{{text}}}")
        return f"{self._pages[text]}[{item}]"

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
            same = self._schemas.setdefault(wanted, [])
            equal = next((name for one, way, name in same if way is self.direction and _is_equal(one, schema)), None)
            if equal is not None:
                self._names[key] = equal
                return equal
            self._names[key] = _unused_name(wanted or "Object", {*self._names.values(), *self._pages.values()})
            same.append((schema, self.direction, self._names[key]))
            self._pending.append((self._names[key], schema, self.direction))
        elif key in self._undefined:
            self._undefined.remove(key)
            self._pending.append((self._names[key], schema, self.direction))
        return self._names[key]

    def _object(self, schema: Schema, name: str, depth: int, limit: int = 0) -> str:
        """Render a dict of types, required fields first.

        `limit` is the number of fields of a definition. With 0, all fields are rendered and optional ones are marked.
        """
        properties, required = self._visible(schema), self._required(schema)
        optional = [field for field in properties if field not in required]
        fields = []
        for field in self._chosen([*required, *optional], limit):
            text = self.text(properties[field], f"{name}_{field}", depth + 1)
            is_marked = not limit and self.direction is Direction.REQUEST and field not in required
            fields.append(f"{_string(field)}: {f'NotRequired[{text}]' if is_marked else text}")
        return "{" + ", ".join(fields) + "}"

    def _chosen(self, fields: list[str], limit: int) -> list[str]:
        """Return as many fields as `limit`, in their order: wanted ones first, then keys, then the others."""
        if not limit or len(fields) <= limit:
            return fields
        order = sorted(fields, key=lambda field: 0 if self._wanted(field) else 1 if _is_key(field) else 2)
        chosen = set(order[:limit])
        return [field for field in fields if field in chosen]

    def _required(self, schema: Schema) -> list[str]:
        """Return the required fields of a request. Responses have none."""
        if self.direction is Direction.RESPONSE:
            return []
        required = schema.required()
        return [field for field in self._visible(schema) if field in required]

    def _visible(self, schema: Schema) -> dict[str, Schema]:
        hidden = "readOnly" if self.direction is Direction.REQUEST else "writeOnly"
        return {name: value for name, value in schema.properties().items() if value.first(hidden) is not True}


def _is_equal(left: Schema, right: Schema) -> bool:
    """Return whether two schemas are written the same, with references of the same document, if any."""
    if left.value != right.value:
        return False
    return left.graph is right.graph or not any("$ref" in part for part in walk(left.value))


def literals(schema: Schema) -> list[Any] | None:
    """Return the listed values of a schema without null, if all are plain, else None."""
    constant = schema.first("const")
    values = [constant] if constant is not None else schema.listed()
    plain = [value for value in values if value is not None]
    if not plain or not all(isinstance(value, (str, int, bool)) for value in plain):
        return None
    return list(dict.fromkeys(plain)) if len({type(value) for value in plain}) == 1 else plain


def _by_type(types: Mapping[str, str]) -> str:
    """Join fields by type, in the order of the first field of each type: `id, total: int; name: str`."""
    names_by_type: dict[str, list[str]] = {}
    for field, text in types.items():
        names_by_type.setdefault(text, []).append(field if field.isidentifier() else _string(field))
    return "; ".join(f"{', '.join(names)}: {text}" for text, names in names_by_type.items())


def _string(text: str) -> str:
    """Return a string literal that is valid in Python and JSON."""
    return json.dumps(text, ensure_ascii=not text.isprintable())


def _merge_parts(parts: list[str]) -> list[str]:
    """Remove duplicates from alternatives, merge the literals, and move None to the end."""
    distinct = dict.fromkeys(part for part in parts if part != "None")
    listed = [part for part in distinct if part.startswith("Literal[")]
    joined = f"Literal[{', '.join(part[8:-1] for part in listed)}]"
    merged = dict.fromkeys(joined if part in listed else part for part in distinct)
    return [*merged, *(["None"] if "None" in parts else [])]


def _type_of_example(schema: Schema) -> str:
    """Derive an undeclared type from listed values, the default, an example or string keywords."""
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


def _unused_name(name: str, taken: set[str]) -> str:
    candidate = name
    number = 2
    while candidate in taken:
        candidate = f"{name}{number}"
        number += 1
    return candidate
