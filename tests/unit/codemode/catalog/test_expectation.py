"""The cheap comparison of results with schemas."""

from __future__ import annotations

from typing import Any

import pytest

from codemode.catalog.expectation import declared, learned
from codemode.catalog.observed import shape_of
from codemode.catalog.schema import Dialect, Schema

CLIENT = {
    "type": "object",
    "required": ["id"],
    "properties": {
        "id": {"type": "integer"},
        "name": {"type": ["string", "null"]},
        "price": {"type": "number"},
        "photo": {"type": "string", "format": "binary"},
        "state": {"anyOf": [{"type": "string"}, {"type": "boolean"}]},
        "password": {"type": "string", "writeOnly": True},
        "owner": {"type": "object", "properties": {"id": {"type": "integer"}, "deep": {"type": "object"}}},
        "free": {},
    },
}
PAGE = {"type": "object", "properties": {"items": {"type": "array", "items": CLIENT}, "total": {"type": "integer"}}}


@pytest.mark.parametrize(
    "value",
    [
        {"id": 1, "name": None, "price": 2, "photo": {"$content": "c_1"}, "state": True, "free": [1]},
        {"id": 1.0, "more": "is allowed", "owner": {"id": 1}, "state": "new"},
    ],
)
def test_what_the_schema_allows_does_not_differ(value: dict[str, Any]) -> None:
    assert declared(Schema.of(CLIENT)).difference(value, "the document says") == ""
    assert declared(Schema.of(PAGE)).difference({"items": [value], "total": 1}, "the document says") == ""
    assert declared(Schema.of(PAGE)).difference({"items": []}, "the document says") == ""


@pytest.mark.parametrize(
    ("schema", "value", "told"),
    [
        (CLIENT, {"id": "7"}, "returned a field `id` of type str where the document says integer"),
        (CLIENT, {"id": True}, "returned a field `id` of type bool where the document says integer"),
        (CLIENT, {"id": 1, "price": None}, "returned a field `price` of type null where the document says number"),
        (CLIENT, {"name": "Ada"}, "returned no field `id`, which the document requires"),
        (
            CLIENT,
            {"id": 1, "state": 3},
            "returned a field `state` of type int where the document says string or boolean",
        ),
        (
            CLIENT,
            {"id": 1, "owner": {"id": "x"}},
            "returned a field `owner.id` of type str where the document says integer",
        ),
        (CLIENT, [], "returned a result of type list where the document says object"),
        (PAGE, {"items": [{"id": "7"}]}, "returned a field `items[].id` of type str where the document says integer"),
        (PAGE, {"items": {}}, "returned a field `items` of type dict where the document says array"),
    ],
)
def test_the_first_difference_is_told_with_its_place(schema: dict[str, Any], value: Any, told: str) -> None:
    assert declared(Schema.of(schema)).difference(value, "the document says") == told


def test_null_is_allowed_as_the_dialect_says() -> None:
    schema = Schema.of({"type": "string", "nullable": True}, dialect=Dialect.OPENAPI_3_0)
    assert declared(schema).difference(None, "the document says") == ""


def test_a_circular_schema_is_read_two_levels_deep() -> None:
    node: dict[str, Any] = {"type": "object", "properties": {"child": {"$ref": "#"}, "id": {"type": "integer"}}}
    expected = declared(Schema.of(node))
    assert "`child.id`" in expected.difference({"child": {"id": "x"}}, "the document says")
    assert expected.difference({"child": {"child": {"id": "x"}}}, "the document says") == ""


def test_a_learned_schema_expects_types_but_neither_fields_nor_kinds_of_numbers() -> None:
    expected = learned(Schema.of(shape_of({"total": 1, "name": "Ada"})))
    assert expected.difference({"total": 1.5, "name": None, "more": 1}, "earlier answers had") == ""
    assert expected.difference({}, "earlier answers had") == ""
    told = "returned a field `total` of type str where earlier answers had integer or null"
    assert expected.difference({"total": "1"}, "earlier answers had") == told
