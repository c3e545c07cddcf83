"""Types as a model reads them."""

from __future__ import annotations

from typing import Any

import pytest

from codemode.catalog.schema import Dialect, Graph, Schema
from codemode.catalog.shapes import Direction, Shapes


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"type": "string"}, "str"),
        ({"type": "integer", "nullable": True}, "int | None"),
        ({"type": ["number", "null"]}, "float | None"),
        ({"enum": ["a", "b"]}, 'Literal["a", "b"]'),
        ({"type": "string", "enum": []}, "str"),
        ({"const": 3}, "Literal[3]"),
        ({"oneOf": [{"const": 0}, {"const": 1}]}, "Literal[0, 1]"),
        ({"type": "array", "items": {"type": "string"}}, "list[str]"),
        ({"type": "array"}, "list"),
        ({"type": "object"}, "dict"),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, "dict[str, int]"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "str | None"),
        ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, "str | int"),
        ({"type": "string", "format": "binary"}, "Content"),
        ({"type": "null"}, "None"),
        ({"example": 5}, "int"),
        ({"default": True}, "bool"),
        ({"pattern": "^a"}, "str"),
        ({}, "Any"),
        (True, "Any"),
        (False, "None"),
        ({"enum": [f"v{n}" for n in range(20)]}, "str"),
        ({"allOf": [{"type": "string"}, {"maxLength": 3}]}, "str"),
        ({"type": "object", "properties": {"a": {"type": "integer"}}}, '{"a": int}'),
    ],
)
def test_a_schema_reads_as_a_type(value: Any, expected: str) -> None:
    assert Shapes().text(Schema.of(value)) == expected


def _cycle() -> Schema:
    names = [f"Part{number}" for number in range(71)]
    schemas = {
        name: {
            "type": "object",
            "properties": {other: {"$ref": f"#/{other}"} for other in (names[index - 1], names[(index + 7) % 71])},
        }
        for index, name in enumerate(names)
    }
    return Schema({"$ref": "#/Part0"}, Graph.of(schemas, dialect=Dialect.OPENAPI_3_0))


def test_a_cycle_of_71_schemas_is_written_within_the_budget() -> None:
    shapes = Shapes()
    assert shapes.text(_cycle()) == "Part0"
    lines, left = shapes.define(200)
    assert lines[0] == 'Part0 = {"Part70": Part70, "Part7": Part7}'
    assert 5 < len(lines) < 30
    assert left
    assert not set(left) & {line.partition(" ")[0] for line in lines}


def test_every_name_is_defined_where_there_is_room() -> None:
    shapes = Shapes()
    shapes.text(_cycle())
    lines, left = shapes.define(10_000)
    assert (len(lines), left) == (71, [])


def test_fields_that_only_travel_the_other_way_are_left_out() -> None:
    schema = Schema.of(
        {
            "type": "object",
            "required": ["name"],
            "properties": {
                "id": {"type": "integer", "readOnly": True},
                "name": {"type": "string"},
                "password": {"type": "string", "writeOnly": True},
            },
        }
    )
    assert Shapes(Direction.RESPONSE).text(schema) == '{"id": int, "name": str}'
    assert Shapes(Direction.REQUEST).text(schema) == '{"name": str, "password"?: str}'


def test_two_schemas_of_one_name_are_told_apart() -> None:
    fields = {key: {"type": "string"} for key in "abcd"}
    document = {"x": {"Item": {"properties": fields}}, "y": {"Item": {"properties": {**fields, "e": {}}}}}
    graph = Graph.of(document)
    shapes = Shapes()
    assert [shapes.text(Schema({"$ref": f"#/{place}/Item"}, graph)) for place in "xy"] == ["Item", "Item2"]
