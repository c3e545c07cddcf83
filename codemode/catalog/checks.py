"""Fast validation of common schemas by compiled checks.

A check returns True only if the value is certainly valid. False means that `jsonschema` must decide. A schema with a
keyword that this module does not know is therefore slower, not wrong.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

from codemode.catalog.schema import says_nullable
from codemode.text.ecma_patterns import compile_pattern

if TYPE_CHECKING:
    from codemode.catalog.schema import Schema

    Maker = Callable[[Schema, Any], "Check | None"]

Check = Callable[[Any], bool]

#: Keywords that do not affect validity.
_ANNOTATIONS = frozenset(
    (
        *("title", "description", "summary", "default", "example", "examples", "deprecated", "readOnly", "writeOnly"),
        *("format", "xml", "externalDocs", "discriminator", "contentMediaType", "contentEncoding", "nullable"),
        *("$schema", "$id", "$comment", "$anchor", "$defs", "definitions"),
        # a Parameter Object of Swagger 2.0 is its own schema
        *("name", "in", "required", "style", "explode", "allowReserved", "allowEmptyValue", "collectionFormat"),
    )
)


def quick_check(schema: Schema) -> Check:
    """Return the compiled check of a schema, cached for each place in the document."""
    checks = schema.graph.checks
    key = (schema.base, id(schema.value))
    entry = checks.get(key)
    if entry is None:
        # The entry holds the value so that its `id` is not reused. A cycle finds the unfinished entry.
        entry = checks[key] = [schema.value, _reject]
        entry[1] = _compiled(schema)
        return cast("Check", entry[1])
    made: Check = entry[1]
    return made if made is not _reject else lambda value: bool(entry[1](value))


def _reject(_: Any) -> bool:
    return False


def _accept(_: Any) -> bool:
    return True


def _compiled(schema: Schema) -> Check:
    value = schema.value
    if value is True:
        return _accept
    if not isinstance(value, Mapping):
        return _reject
    if schema.reference is not None:
        target = schema.target()
        alone = schema.graph.dialect.is_legacy or all(_is_annotation(key) or key == "$ref" for key in value)
        return quick_check(target) if target is not None and alone else _reject
    parts: list[Check] = []
    for key, argument in value.items():
        if key == "required" and not isinstance(argument, list):
            continue
        if _is_annotation(key) and key != "required":
            continue
        maker = _MAKERS.get(key)
        part = maker(schema, argument) if maker else None
        if part is None:
            return _reject
        parts.append(part)
    check = parts[0] if len(parts) == 1 else _all(parts)
    return _or_none(check) if says_nullable(value) else check


def _is_annotation(key: str) -> bool:
    return key in _ANNOTATIONS or key.startswith("x-")


def _all(parts: list[Check]) -> Check:
    def check(value: Any) -> bool:
        for part in parts:  # noqa: SIM110 -- a generator takes twice the time
            if not part(value):
                return False
        return True

    return check


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
        return _accept
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
    return lambda value: type(value) is not list or all(map(check, value))


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
        return _accept
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
