"""Validation as documents need it, and the quick check that must never say yes to what the library refuses."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codemode.catalog.checks import quick_check
from codemode.catalog.schema import Dialect, Graph, Schema
from codemode.catalog.validation import first_error, fits

OLD = Dialect.OPENAPI_3_0
NEW = Dialect.OPENAPI_3_1


@pytest.mark.parametrize(
    ("dialect", "schema", "good", "bad"),
    [
        (OLD, {"type": "string", "nullable": True, "enum": ["a"]}, None, "b"),
        (OLD, {"type": "integer", "minimum": 3, "exclusiveMinimum": True}, 4, 3),
        (NEW, {"type": "integer", "exclusiveMinimum": 3}, 4, 3),
        (NEW, {"type": ["string", "null"]}, None, 1),
        (OLD, {"type": "object", "required": True, "properties": {"a": {"type": "string"}}}, {}, {"a": 1}),
        (OLD, {"type": "string", "enum": []}, "x", 1),
        (OLD, {"type": "money"}, {"any": 1}, ...),
        (OLD, {"type": "string", "pattern": "[" }, "x", 1),
        (OLD, {"type": "string", "pattern": "^(a+)+$"}, "a", "b"),
        (OLD, {"type": "string", "pattern": "^a$"}, "a", "b"),
        (OLD, {"type": "string", "pattern": "^a$"}, "a", "a\n"),
        (OLD, {"type": "string", "pattern": "^(?!a)"}, "a", 1),
        (OLD, {"type": "string", "pattern": "^[[a&&+--z~~]+$"}, "[a&,-z~", "c"),
        (OLD, {"type": "string", "pattern": r"^\[[\]x]$"}, "[x", "]"),
        (OLD, {"type": "string", "pattern": "^\ud800"}, "a", 1),
        (OLD, {"type": "string", "pattern": "^" + "a" * 10_000}, "b", 1),
        (NEW, {"patternProperties": {"^x-": {"type": "string"}, "(": False}}, {"x-a": "a", "(": 1}, {"x-a": 1}),
        (NEW, {"patternProperties": {"^x-": {}}, "additionalProperties": False}, {"x-a": 1}, {"y": 1}),
        (NEW, {"patternProperties": {"(": {}}, "additionalProperties": False}, {"y": 1}, ...),
        (NEW, {"patternProperties": [], "additionalProperties": False}, {}, {"y": 1}),
        (OLD, {"oneOf": [{"type": "integer"}, {"type": "number"}]}, 1, "a"),
        (OLD, {"type": "string", "format": "binary"}, {"$content": "c_1"}, {"x": 1}),
        (NEW, {"properties": {"a": {"const": 1}}, "additionalProperties": False}, {"a": 1}, {"b": 1}),
        (NEW, {"if": {"required": ["a"]}, "then": {"required": ["b"]}}, {"a": 1, "b": 2}, {"a": 1}),
        (NEW, {"dependentRequired": {"a": ["b"]}}, {"b": 1}, {"a": 1}),
        (NEW, {"prefixItems": [{"type": "string"}], "items": False}, ["a"], ["a", "b"]),
        (OLD, {"required": ["id"], "properties": {"id": {"readOnly": True}}}, {}, ...),
        (OLD, {"allOf": [{"properties": {"a": {}}, "additionalProperties": False}, {"properties": {"b": {}}}]},
         {"a": 1, "b": 2}, {"c": 1}),
        (OLD, {"required": ["id"], "oneOf": [{"properties": {"id": {"readOnly": True}}}]}, {}, ...),
        (NEW, {"$schema": "http://json-schema.org/draft-07/schema", "$ref": "#/$defs/a", "$defs": {"a": False}},
         ..., 1),
        (NEW, {"anyOf": [{"type": 5}, {"type": "string"}], "type": "string"}, "a", 1),
        (NEW, 17, "a", ...),
        (OLD, {"uniqueItems": True, "type": "array"}, [1, True], [1, 1]),
        (OLD, {"uniqueItems": True}, [{"a": [1]}, {"a": [2]}, "1"], [{"a": [1], "b": 2}, {"b": 2.0, "a": [1.0]}]),
        (OLD, {"uniqueItems": "yes"}, [1, 1], ...),
        (OLD, {"minimum": "3"}, 1, ...),
        (NEW, False, ..., 1),
    ],
)  # fmt: skip
def test_a_schema_is_read_as_its_document_means_it(dialect: Dialect, schema: Any, good: Any, bad: Any) -> None:
    cursor = Schema.of(schema, dialect=dialect)
    assert good is ... or fits(cursor, good)
    assert bad is ... or not fits(cursor, bad)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "string", "pattern": "^[a-z]*[a-z0-9]*[a-z_]*[a-z.]*$"}, "a" * 100_000 + "!"),
        ({"type": "string", "pattern": "(a?){50}b"}, "a" * 100_000),
        ({"items": {"type": "string", "pattern": "^(a+)+$"}}, ["a" * 40 + "!"] * 100),
        ({"patternProperties": {"^(a|a)*$": {"type": "null"}}, "required": ["b"]}, {"a" * 100_000 + "!": 1}),
        ({"patternProperties": {"^(a|a)*$": {}}, "additionalProperties": False}, {"a" * 100_000 + "!": 1}),
        ({"uniqueItems": True}, [*({"n": n} for n in range(40_000)), {"n": 0.0}]),
    ],
)
def test_no_value_holds_the_host_up(schema: Any, value: Any) -> None:
    """Each of these would take minutes at the least, the time-out of a test is 20 seconds."""
    assert not fits(Schema.of(schema, dialect=NEW), value)
    assert not quick_check(Schema.of(schema, dialect=NEW))(value)


def test_references_are_followed_while_validating_cycles_included() -> None:
    document = {
        "Node": {"type": "object", "properties": {"next": {"$ref": "#/Node"}, "value": {"type": "integer"}}},
        "Loop": {"$ref": "#/Loop"},
    }
    graph = Graph.of(document, dialect=NEW)
    node = Schema({"$ref": "#/Node"}, graph)
    assert fits(node, {"next": {"next": {"value": 1}}})
    error = first_error(node, {"next": {"next": {"value": "x"}}})
    assert error is not None
    assert list(error.absolute_path) == ["next", "next", "value"]
    assert fits(Schema({"$ref": "#/Loop"}, graph), "anything")
    assert fits(Schema({"$ref": "#/Missing"}, graph), "anything")


_VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-3, 12), st.floats(-3, 12), st.sampled_from(["", "a", "b", "abc"])),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from("abc"), inner, max_size=3)),
    max_leaves=6,
)

_LEAF = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(
            ["string", "integer", "number", "boolean", "array", "object", "null", "file", ["string"]]
        ),
        "enum": st.lists(st.sampled_from(["a", "b", 1, True, None]), max_size=3),
        "minimum": st.one_of(st.integers(-2, 9), st.just("x")),
        "maximum": st.integers(-2, 9),
        "exclusiveMinimum": st.one_of(st.booleans(), st.integers(0, 3)),
        "minLength": st.integers(0, 3),
        "maxLength": st.integers(0, 3),
        "pattern": st.sampled_from(["^a", "b$", "(", "^(a+)+$"]),
        "uniqueItems": st.booleans(),
        "const": st.sampled_from(["a", 1]),
        "nullable": st.booleans(),
        "readOnly": st.booleans(),
        "$ref": st.sampled_from(["#/defs/Node", "#/defs/Text", "#/nowhere"]),
    },
)


def _larger(inner: Any) -> Any:
    return st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(["array", "object"]),
            "properties": st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
            "required": st.one_of(st.lists(st.sampled_from("abc"), max_size=2), st.just(True)),
            "additionalProperties": st.one_of(st.booleans(), inner),
            "items": inner,
            "minItems": st.integers(0, 2),
            "maxProperties": st.integers(0, 2),
            "allOf": st.lists(inner, max_size=2),
            "anyOf": st.lists(inner, max_size=2),
            "oneOf": st.lists(inner, max_size=2),
            "not": inner,
            "nullable": st.booleans(),
        },
    )


_SCHEMAS = st.recursive(_LEAF, _larger, max_leaves=6)

_DEFINITIONS = {
    "Node": {"type": "object", "properties": {"a": {"$ref": "#/defs/Node"}, "b": {"type": "integer"}}},
    "Text": {"type": "string", "maxLength": 1},
}


@settings(max_examples=300, deadline=None)
@given(schema=_SCHEMAS, values=st.lists(_VALUES, min_size=1, max_size=6), dialect=st.sampled_from([OLD, NEW]))
def test_the_quick_check_never_passes_what_the_library_refuses(
    schema: Any, values: list[Any], dialect: Dialect
) -> None:
    cursor = Schema(schema, Graph.of({"defs": _DEFINITIONS}, dialect=dialect))
    check = quick_check(cursor)
    for value in values:
        assert not check(value) or fits(cursor, value)


def test_the_quick_check_passes_what_most_arguments_are() -> None:
    schema = Schema.of(
        {
            "type": "object",
            "required": ["name"],
            "properties": {
                "name": {"type": "string", "maxLength": 9, "pattern": "^[a-z]+$"},
                "size": {"type": "integer", "minimum": 1},
                "tags": {"type": "array", "items": {"enum": ["a", "b"]}},
            },
            "additionalProperties": False,
        }
    )
    assert quick_check(schema)({"name": "abc", "size": 2, "tags": ["a"]})
