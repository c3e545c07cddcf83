"""Pages as real APIs have them."""

from __future__ import annotations

from typing import Any

import pytest

from codemode.catalog.next_page import Following, items_of, next_page
from codemode.catalog.page_answer import total_of
from codemode.catalog.paging import paging_of, walked
from codemode.catalog.schema import Schema
from codemode.catalog.tool import Effect, Location, Paging, Parameter, Tool


def _tool(parameters: dict[str, Any], returns: dict[str, Any] | None, key: str = "") -> Tool:
    made = tuple(
        Parameter(name.replace("$", ""), name, Location.QUERY, required=False, schema=Schema.of(schema))
        for name, schema in parameters.items()
    )
    return Tool(
        "a.b.list",
        source="a",
        effect=Effect.READ,
        parameters=made,
        returns=None if returns is None else Schema.of(returns),
        key=key,
    )


INT = {"type": "integer"}
TEXT = {"type": "string"}
LIST = {"type": "array", "items": {"type": "object"}}
STRINGS = {"type": "array", "items": TEXT}
USERS = {"type": "array", "items": {"type": "object", "properties": {"id": INT}}}


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
        ({"start": INT, "end": INT}, LIST),
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
        (GITHUB, {"q": "x", "page": 3}, FULL[:7], "", {"q": "x", "page": 4}),
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
        (OFFSET, {"limit": 10, "offset": 20}, {"items": [], "total": 25}, "", None),
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
    assert next_page(tool, paging, arguments, value, {"link": link}).arguments == expected


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
    assert next_page(GITHUB, paging, {}, FULL, {"link": link}).arguments == {"page": 7}


@pytest.mark.parametrize(
    ("returns", "value"),
    [
        (LIST, {"data": [1]}),
        (_object(items=LIST), [1]),
        (_object(items=LIST), {"result": {"items": [1], "errors": []}}),
        (_object(errors=LIST, orders=LIST), {"orders": [1], "errors": []}),
        (None, {"_embedded": {"things": [1]}, "page": {"number": 0}}),
        (None, {"code": 0, "data": {"list": [1], "total": 1}}),
        (_object(id=INT), [1]),
    ],
)
def test_the_list_of_an_answer_is_where_the_answer_has_it(returns: Any, value: Any) -> None:
    paging = paging_of(_tool({"page": INT}, returns))
    assert paging is not None
    assert items_of(paging, value) == [1]


def test_an_answer_whose_list_is_not_recognised_says_so() -> None:
    tool = _tool({"page": INT}, None)
    paging = paging_of(tool)
    assert paging is not None
    assert "no list that is recognised" in next_page(tool, paging, {}, {"a": [1], "b": [2]}).note


@pytest.mark.parametrize(
    ("parameter", "start", "asked"),
    [
        ({**INT, "default": 0}, 0, {"page": 1}),
        ({**INT, "minimum": 0}, 0, {"page": 1}),
        ({**INT, "minimum": 1}, 1, {"page": 2}),
        ({**INT, "description": "Zero-based page index (0..N)"}, 0, {"page": 1}),
        (INT, None, {"page": 1}),  # the first page once more, or the second
    ],
)
def test_pages_are_counted_from_where_the_document_starts(
    parameter: dict[str, Any], start: int | None, asked: dict[str, Any]
) -> None:
    tool = _tool({"page": parameter}, LIST)
    paging = paging_of(tool)
    assert paging is not None
    assert (paging.start, next_page(tool, paging, {}, FULL)) == (start, Following(asked, is_counted=True))


def test_the_number_that_an_answer_states_is_before_that_of_the_document() -> None:
    tool = _tool({"page": {**INT, "default": 1}}, _object(content=LIST))
    paging = paging_of(tool)
    assert paging is not None
    assert next_page(tool, paging, {}, {"content": FULL, "number": 0}).arguments == {"page": 1}


