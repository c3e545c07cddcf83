"""Types as a model reads them."""

from __future__ import annotations

from typing import Any

import pytest

from codemode.catalog.schema import Dialect, Graph, Schema
from codemode.catalog.shapes import Direction, Shapes
from codemode.catalog.tokens import estimate


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
        ({"enum": [f"v{n}" for n in range(20)]}, 'Literal["v0", "v1", "v2", "v3", "v4", "… 15 more"]'),
        ({"enum": list(range(20)), "type": "integer"}, "int"),
        ({"enum": ["a | b", "c, d", 'e"]', None]}, 'Literal["a | b", "c, d", "e\\"]"] | None'),
        ({"anyOf": [{"enum": ["a", "b"]}, {"enum": ["b", "c"]}, {"type": "null"}]}, 'Literal["a", "b", "c"] | None'),
        (
            {"anyOf": [{"type": "array", "items": {"type": ["string", "integer"]}}, {"type": ["string", "integer"]}]},
            "list[str | int] | str | int",
        ),
        ({"prefixItems": [{"type": "number"}, {"type": "string"}]}, "tuple[float, str]"),
        ({"type": "string", "format": "date-time"}, "str"),
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
    assert Shapes(Direction.REQUEST).text(schema) == '{"name": str, "password": NotRequired[str]}'


def test_two_schemas_of_one_name_are_told_apart() -> None:
    fields = {key: {"type": "string"} for key in "abcd"}
    document = {"x": {"Item": {"properties": fields}}, "y": {"Item": {"properties": {**fields, "e": {}}}}}
    graph = Graph.of(document)
    shapes = Shapes()
    assert [shapes.text(Schema({"$ref": f"#/{place}/Item"}, graph)) for place in "xy"] == ["Item", "Item2"]


def test_a_definition_says_what_must_be_sent_and_puts_it_first() -> None:
    fields = {key: {"type": "string"} for key in "abcd"}
    for required, expected in (
        (["c"], 'Item = {"c": str, "a": str, "b": str, "d": str}  # required: c'),
        ([], 'Item = {"a": str, "b": str, "c": str, "d": str}  # all optional'),
        ([*"abcd"], 'Item = {"a": str, "b": str, "c": str, "d": str}'),
    ):
        shapes = Shapes(Direction.REQUEST)
        assert shapes.text(Schema.of({"title": "Item", "properties": fields, "required": required})) == "Item"
        assert shapes.define(100) == ([expected], [])


def test_a_definition_that_is_too_long_says_how_many_fields_it_leaves_out() -> None:
    fields = {
        f"field_number_{number}": {"title": f"Type{number}", "properties": {key: {} for key in "abcd"}}
        for number in range(80)
    }
    shapes = Shapes()
    shapes.text(Schema.of({"title": "Large", "properties": {**fields, "again": fields["field_number_70"]}}))
    (first, *others), left = shapes.define(250)
    assert first.startswith('Large = {"field_number_0": Type0, ')
    assert first.endswith("  # 71 more fields")
    assert len(others) + len(left) == 10  # of what is not shown no name is left behind
    assert estimate("\n".join((first, *others))) <= 250


PAGE = {
    "type": "object",
    "properties": {
        "items": {"type": "array", "items": {"$ref": "#/Client"}},
        "total": {"type": "integer"},
        "next": {"type": ["string", "null"]},
    },
}
CLIENT = {
    "type": "object",
    "properties": {
        "id": {"type": "integer"},
        "name": {"type": "string"},
        "age": {"type": "integer"},
        "content-type": {"type": "string"},
        "plan": {"enum": ["a", "b"]},
        "city": {"type": "string", "enum": [*"abcdef"]},
    },
}


