"""Validate values with `jsonschema`, in the dialect of the schema's document.

It differs from the library's dialects where published documents require it:
- A keyword with a malformed value is ignored: `required: true`, `enum: []`, an unknown type, an invalid pattern.
- `oneOf` requires at least one match. Overlapping alternatives are common: `[]` matches a list of names and a list of
  objects, and the service decides which is meant.
- `additionalProperties: false` inside or beside `allOf` allows the properties of all members of that `allOf`.
- A required `readOnly` property is not required in requests (OpenAPI 3.0.3, Schema Object).
- `enum` beside `type: array` applies to the items, unless its values are lists.
- A value that `enum` lists is valid even if `type` differs.
- `anyOf` and `oneOf` are ignored if no member can have the `type` beside them.
- `nullable`, boolean `exclusiveMinimum` and ignored siblings of `$ref` follow OpenAPI 3.0.
`format` and the `unevaluated…` keywords are not asserted.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

from jsonschema import Draft4Validator, Draft202012Validator
from jsonschema.exceptions import UndefinedTypeCheck, ValidationError, best_match
from jsonschema.validators import create

from codemode.catalog.content import is_content
from codemode.catalog.schema import Schema, says_nullable
from codemode.text.ecma_patterns import compile_pattern, matches

if TYPE_CHECKING:
    from codemode.catalog.schema import Graph

Check = Callable[[Any, Any, Any, Any], Iterator[ValidationError]]

#: The most errors among which the most relevant one is chosen.
_MOST_ERRORS = 100

_TYPES = frozenset(("string", "integer", "number", "boolean", "array", "object", "null"))


def first_error(schema: Schema, value: Any) -> ValidationError | None:
    """Return the most relevant validation error of `value`, or None if it is valid."""
    if not isinstance(schema.value, (Mapping, bool)):
        return None  # not a schema
    cls = type(_validator(schema.graph, schema.base))
    try:
        errors: list[ValidationError] = list(islice(cls(schema.value).iter_errors(value), _MOST_ERRORS))
    except RecursionError:  # circular references that never descend into the value
        return None
    if not errors:
        return None
    try:
        best: ValidationError | None = best_match(errors)
    except (TypeError, UndefinedTypeCheck):  # best_match reads schemas that may be malformed
        best = errors[0]
    return best


def fits(schema: Schema, value: Any) -> bool:
    """Whether the value is valid for the schema."""
    return first_error(schema, value) is None


def _validator(graph: Graph, base: str) -> Any:
    """Return the validator of one document of a graph. References resolve relative to the document."""
    validator_of_document = graph.validators.get(base)
    if validator_of_document is None:
        validator_of_document = graph.validators[base] = _create(graph, base)
    return validator_of_document


def _create(graph: Graph, base: str) -> Any:
    legacy = graph.dialect.is_legacy
    draft = Draft4Validator if legacy else Draft202012Validator
    keywords: dict[str, Check] = {
        keyword: _lenient(draft.VALIDATORS[keyword], is_usable)
        for keyword, is_usable in _USABLE.items()
        if keyword in draft.VALIDATORS
    }
    any_of = _any_of(graph, base, keywords["anyOf"])
    keywords |= {"type": _type, "enum": _enum, "anyOf": any_of, "oneOf": any_of, "pattern": _pattern}
    keywords |= {"patternProperties": _pattern_properties, "uniqueItems": _unique_items}
    keywords["required"] = _required(graph, base)
    keywords["allOf"] = _all_of(graph, base)
    keywords["additionalProperties"] = _additional(graph, base, keywords["additionalProperties"])
    keywords |= dict.fromkeys(("$ref", "$dynamicRef", "$recursiveRef"), _reference(graph, base))
    validator_of_document = create(
        meta_schema={},
        validators={keyword: _nullable(check) for keyword, check in keywords.items()},
        type_checker=Draft202012Validator.TYPE_CHECKER,
        id_of=lambda _: "",
        applicable_validators=_without_siblings if legacy else _all_keywords,
    )
    return validator_of_document({})


def _all_keywords(schema: Any) -> Any:
    return schema.items() if isinstance(schema, Mapping) else ()


def _without_siblings(schema: Any) -> Any:
    if isinstance(schema, Mapping) and isinstance(schema.get("$ref"), str):
        return [("$ref", schema["$ref"])]
    return _all_keywords(schema)


def _reference(graph: Graph, base: str) -> Check:
    def follow(validator: Any, _: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
        target = Schema(schema, graph, base).target()
        if target is not None and _is_schema(target.value):
            other = validator if target.base == base else _validator(graph, target.base)
            yield from other.descend(instance, target.value)

    return follow


def _all_of(graph: Graph, base: str) -> Check:
    def checked(validator: Any, members: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
        for index, member in enumerate(members if isinstance(members, list) else ()):
            for error in validator.descend(instance, member, schema_path=index) if _is_schema(member) else ():
                if error.relative_path or not _is_answered_by_whole(error, instance, Schema(schema, graph, base)):
                    yield error

    return checked


def _is_answered_by_whole(error: ValidationError, instance: Any, whole: Schema) -> bool:
    """Whether another member of the `allOf` declares the unknown property, or the missing one is read-only."""
    if error.validator == "additionalProperties":
        return isinstance(instance, Mapping) and set(instance) <= set(whole.properties())
    return isinstance(error, Missing) and _is_read_only(error.name, whole)


def _additional(graph: Graph, base: str, check: Check) -> Check:
    def checked(validator: Any, extra: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
        whole = Schema(schema, graph, base)
        is_known = extra is False and "allOf" in schema and isinstance(instance, Mapping)
        if not is_known or not set(instance) <= set(whole.properties()):
            yield from check(validator, extra, *_without_matched(instance, schema))

    return checked


def _without_matched(instance: Any, schema: Any) -> tuple[Any, Any]:
    """Remove the properties that match `patternProperties` from an object, and that keyword from its schema."""
    patterns = schema.get("patternProperties")
    if not _is_table(patterns) or not isinstance(instance, Mapping):
        return instance, schema
    rest = {name: item for name, item in instance.items() if not any(matches(each, name) for each in patterns)}
    return rest, {key: value for key, value in schema.items() if key != "patternProperties"}


def _any_of(graph: Graph, base: str, check: Check) -> Check:
    def checked(validator: Any, members: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
        if Schema(schema, graph, base).variants():
            yield from check(validator, members, instance, schema)

    return checked


def _lenient(check: Any, is_usable: Callable[[Any], bool]) -> Check:
    def checked(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
        if is_usable(value):
            yield from check(validator, value, instance, schema) or ()

    return checked


def _nullable(check: Check) -> Check:
    def checked(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
        if instance is None and says_nullable(schema):
            return
        yield from check(validator, value, instance, schema)

    return checked


def _type(validator: Any, types: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    names = [name for name in (types if isinstance(types, list) else [types]) if isinstance(name, str)]
    if not names or not all(name in _TYPES for name in names):
        return
    if any(validator.is_type(instance, name) for name in names) or ("string" in names and is_content(instance)):
        return
    values = schema.get("enum")
    if isinstance(values, list) and names != ["array"] and _is_among(instance, values):
        return
    yield ValidationError(f"{instance!r} is not of type {', '.join(map(repr, names))}")


def _is_among(instance: Any, values: list[Any]) -> bool:
    """Whether a value is in a list, where `true` and `1` differ."""
    return any(value == instance and isinstance(value, bool) == isinstance(instance, bool) for value in values)


class Missing(ValidationError):
    """A required property is missing."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name!r} is a required property")
        self.name = name


