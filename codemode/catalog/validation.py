"""Validation by `jsonschema`, in the dialect of the document that a schema stands in.

Differences to the library's own dialects, each because published documents need it:
- a keyword whose value is malformed (`required: true`, `enum: []`, an unknown type, a pattern that cannot be compiled)
  is ignored, as if it were not there;
- `oneOf` asks for at least one match: overlapping alternatives are common (`[]` fits a list of names and a list of
  objects), and which of them is meant is the service's to say;
- `additionalProperties: false` inside or beside `allOf` does not forbid what members of the same `allOf` declare;
- a `readOnly` property that is required is not required of a request (OpenAPI 3.0.3, Schema Object);
- `enum` at a list means its items, unless lists are listed; what it lists is allowed though `type` says otherwise;
- `anyOf` and `oneOf` hold where none of their members can be of the `type` that stands beside them;
- `nullable`, boolean `exclusiveMinimum`, ignored siblings of `$ref`: as OpenAPI 3.0 says.
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
from codemode.catalog.schema import Schema
from codemode.text.ecma_patterns import compile_pattern, matches

if TYPE_CHECKING:
    from codemode.catalog.schema import Graph

Check = Callable[[Any, Any, Any, Any], Iterator[ValidationError]]

#: Errors that are looked at to find the one that says most.
_MOST_ERRORS = 100

_TYPES = frozenset(("string", "integer", "number", "boolean", "array", "object", "null"))


def first_error(schema: Schema, value: Any) -> ValidationError | None:
    """The error that says most about why `value` does not fit, or None where it fits."""
    if not isinstance(schema.value, (Mapping, bool)):
        return None  # no schema at all
    cls = type(_validator(schema.graph, schema.base))
    try:
        errors: list[ValidationError] = list(islice(cls(schema.value).iter_errors(value), _MOST_ERRORS))
    except RecursionError:  # references that go in a circle without a step into the value
        return None
    if not errors:
        return None
    try:
        best: ValidationError | None = best_match(errors)
    except (TypeError, UndefinedTypeCheck):  # it looks into schemas that may be malformed
        best = errors[0]
    return best


def fits(schema: Schema, value: Any) -> bool:
    """Whether the value is valid."""
    return first_error(schema, value) is None


def _validator(graph: Graph, base: str) -> Any:
    """The validator of one document of a graph; where it stands decides what its references mean."""
    made = graph.validators.get(base)
    if made is None:
        made = graph.validators[base] = _made(graph, base)
    return made


def _made(graph: Graph, base: str) -> Any:
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
    made = create(
        meta_schema={},
        validators={keyword: _nullable(check) for keyword, check in keywords.items()},
        type_checker=Draft202012Validator.TYPE_CHECKER,
        id_of=lambda _: "",
        applicable_validators=_without_siblings if legacy else _all_keywords,
    )
    return made({})


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
    """Whether what one member of an `allOf` misses is there in another: a property it does not know or cannot ask."""
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
    """An object without the properties whose names match a pattern of the schema, and that without the patterns."""
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
        if instance is None and schema.get("nullable") is True:
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
    """Whether it is one of the values; true and 1 are not the same."""
    return any(value == instance and isinstance(value, bool) == isinstance(instance, bool) for value in values)


class Missing(ValidationError):
    """A required property that is not there."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name!r} is a required property")
        self.name = name


def _enum(validator: Any, values: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if not _is_filled(values):
        return
    if schema.get("type") == "array" and not any(isinstance(value, list) for value in values):
        wrong = [item for item in instance if not _is_among(item, values)] if isinstance(instance, list) else []
    else:
        texts = [str(value) for value in values] if schema.get("type") == "string" else []
        wrong = [] if _is_among(instance, [*values, *texts]) else [instance]
    for item in wrong:
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
    """Whether the property is declared `readOnly`, by the schema itself or by any member of its union."""
    places = (schema, *(variant.resolved() for variant in schema.variants()))
    declared = [properties[name] for place in places if name in (properties := place.properties())]
    return any(found.first("readOnly") is True for found in declared)


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
            yield ValidationError(f"{instance!r} has items that are the same")


def _with_whole_numbers(value: Any) -> Any:
    """The same value for numbers that are equal: 1.0 is 1."""
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


#: Keywords that the library checks, and when their value is of use.
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
