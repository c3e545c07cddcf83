"""A quick yes: compiled checks for what most arguments are.

A check answers True only where the schema surely holds; False means "ask the library", never "wrong". So a schema
that uses a keyword this module does not know costs time, not correctness.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

from codemode.text.ecma_patterns import compile_pattern

if TYPE_CHECKING:
    from codemode.catalog.schema import Schema

    Maker = Callable[[Schema, Any], "Check | None"]

Check = Callable[[Any], bool]

#: Keywords that say nothing about validity here.
_SILENT = frozenset(
    (
        *("title", "description", "summary", "default", "example", "examples", "deprecated", "readOnly", "writeOnly"),
        *("format", "xml", "externalDocs", "discriminator", "contentMediaType", "contentEncoding", "nullable"),
        *("$schema", "$id", "$comment", "$anchor", "$defs", "definitions"),
        # of a Parameter Object of Swagger 2.0, which is its own schema
        *("name", "in", "required", "style", "explode", "allowReserved", "allowEmptyValue", "collectionFormat"),
    )
)


def quick_check(schema: Schema) -> Check:
    """The compiled check of a schema, made once for each place in the document."""
    checks = schema.graph.checks
    key = (schema.base, id(schema.value))
    entry = checks.get(key)
    if entry is None:
        # The entry holds the value too, so that its `id` stays its own; a cycle comes back to the entry being made.
        entry = checks[key] = [schema.value, _never]
        entry[1] = _made(schema)
        return cast("Check", entry[1])
    made: Check = entry[1]
    return made if made is not _never else lambda value: bool(entry[1](value))


def _never(_: Any) -> bool:
    return False


def _always(_: Any) -> bool:
    return True


def _made(schema: Schema) -> Check:
    value = schema.value
    if value is True:
        return _always
    if not isinstance(value, Mapping):
        return _never
    if schema.reference is not None:
        target = schema.target()
        alone = schema.graph.dialect.is_legacy or all(_is_silent(key) or key == "$ref" for key in value)
        return quick_check(target) if target is not None and alone else _never
    parts: list[Check] = []
    for key, argument in value.items():
        if key == "required" and not isinstance(argument, list):
            continue
        if _is_silent(key) and key != "required":
            continue
        maker = _MAKERS.get(key)
        part = maker(schema, argument) if maker else None
        if part is None:
            return _never
        parts.append(part)
    check = parts[0] if len(parts) == 1 else _all(parts)
    return _or_none(check) if value.get("nullable") is True else check


def _is_silent(key: str) -> bool:
    return key in _SILENT or key.startswith("x-")


def _all(parts: list[Check]) -> Check:
    return lambda value: all(part(value) for part in parts)


def _any(parts: list[Check]) -> Check:
    return lambda value: any(part(value) for part in parts)


def _or_none(check: Check) -> Check:
    return lambda value: value is None or check(value)


_TYPES: dict[str, Check] = {
    "string": lambda value: type(value) is str,
    "integer": lambda value: type(value) is int,
    "number": lambda value: type(value) is int or type(value) is float,
    "boolean": lambda value: value is True or value is False,
    "array": lambda value: type(value) is list,
    "object": lambda value: type(value) is dict,
    "null": lambda value: value is None,
}


def _type(_: Schema, names: Any) -> Check | None:
    if isinstance(names, str):
        return _TYPES.get(names)
    if isinstance(names, list) and names and all(isinstance(name, str) and name in _TYPES for name in names):
        return _any([_TYPES[name] for name in names])
    return None


def _enum(_: Schema, values: Any) -> Check | None:
    if not isinstance(values, list) or not values:
        return _always
    texts = frozenset(value for value in values if type(value) is str)
    return lambda value: type(value) is str and value in texts


def _bound(holds: Callable[[Any, Any], bool]) -> Maker:
    def make(schema: Schema, limit: Any) -> Check | None:
        if type(limit) not in (int, float) or isinstance(schema.get("exclusiveMinimum"), bool):
            return None
        if isinstance(schema.get("exclusiveMaximum"), bool):
            return None
        return lambda value: (type(value) is not int and type(value) is not float) or holds(value, limit)

    return make


def _size(kind: type[str] | type[list[Any]] | type[dict[str, Any]], holds: Callable[[int, Any], bool]) -> Maker:
    def make(_: Schema, limit: Any) -> Check | None:
        if type(limit) is not int:
            return None
        return lambda value: not isinstance(value, kind) or holds(len(value), limit)

    return make


def _pattern(_: Schema, pattern: Any) -> Check | None:
    compiled = compile_pattern(pattern) if isinstance(pattern, str) else None
    if compiled is None:
        return None
    return lambda value: type(value) is str and compiled(value)


def _items(schema: Schema, items: Any) -> Check | None:
    if not isinstance(items, Mapping):
        return None
    check = quick_check(schema.at(items))
    return lambda value: type(value) is not list or all(check(item) for item in value)


def _properties(schema: Schema, properties: Any) -> Check | None:
    if not isinstance(properties, Mapping):
        return None
    checks = {name: quick_check(schema.at(value)) for name, value in properties.items()}

    def check(value: Any) -> bool:
        if type(value) is not dict:
            return False
        return all(name not in checks or checks[name](item) for name, item in value.items())

    return check


def _additional(schema: Schema, extra: Any) -> Check | None:
    if extra is True:
        return _always
    declared = schema.get("properties", {})
    known = frozenset(declared) if isinstance(declared, Mapping) else frozenset()
    if extra is False:
        return lambda value: type(value) is dict and known.issuperset(value)
    if not isinstance(extra, Mapping):
        return None
    check = quick_check(schema.at(extra))
    return lambda value: type(value) is dict and all(name in known or check(item) for name, item in value.items())


def _required(_: Schema, names: Any) -> Check | None:
    return lambda value: type(value) is dict and all(name in value for name in names)


def _members(join: Callable[[list[Check]], Check]) -> Maker:
    def make(schema: Schema, members: Any) -> Check | None:
        if not isinstance(members, list) or not members:
            return None
        return join([quick_check(schema.at(member)) for member in members])

    return make


_MAKERS: dict[str, Maker] = {
    "type": _type,
    "enum": _enum,
    "minimum": _bound(operator.ge),
    "maximum": _bound(operator.le),
    "minLength": _size(str, operator.ge),
    "maxLength": _size(str, operator.le),
    "minItems": _size(list, operator.ge),
    "maxItems": _size(list, operator.le),
    "minProperties": _size(dict, operator.ge),
    "maxProperties": _size(dict, operator.le),
    "pattern": _pattern,
    "items": _items,
    "properties": _properties,
    "additionalProperties": _additional,
    "required": _required,
    "allOf": _members(_all),
    "anyOf": _members(_any),
    "oneOf": _members(_any),
}
