"""Paging that a document declares in an extension."""

from __future__ import annotations

from typing import Any

import pytest

from codemode.catalog.next_page import Following, items_of, next_page
from codemode.catalog.paging import paging_of
from codemode.catalog.tool import Paging, Tool
from codemode.sources.openapi.document import load_openapi


def _tool(names: dict[str, dict[str, Any]], **extension: Any) -> Tool:
    parameters = [{"name": name, "in": "query", "schema": schema} for name, schema in names.items()]
    responses = {"200": {"content": {"application/json": {"schema": {"type": "object"}}}}}
    operation = {"operationId": "listThings", "parameters": parameters, "responses": responses, **extension}
    document = {"openapi": "3.1.0", "paths": {"/things": {"get": operation}}}
    return load_openapi(document, name="api").tools[0]


NUMBER, TEXT = {"type": "integer"}, {"type": "string"}

SPEAKEASY = {
    "type": "cursor",
    "inputs": [{"name": "since", "in": "parameters", "type": "cursor"}, {"name": "n", "type": "limit"}],
    "outputs": {"nextCursor": "$.info.resume", "results": "$.rows"},
}


@pytest.mark.parametrize("name", ["x-speakeasy-pagination", "x-pagination"])
def test_speakeasys_words_are_read(name: str) -> None:
    tool = _tool({"since": TEXT, "n": {**NUMBER, "default": 5}}, **{name: SPEAKEASY})
    paging = paging_of(tool)
    assert paging == Paging("rows", cursor="since", size="n", size_default=5, next="info.resume")
    value = {"rows": [1], "others": [2], "info": {"resume": "abc"}}
    assert (items_of(paging, value), next_page(tool, paging, {}, value).arguments) == ([1], {"since": "abc"})
    assert next_page(tool, paging, {"since": "abc"}, {"rows": [2], "info": {"resume": None}}) == Following(None)


def test_speakeasys_pages_are_counted() -> None:
    inputs = [{"name": "nr", "in": "parameters", "type": "page"}]
    extension = {"type": "offsetLimit", "inputs": inputs, "outputs": {"results": "$.rows"}}
    tool = _tool({"nr": {**NUMBER, "default": 0}}, **{"x-speakeasy-pagination": extension})
    paging = paging_of(tool)
    assert paging == Paging("rows", page="nr", start=0)
    assert next_page(tool, paging, {}, {"rows": [1]}) == Following({"nr": 1}, is_counted=True)


def test_ferns_words_are_read() -> None:
    extension = {"cursor": "$request.since", "next_cursor": "$response.info.resume", "results": "$response.rows"}
    assert paging_of(_tool({"since": TEXT}, **{"x-fern-pagination": extension})) == Paging(
        "rows", cursor="since", next="info.resume"
    )


def test_azures_words_are_read() -> None:
    tool = _tool({}, **{"x-ms-pageable": {"nextLinkName": "more", "itemName": "things"}})
    paging = paging_of(tool)
    assert paging == Paging("things", next="more")
    value = {"things": [1], "more": "https://x.test/things?%24skipToken=a"}
    assert next_page(tool, paging, {}, value) == Following({}, "%24skipToken=a")


@pytest.mark.parametrize(
    "extension", [True, {}, {"cursor": "absent"}, {"inputs": [1], "outputs": 2}, {"limit": "page"}]
)
def test_an_extension_that_does_not_fit_leaves_the_names_to_decide(extension: Any) -> None:
    tool = _tool({"page": {**NUMBER, "default": 1}}, **{"x-pagination": extension})
    assert paging_of(tool) == Paging("*", page="page", start=1)


def test_a_declared_position_may_be_in_any_object() -> None:
    filters = {"type": "object", "properties": {"p": {**NUMBER, "default": 0}}}
    tool = _tool({"filter": filters}, **{"x-pagination": {"page": "$request.filter.p"}})
    paging = paging_of(tool)
    assert paging == Paging("*", page="filter.p", start=0)
    arguments = {"filter": {"q": "a"}}
    assert next_page(tool, paging, arguments, {"items": [1]}).arguments == {"filter": {"q": "a", "p": 1}}
    assert arguments == {"filter": {"q": "a"}}