def test_a_list_without_parameters_is_walked_by_what_its_answers_say() -> None:
    tool = _tool({"q": TEXT}, LIST)
    paging = walked(tool)
    assert paging is not None
    assert paging_of(tool) is None
    link = '<https://x.test/things?q=a&skiptoken=b%20c>; rel="next"'
    assert next_page(tool, paging, {"q": "a"}, FULL, {"link": link}) == Following({"q": "a"}, "q=a&skiptoken=b%20c")
    assert walked(_tool({}, {"type": "string"})) is None
    assert walked(_tool({}, _object(id=INT))) is None


def test_a_next_page_with_another_path_is_not_followed() -> None:
    paging = walked(GITHUB)
    assert paging is not None
    following = next_page(GITHUB, paging, {}, {"next": "https://x.test/things/page/2", "data": FULL})
    assert following == Following(None, note="the next page has another path, which is not followed")


@pytest.mark.parametrize(
    ("value", "headers", "total"),
    [
        ({"data": [1], "meta": {"totalCount": 9}}, {}, 9),
        ({"data": [1], "total": 9, "count": 1}, {}, 9),
        ({"data": [1], "count": 1}, {}, None),  # may be the count of the page
        ({"data": [1], "count": 9}, {}, 9),
        ([1], {"x-total-count": "9"}, 9),
        ([1], {"x-total-count": "many"}, None),
        ({"data": [1], "total": True}, {}, None),
    ],
)
def test_the_total_of_a_list_is_read(value: Any, headers: dict[str, str], total: int | None) -> None:
    assert total_of(value, headers) == total


def test_a_function_without_pages_is_not_walked() -> None:
    argument = Parameter("q", "q", Location.ARGUMENT, required=False, schema=Schema.of(TEXT))
    assert walked(Tool("a.b.list", source="a", effect=Effect.READ, parameters=(argument,))) is None


NUMBERED = {"type": "object", "properties": {"number": INT, "size": INT}}
CURSORS = {"type": "object", "properties": {"cursor": TEXT, "per_page": {**INT, "default": 50}}}


@pytest.mark.parametrize(
    ("parameters", "returns", "expected"),
    [
        ({"page": NUMBERED}, LIST, Paging("", page="page.number", size="page.size")),
        (
            {"pagination": CURSORS},
            _object(data=LIST),
            Paging("data", cursor="pagination.cursor", size="pagination.per_page", size_default=50),
        ),
        ({"cursor": INT}, _object(merchants=LIST), Paging("merchants", cursor="cursor")),
        ({"after": INT, "page_size": INT}, _object(data=LIST), Paging("data", after="after", size="page_size")),
        ({"scroll_param": TEXT}, _object(data=LIST), Paging("data", cursor="scroll_param")),
        ({"count": TEXT, "page": TEXT}, _object(files=LIST), Paging("files", page="page", size="count")),
        ({"token": TEXT, "count": TEXT, "page": TEXT}, LIST, Paging("", page="page", size="count")),
        ({"max_id": TEXT}, LIST, Paging("")),
        ({}, _object(data=LIST, pages=_object(next={"type": "object"})), Paging("data")),
        ({}, _object(records=LIST, nextRecordsUrl=TEXT), Paging("records")),
        ({"from": INT, "size": INT}, _object(hits=_object(hits=LIST)), Paging("hits.hits", offset="from", size="size")),
        ({"page": INT}, _object(tags=STRINGS, users=USERS), Paging("users", page="page")),
        ({"page": INT}, _object(b=USERS, others=USERS), Paging("b", page="page")),
    ],
)
def test_positions_and_lists_are_recognised(parameters: Any, returns: Any, expected: Paging) -> None:
    assert paging_of(_tool(parameters, returns)) == expected


@pytest.mark.parametrize(
    ("parameters", "returns"),
    [
        ({"after": {**TEXT, "format": "date-time"}}, LIST),
        ({"after": {**INT, "description": "Unix time"}}, LIST),
        ({"from": TEXT, "size": INT}, LIST),
        ({"page": TEXT}, LIST),
        ({"page": NUMBERED}, {"type": "string"}),
    ],
)
def test_times_and_names_are_no_positions(parameters: Any, returns: Any) -> None:
    assert paging_of(_tool(parameters, returns)) is None


