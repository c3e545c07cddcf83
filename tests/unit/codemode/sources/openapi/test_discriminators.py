"""A parent with a discriminator means any of its children."""

from __future__ import annotations

from typing import Any

import pytest

from codemode.catalog import stubs
from codemode.catalog.validation import fits
from codemode.sources.openapi.discriminators import with_children
from codemode.sources.openapi.document import load_openapi

_NAMED = {
    "type": "object",
    "required": ["kind"],
    "properties": {"kind": {"type": "string"}, "label": {"type": "string"}},
}


def _child(parent: str, field: str) -> dict[str, Any]:
    own = {"type": "object", "required": [field], "properties": {field: {"type": "number"}}}
    return {"allOf": [{"$ref": f"#/components/schemas/{parent}"}, own]}


def _document(discriminator: dict[str, Any], **more: Any) -> dict[str, Any]:
    shape = {**_NAMED, "discriminator": discriminator}
    schemas = {"Shape": shape, "Circle": _child("Shape", "radius"), "Box": _child("Shape", "width"), **more}
    body = {"required": True, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Shape"}}}}
    return {
        "openapi": "3.0.3",
        "paths": {"/shapes": {"post": {"operationId": "addShape", "requestBody": body}}},
        "components": {"schemas": schemas},
    }


_MAPPING = {"circle": "#/components/schemas/Circle", "box": "#/components/schemas/Box"}


def test_the_fields_of_all_children_are_arguments() -> None:
    document = with_children(_document({"propertyName": "kind", "mapping": _MAPPING}))
    (tool,) = load_openapi(document, name="api").tools
    assert {p.name: p.required for p in tool.parameters} == {
        "kind": True, "radius": False, "label": False, "width": False,
    }  # fmt: skip
    assert "One of: circle, box." in stubs.full(tool)


@pytest.mark.parametrize(("mapping", "is_valid"), [(None, True), (_MAPPING, False)])
def test_a_parent_itself_is_valid_unless_the_mapping_leaves_it_out(mapping: Any, is_valid: bool) -> None:
    document = with_children(_document({"propertyName": "kind", **({"mapping": mapping} if mapping else {})}))
    (tool,) = load_openapi(document, name="api").tools
    assert tool.details.body is not None
    assert fits(tool.details.body, {"kind": "circle", "radius": 2})
    assert fits(tool.details.body, {"kind": "circle"}) is is_valid


def test_children_of_children_are_reached_through_their_parent() -> None:
    circle = {**_child("Shape", "radius"), "discriminator": {"propertyName": "kind"}}
    document = with_children(_document({"propertyName": "kind"}, Circle=circle, Ring=_child("Circle", "hole")))
    (tool,) = load_openapi(document, name="api").tools
    assert "hole" in tool.details.parameters[0].schema.graph.follow("#/components/schemas/Ring", "").properties()  # type: ignore[union-attr]
    assert tool.details.body is not None
    assert fits(tool.details.body, {"kind": "ring", "radius": 1, "hole": 2})


def test_swagger_2_0_names_the_property_alone() -> None:
    pet = {**_NAMED, "discriminator": "kind"}
    cat = {"allOf": [{"$ref": "#/definitions/Pet"}, {"properties": {"lives": {"type": "integer"}}}]}
    document = with_children({"swagger": "2.0", "paths": {}, "definitions": {"Pet": pet, "Cat": cat}})
    assert document["definitions"]["Pet"]["oneOf"] == [{"$ref": "#/definitions/Cat"}, {"$ref": "#/definitions/PetBase"}]
    assert document["definitions"]["Cat"]["allOf"][0] == {"$ref": "#/definitions/PetBase"}


@pytest.mark.parametrize(
    "schemas",
    [
        {"A": {"discriminator": {"propertyName": "k"}}},
        {"A": {"discriminator": {"propertyName": "k"}, "oneOf": [{"$ref": "#/components/schemas/B"}]}, "B": {}},
        {"A": "text", "B": {"allOf": "text"}, "C": {"allOf": [{"$ref": 3}, None]}},
        [],
    ],
)
def test_a_document_without_such_parents_is_unchanged(schemas: Any) -> None:
    document = {"openapi": "3.0.3", "components": {"schemas": schemas}}
    assert with_children(document) is document
