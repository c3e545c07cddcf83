"""Schemas where they stand: references are followed, never inlined, and nothing wrong with one breaks another."""

from __future__ import annotations

from typing import Any

import pytest

from codemode.catalog.schema import Dialect, Graph, Schema, walk

DOCUMENT: dict[str, Any] = {
    "components": {
        "schemas": {
            "Node": {
                "type": "object",
                "required": ["value"],
                "properties": {"value": {"type": "integer"}, "next": {"$ref": "#/components/schemas/Node"}},
            },
            "Loop": {"$ref": "#/components/schemas/Loop"},
            "Chain": {"$ref": "#/components/schemas/Node"},
            "a/b": {"type": "string"},
            "Both": {
                "allOf": [
                    {"$ref": "#/components/schemas/Node"},
                    {"type": "object", "required": ["extra"], "properties": {"extra": {"type": "boolean"}}},
                ]
            },
            "Anchored": {"$anchor": "here", "type": "number"},
        }
    }
}


def _at(pointer: str, dialect: Dialect = Dialect.OPENAPI_3_1) -> Schema:
    graph = Graph.of(DOCUMENT, dialect=dialect)
    return Schema({"$ref": pointer}, graph)


def test_a_reference_leads_to_the_value_itself() -> None:
    schema = _at("#/components/schemas/Chain").resolved()
    assert schema.value is DOCUMENT["components"]["schemas"]["Node"]
    assert schema.name == "Node"


def test_a_pointer_may_hold_an_escaped_slash() -> None:
    assert _at("#/components/schemas/a~1b").resolved().types() == ("string",)


def test_an_anchor_is_found() -> None:
    assert _at("#here").resolved().types() == ("number",)


def test_a_reference_to_nothing_or_to_itself_allows_everything() -> None:
    for pointer in ("#/components/schemas/Missing", "#/components/schemas/Loop", "#/components/schemas/Node/type/x"):
        assert _at(pointer).resolved().value is True


def test_the_members_of_all_of_hold_together() -> None:
    both = _at("#/components/schemas/Both").resolved()
    assert list(both.properties()) == ["value", "next", "extra"]
    assert both.required() == {"value", "extra"}
    assert both.types() == ("object",)


def test_siblings_of_a_reference_count_from_3_1_on_only() -> None:
    value = {"$ref": "#/components/schemas/Node", "required": ["next"]}
    new = Schema(value, Graph.of(DOCUMENT, dialect=Dialect.OPENAPI_3_1))
    old = Schema(value, Graph.of(DOCUMENT, dialect=Dialect.OPENAPI_3_0))
    assert new.required() == {"next", "value"}
    assert old.required() == {"value"}


def test_null_is_allowed_in_every_way_of_saying_so() -> None:
    for value in (
        {"type": "string", "nullable": True},
        {"type": ["string", "null"]},
        {"anyOf": [{"type": "string"}, {"type": "null"}]},
        {"enum": ["a", None]},
    ):
        assert Schema.of(value).is_nullable(), value
    assert not Schema.of({"type": "string"}).is_nullable()


def test_a_recursive_reference_means_the_schema_with_the_recursive_anchor() -> None:
    inner = {"$recursiveRef": "#"}
    document = {"Filter": {"$recursiveAnchor": True, "properties": {"filters": {"items": inner}}}}
    schema = Schema(inner, Graph.of(document, dialect=Dialect.OPENAPI_3_1))
    assert schema.resolved().value is document["Filter"]


def test_types_are_derived_where_they_are_not_named() -> None:
    assert Schema.of({"properties": {}}).types() == ("object",)
    assert Schema.of({"items": {}}).types() == ("array",)
    assert Schema.of({"description": "x"}).types() == ()


def test_walking_ends_on_a_value_that_holds_itself() -> None:
    value: dict[str, Any] = {"a": {}}
    value["a"]["b"] = value
    assert len(list(walk(value))) == 2


@pytest.mark.parametrize("reference", ["http://[::1", "//[", "http://a]b/#/x"])
def test_a_reference_that_is_no_url_points_to_nothing(reference: str) -> None:
    graph = Graph.of({})
    assert graph.follow(reference, "") is None
    assert ("", reference) in graph.dangling