CURSOR = _tool({"cursor": TEXT, "limit": INT}, _object(items=LIST))


@pytest.mark.parametrize(
    ("tool", "value", "note"),
    [
        (CURSOR, {"items": FULL[:20]}, "the answer has 20 items and does not say whether more exist"),
        (CURSOR, {"items": [1], "cursorForMore": "x"}, "the answer has cursor_for_more, and nothing that is known"),
        (CURSOR, {"items": [1], "nextCursor": "", "has_more": True}, "the answer has has_more: true, but no cursor"),
        (CURSOR, {"items": FULL[:20], "total": 20}, ""),
        (CURSOR, {"items": FULL[:7]}, ""),
        (STRIPE, {"data": [1], "has_more": True}, "the answer has has_more: true, and nothing that leads"),
        (_tool({}, LIST), {"data": [1], "next": "http://[::1"}, "the URL of the next page is invalid"),
        (_tool({}, LIST), {"data": [1], "next": "https://x.test/"}, "the next page has another path, which is not"),
    ],
)
def test_a_list_that_is_not_proved_complete_has_a_note(tool: Tool, value: Any, note: str) -> None:
    paging = walked(tool)
    assert paging is not None
    following = next_page(tool, paging, {}, value)
    assert following.arguments is None
    assert following.note.startswith(note)
    assert bool(following.note) == bool(note)


def test_a_text_that_a_field_called_next_holds_is_a_cursor() -> None:
    paging = walked(CURSOR)
    assert paging is not None
    assert next_page(CURSOR, paging, {}, {"items": [1], "nextPosition": "x"}).arguments == {"cursor": "x"}


def test_a_number_is_sent_in_the_type_of_its_parameter() -> None:
    tool = _tool({"count": TEXT, "page": TEXT}, _object(files=LIST))
    paging = paging_of(tool)
    assert paging is not None
    assert next_page(tool, paging, {"page": "2"}, {"files": [1]}).arguments == {"page": "3"}


def test_pages_of_an_answer_without_a_known_list_go_on() -> None:
    paging = walked(CURSOR)
    assert paging is not None
    following = next_page(CURSOR, paging, {}, {"a": [1], "b": [2], "next_cursor": "x"})
    assert following.arguments == {"cursor": "x"}
    assert following.note.startswith("the answer has no list that is recognised")


@pytest.mark.parametrize(
    ("key", "url"),
    [("GET /things", "/other-things/x"), ("POST /things", "/things/x"), ("GET /things", "/things/..")],
)
def test_the_path_of_another_operation_is_no_page(key: str, url: str) -> None:
    tool = _tool({}, LIST, key)
    paging = walked(tool)
    assert paging is not None
    assert next_page(tool, paging, {}, {"data": [1], "next": url}).arguments is None


def test_a_path_below_that_of_the_list_is_a_page() -> None:
    tool = _tool({}, LIST, "GET /things")
    paging = walked(tool)
    assert paging is not None
    assert next_page(tool, paging, {}, {"data": [1], "next": "https://x.test/v1/things/b?c=d"}).query == "/b?c=d"


@pytest.mark.parametrize(
    ("path", "key", "is_paged"),
    [
        ("invoices.search_invoices", "POST /invoices/search", True),
        ("invoices.create_search", "POST /invoices/search", True),
        ("transactions.sync", "POST /transactions/sync", True),
        ("transactions.filter_all", "", True),
        ("invoices.create_invoices", "POST /invoices", False),
        ("invoices.update_or_create", "POST /invoices", False),
        ("invoices.search_invoices", "PUT /invoices/search", False),
        ("invoices.upload", "POST /invoices", False),
    ],
)
def test_what_changes_something_is_not_repeated_for_each_page(path: str, key: str, is_paged: bool) -> None:
    pagination = Parameter("pagination", "pagination", Location.BODY_FIELD, required=False, schema=Schema.of(CURSORS))
    tool = Tool(
        f"a.{path}", source="a", effect=Effect.WRITE, parameters=(pagination,), returns=Schema.of(LIST), key=key
    )
    assert (paging_of(tool) is not None) == is_paged