def _enum(validator: Any, values: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if not _is_filled(values):
        return
    if schema.get("type") == "array" and not any(isinstance(value, list) for value in values):
        invalid = [item for item in instance if not _is_among(item, values)] if isinstance(instance, list) else []
    else:
        texts = [str(value) for value in values] if schema.get("type") == "string" else []
        invalid = [] if _is_among(instance, [*values, *texts]) else [instance]
    for item in invalid:
        yield ValidationError(f"{item!r} is not one of {values!r}")


def _required(graph: Graph, base: str) -> Check:
    def checked(validator: Any, required: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
        if not isinstance(required, list) or not isinstance(instance, Mapping):
            return
        for name in required:
            if isinstance(name, str) and name not in instance and not _is_read_only(name, Schema(schema, graph, base)):
                yield Missing(name)

    return checked


def _is_read_only(name: str, schema: Schema) -> bool:
    """Whether the schema or a member of its union declares a property `readOnly`."""
    schemas = (schema, *(variant.resolved() for variant in schema.variants()))
    declared = [properties[name] for candidate in schemas if name in (properties := candidate.properties())]
    return any(declaration.first("readOnly") is True for declaration in declared)


def _pattern(validator: Any, pattern: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, str) and isinstance(pattern, str) and not matches(pattern, instance):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _pattern_properties(validator: Any, table: Any, instance: Any, _: Any) -> Iterator[ValidationError]:
    if not _is_table(table) or not isinstance(instance, Mapping):
        return
    for pattern, schema in table.items():
        fits_name = compile_pattern(pattern)
        for name in filter(fits_name, instance) if fits_name else ():
            yield from validator.descend(instance[name], schema, path=name, schema_path=pattern)


def _unique_items(_: Any, unique: Any, instance: Any, __: Any) -> Iterator[ValidationError]:
    if unique is True and isinstance(instance, list):
        texts = {json.dumps(_with_whole_numbers(item), sort_keys=True, default=repr) for item in instance}
        if len(texts) < len(instance):
            yield ValidationError(f"{instance!r} has equal items")


def _with_whole_numbers(value: Any) -> Any:
    """Convert floats with integral values to integers, so that 1.0 equals 1."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_with_whole_numbers(item) for item in value]
    if isinstance(value, Mapping):
        return {name: _with_whole_numbers(item) for name, item in value.items()}
    return value


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_schema(value: Any) -> bool:
    return isinstance(value, (Mapping, bool))


def _are_schemas(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(_is_schema(member) for member in value)


def _is_table(value: Any) -> bool:
    return isinstance(value, Mapping) and all(_is_schema(member) for member in value.values())


def _is_filled(value: Any) -> bool:
    return isinstance(value, list) and bool(value)


def _is_bound(value: Any) -> bool:
    return _is_number(value) and value == int(value)


#: The keywords that the library checks, each with a test for a usable value.
_USABLE: dict[str, Callable[[Any], bool]] = {
    "const": lambda _: True,
    "properties": _is_table,
    "additionalProperties": _is_schema,
    "propertyNames": _is_schema,
    "items": _is_schema,
    "prefixItems": _are_schemas,
    "contains": _is_schema,
    "anyOf": _are_schemas,
    "not": _is_schema,
    "if": _is_schema,
    "dependentRequired": lambda value: isinstance(value, Mapping) and all(map(_is_filled, value.values())),
    "dependentSchemas": _is_table,
    "minimum": _is_number,
    "maximum": _is_number,
    "exclusiveMinimum": _is_number,
    "exclusiveMaximum": _is_number,
    "multipleOf": lambda value: _is_number(value) and value > 0,
    "minLength": _is_bound,
    "maxLength": _is_bound,
    "minItems": _is_bound,
    "maxItems": _is_bound,
    "minProperties": _is_bound,
    "maxProperties": _is_bound,
}