def test_compact_results_group_fields_by_type_and_define_an_envelope_once() -> None:
    graph = Graph.of({"Client": CLIENT, "Page": PAGE, "Other": {**PAGE, "title": "Other"}})
    shapes = Shapes(compact=True)
    assert [shapes.text(Schema({"$ref": f"#/{name}"}, graph)) for name in ("Page", "Other")] == ["Page[Client]"] * 2
    assert shapes.define(200) == (
        [
            "# Page[X] = {items: list[X]; total: int; next: str | None}",
            '# Client = {id, age: int; name, "content-type", city: str; plan: Literal["a", "b"]}',
        ],
        [],
    )


def test_a_compact_definition_counts_the_fields_that_it_leaves_out() -> None:
    fields = {f"field_number_{number}": {"type": "integer"} for number in range(20)}
    shapes = Shapes(compact=True)
    shapes.text(Schema.of({"title": "Large", "properties": fields}))
    (line,), _ = shapes.define(70)
    assert line.startswith("# Large = {field_number_0, field_number_1, ")
    assert line.endswith(": int; … 10 more}")


def test_a_name_that_did_not_fit_is_defined_when_it_is_used_again() -> None:
    graph = Graph.of({"Client": CLIENT})
    shapes = Shapes(compact=True)
    shapes.text(Schema({"$ref": "#/Client"}, graph))
    assert shapes.define(5) == ([], ["Client"])
    assert shapes.text(Schema({"$ref": "#/Client"}, graph)) == "Client"
    assert shapes.define(200)[0][0].startswith("# Client = {")


def test_what_a_copy_names_is_unknown_until_it_is_adopted() -> None:
    graph = Graph.of({"Client": CLIENT})
    shapes = Shapes(compact=True)
    copy = shapes.copy()
    copy.text(Schema({"$ref": "#/Client"}, graph))
    assert shapes.define(200) == ([], [])
    shapes.adopt(copy)
    assert len(shapes.define(200)[0]) == 1


def deal(**fields: Any) -> dict[str, Any]:
    return {"title": "Deal", "type": "object", "properties": {name: {"type": "string"} for name in "abcde"} | fields}


@pytest.mark.parametrize("compact", [True, False])
def test_equal_shapes_are_printed_once(compact: bool) -> None:
    shapes = Shapes(compact=compact)
    owner = {"title": "Owner", "type": "object", "properties": {name: {"type": "string"} for name in "vwxyz"}}
    copies = [Schema.of({"type": "array", "items": deal(owner=dict(owner))}) for _ in range(2)]
    other = Schema.of({**deal(owner=dict(owner)), "title": "Offer"})
    assert [shapes.text(one) for one in (*copies, other)] == ["list[Deal]", "list[Deal]", "Offer"]
    lines, left = shapes.define(1_000)
    assert left == []
    assert [line.lstrip("# ") for line in lines if " = Deal" in line] == ["Offer = Deal"]
    assert sum("Deal = {" in line for line in lines) == 1
    assert sum("Owner = {" in line for line in lines) == 1


def test_shapes_that_differ_have_names_of_their_own() -> None:
    shapes = Shapes(compact=True)
    assert shapes.text(Schema.of(deal())) == "Deal"
    assert shapes.text(Schema.of(deal(more={"type": "integer"}))) == "Deal2"
    assert [line.partition(" = ")[0] for line in shapes.define(1_000)[0]] == ["# Deal", "# Deal2"]


def test_a_shape_that_is_cut_keeps_what_a_program_needs_most() -> None:
    first = {f"setting_number_{number}": {"type": "boolean"} for number in range(60)}
    needed = {
        name: {"type": "string"}
        for name in ("orderId", "customer_name", "status", "total_amount", "created_at", "due_date")
    }
    schema = Schema.of(
        {"title": "Order", "type": "object", "properties": {**first, "warehouse": {"type": "string"}, **needed}}
    )
    shapes = Shapes(compact=True, wanted=lambda field: field == "warehouse")
    shapes.text(schema)
    (line,), _ = shapes.define(90)
    assert all(name in line for name in (*needed, "warehouse")), line
    assert "setting_number_59" not in line
    assert "more}" in line
