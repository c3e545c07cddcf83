from __future__ import annotations

from typing import Any

import pytest

from codemode.catalog.schema import Schema
from codemode.executions.run.placeholders import Placeholders

CLIENT = {
    "type": "object",
    "properties": {
        "id": {"type": "integer"},
        "password": {"type": "string", "writeOnly": True},
        "address": {"type": "object", "properties": {"city": {"type": "string"}, "geo": {"type": "object"}}},
        "tags": {"type": "array", "items": {"type": "string"}},
        "parent": {"$ref": "#"},
    },
}


def test_a_placeholder_names_each_field_and_its_call() -> None:
    label, answer = Placeholders().create("crm.clients.create", Schema.of(CLIENT))
    assert label == "crm.clients.create #1"
    assert answer["id"] == "<id of crm.clients.create #1>"
    assert answer["address"] == {"city": "<address.city of crm.clients.create #1>", "geo": {}}
    assert answer["tags"] == ["<tags[0] of crm.clients.create #1>"]
    assert answer["parent"]["id"] == "<parent.id of crm.clients.create #1>"
    assert answer["parent"]["parent"] == {}
    assert "password" not in answer


@pytest.mark.parametrize(
    ("schema", "answer"),
    [
        (None, {"id": "<id of a.b #1>"}),
        ({}, {"id": "<id of a.b #1>"}),
        ({"type": "null"}, None),
        ({"type": "number"}, "<answer of a.b #1>"),
        ({"type": "array", "items": {"type": "object", "properties": {"x": {}}}}, [{"x": "<[0].x of a.b #1>"}]),
        ({"type": "object"}, {"id": "<id of a.b #1>"}),
        ({"type": "array"}, ["<[0] of a.b #1>"]),
        ({"anyOf": [{"type": "null"}, {"type": "object", "properties": {"x": {}}}]}, {"x": "<x of a.b #1>"}),
    ],
)
def test_the_shape_is_that_of_the_schema(schema: Any, answer: Any) -> None:
    assert Placeholders().create("a.b", None if schema is None else Schema.of(schema))[1] == answer


def test_placeholders_are_found_in_parts_of_texts_and_only_if_they_were_created() -> None:
    placeholders = Placeholders()
    placeholders.create("a.b", None)
    assert placeholders.create("a.b", None)[0] == "a.b #2"
    assert placeholders.are_in({"to": ["Dear <name of a.b #2>,"]})
    assert placeholders.are_in({"<id of a.b #1>": 1})
    assert not placeholders.are_in({"to": "<id of a.b #3>", "text": "a.b #1"})
