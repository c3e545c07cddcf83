"""Pages as real APIs have them."""

from __future__ import annotations

from typing import Any

import pytest

from codemode.catalog.paging import items_of, next_arguments, paging_of
from codemode.catalog.schema import Schema
from codemode.catalog.tool import Location, Parameter, Tool


def _tool(parameters: dict[str, Any], returns: dict[str, Any] | None) -> Tool:
    made = tuple(
        Parameter(name.replace("$", ""), name, Location.QUERY, required=False, schema=Schema.of(schema))
        for name, schema in parameters.items()
    )
    return Tool("a.b.list", source="a", parameters=made, returns=None if returns is None else Schema.of(returns))


INT = {"type": "integer"}
TEXT = {"type": "string"}
LIST = {"type": "array", "items": {"type": "object"}}


def _object(**fields: Any) -> dict[str, Any]:
    return {"type": "object", "properties": fields}


GITHUB = _tool({"per_page": {**INT, "default": 30}, "page": {**INT, "default": 1}, "q": TEXT}, LIST)
STRIPE = _tool({"limit": INT, "starting_after": TEXT}, _object(data=LIST, has_more={"type": "boolean"}))
SLACK = _tool({"cursor": TEXT, "limit": INT}, _object(ok={}, members=LIST, response_metadata={"type": "object"}))
OFFSET = _tool({"offset": INT, "limit": INT}, _object(items=LIST, total=INT))
GRAPH = _tool({"$top": INT, "$skip": INT}, _object(value=LIST, **{"@odata.nextLink": TEXT}))
KUBERNETES = _tool({"continue": TEXT, "limit": INT}, _object(items=LIST, metadata={"type": "object"}))


@pytest.mark.parametrize(
    ("tool", "kind", "items"),
    [
        (GITHUB, "page", ""),
        (STRIPE, "after", "data"),
        (SLACK, "cursor", "members"),
        (OFFSET, "offset", "items"),
        (GRAPH, "offset", "value"),
        (KUBERNETES, "cursor", "items"),
    ],
)
def test_a_paged_tool_is_recognised(tool: Tool, kind: str, items: str) -> None:
    paging = paging_of(tool)
    assert paging is not None
    assert (paging.kind, paging.items) == (kind, items)


@pytest.mark.parametrize(
    ("parameters", "returns"),
    [
        ({"page": INT}, {"type": "string"}),
        ({"page": INT}, _object(a=LIST, b=LIST)),
        ({"q": TEXT}, LIST),
        ({"page": {"type": "object"}}, LIST),
    ],
)
def test_a_tool_without_pages_is_not(parameters: dict[str, Any], returns: dict[str, Any] | None) -> None:
    assert paging_of(_tool(parameters, returns)) is None


FULL = [{"id": f"i{n}"} for n in range(30)]


@pytest.mark.parametrize(
    ("tool", "arguments", "value", "link", "expected"),
    [
        (GITHUB, {"q": "x"}, FULL, "", {"q": "x", "page": 2}),
        (GITHUB, {"q": "x", "page": 2}, FULL, "", {"q": "x", "page": 3}),
        (GITHUB, {"q": "x", "page": 3}, FULL[:7], "", None),
        (GITHUB, {}, [], "", None),
        (GITHUB, {}, FULL[:3], '<https://evil.test/x?page=2&per_page=30&admin=1>; rel="next", <https://x/>; rel="last"',
         {"page": 2, "per_page": 30}),
        (GITHUB, {"page": 9}, FULL, '<https://x.test/?page=1>; rel="first", <https://x/?page=8>; rel="prev"', None),
        (STRIPE, {"limit": 2}, {"data": FULL[:2], "has_more": True}, "", {"limit": 2, "starting_after": "i1"}),
        (STRIPE, {}, {"data": FULL[:2], "has_more": False}, "", None),
        (SLACK, {}, {"members": FULL, "response_metadata": {"next_cursor": "abc="}}, "", {"cursor": "abc="}),
        (SLACK, {"cursor": "abc="}, {"members": FULL, "response_metadata": {"next_cursor": ""}}, "", None),
        (SLACK, {"cursor": "abc="}, {"members": FULL, "response_metadata": {"next_cursor": "abc="}}, "", None),
        (OFFSET, {"limit": 10}, {"items": FULL[:10], "total": 25}, "", {"limit": 10, "offset": 10}),
        (OFFSET, {"limit": 10, "offset": 20}, {"items": FULL[:5], "total": 25}, "", None),
        (GRAPH, {"top": 30}, {"value": FULL, "@odata.nextLink": "https://g.test/users?$top=30&$skip=30"}, "",
         {"top": 30, "skip": 30}),
        (GRAPH, {"top": 30}, {"value": FULL, "@odata.nextLink": None}, "", None),
        (KUBERNETES, {}, {"items": FULL, "metadata": {"continue": "tok"}}, "", {"continue": "tok"}),
        (KUBERNETES, {}, {"items": FULL, "metadata": {}}, "", None),
    ],
)  # fmt: skip
def test_the_next_page(tool: Tool, arguments: dict[str, Any], value: Any, link: str, expected: Any) -> None:
    paging = paging_of(tool)
    assert paging is not None
    assert next_arguments(tool, paging, arguments, value, link) == expected


def test_a_result_that_is_not_documented_shows_its_list_itself() -> None:
    paging = paging_of(_tool({"start_cursor": TEXT}, None))
    assert paging is not None
    assert items_of(paging, {"object": "list", "results": [1], "other": [2]}) == [1]
    assert items_of(paging, {"blocks": [1]}) == items_of(paging, [1]) == [1]
    assert items_of(paging, {"a": [1], "b": [2]}) == []


def test_items_are_found_or_none() -> None:
    paging = paging_of(SLACK)
    assert paging is not None
    assert items_of(paging, {"members": [1]}) == [1]
    assert items_of(paging, {"members": None}) == items_of(paging, "x") == []


def test_a_link_without_end_holds_nobody_up() -> None:
    paging = paging_of(GITHUB)
    assert paging is not None
    link = "<" * 90_000 + '<https://x.test/?page=7>; rel="next"'
    assert next_arguments(GITHUB, paging, {}, FULL, link) == {"page": 7}
