"""The fields that are kept of results."""

from __future__ import annotations

from typing import Any

import pytest

from codemode.catalog import stubs
from codemode.catalog.field_selection import FieldSelection
from codemode.catalog.narrowed import narrowed_details
from codemode.catalog.paging import paging_of
from codemode.catalog.schema import Schema
from codemode.catalog.tool import Effect, Location, Parameter, Tool

ADA = {"id": 1, "name": "Ada", "phone": "+49", "owner": {"id": 9, "mail": "a@b.c"}}


@pytest.mark.parametrize(
    ("paths", "value", "kept"),
    [
        (("id", "name"), ADA, {"id": 1, "name": "Ada"}),
        (("owner.id",), ADA, {"owner": {"id": 9}}),
        (("owner.id", "owner"), ADA, {"owner": {"id": 9, "mail": "a@b.c"}}),
        (("[].id",), [ADA, {"name": "Bo"}], [{"id": 1}, {}]),
        (("items[].id", "id"), {"items": [ADA], "more": 1}, {"items": [{"id": 1}]}),
        (("cells[][].v",), {"cells": [[{"v": 1, "w": 2}]]}, {"cells": [[{"v": 1}]]}),
        (("id",), {"error": "other"}, {"error": "other"}),
        (("id",), [ADA], [ADA]),
        (("id",), "text", "text"),
        (("name.id",), ADA, {"name": "Ada"}),
    ],
)
def test_paths_select_fields_and_a_result_with_none_of_them_stays_whole(
    paths: tuple[str, ...], value: Any, kept: Any
) -> None:
    assert FieldSelection(paths).narrowed(value, is_page=False) == kept


def test_a_page_keeps_its_own_fields_and_its_items_are_narrowed_once() -> None:
    page = {"items": [ADA], "total": 7, "next": "c2"}
    value, items = FieldSelection(("items[].id",)).narrowed_page(page, page["items"])  # type: ignore[arg-type]
    assert value == {"items": [{"id": 1}], "total": 7, "next": "c2"}
    assert items == [{"id": 1}]
    assert FieldSelection(("id",)).narrowed(page, is_page=True) == page


def test_items_within_edges_are_narrowed() -> None:
    page = {"edges": [{"cursor": "a", "node": ADA}], "pageInfo": {}}
    _, items = FieldSelection(("edges[].node.id",)).narrowed_page(page, [ADA])
    assert items == [{"id": 1}]


CLIENT = {
    "type": "object",
    "required": ["id", "phone"],
    "properties": {
        "id": {"type": "integer"},
        "phone": {"type": "string"},
        "owner": {"type": ["object", "null"], "properties": {"id": {"type": "integer"}, "mail": {"type": "string"}}},
    },
}
PAGE = {
    "$defs": {"Client": CLIENT},
    "type": "object",
    "properties": {"items": {"type": "array", "items": {"$ref": "#/$defs/Client"}}, "total": {"type": "integer"}},
}


def _narrowed(returns: dict[str, Any], *paths: str, parameters: tuple[Parameter, ...] = ()) -> Tool:
    tool = Tool(
        "gym.get", source="gym", effect=Effect.READ, returns=Schema.of(returns), parameters=parameters, summary="Get"
    )
    selection = FieldSelection(paths)
    return tool.changed(selection=selection, details=lambda: narrowed_details(tool, selection))


def test_the_signature_shows_the_kept_fields() -> None:
    text = stubs.stub(_narrowed(CLIENT, "id", "owner.id"))
    assert '{"id": int} | None' in text
    assert "phone" not in text
    assert "phone" in stubs.stub(_narrowed(CLIENT, "total"))  # none of its fields is selected


def test_a_page_stays_a_page_and_its_schema_behind_a_reference_is_narrowed() -> None:
    number = Parameter("page", "page", Location.QUERY, required=False, schema=Schema.of({"type": "integer"}))
    tool = _narrowed(PAGE, "items[].id", parameters=(number,))
    text = stubs.stub(tool)
    assert "total" in text
    assert 'list[{"id": int}]' in text
    assert "phone" not in text
    paging = paging_of(tool)
    assert paging is not None
    assert paging.items == "items"


def test_paths_are_compared_with_the_declared_fields() -> None:
    selection = FieldSelection(("items[].id", "items[].nmae", "total", "id"))
    assert selection.paths_in(Schema.of(PAGE)) == {"items[].id", "total"}
