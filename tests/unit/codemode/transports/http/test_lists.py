"""Every form of docs/reference/lists.md, against a small service of its own."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from codemode.catalog.catalog import Catalog
from codemode.executions.run.paging import collect, whole_list
from codemode.sources.openapi.document import load_openapi
from codemode.transports.base import CallContext
from codemode.transports.http.transport import HttpTransport, Reach
from tests.unit.codemode.transports.recorder import Answered

if TYPE_CHECKING:
    from collections.abc import Callable

    from codemode.transports.base import Page
    from tests.unit.codemode.transports.recorder import Received, Recorder

TOTAL, SIZE = 25, 10
NUMBER, TEXT = {"type": "integer"}, {"type": "string"}

Query = dict[str, str]


@dataclass(frozen=True)
class Service:
    """A list of 25 numbers. `answer` returns the value and the headers for a query, or for a body.

    The query holds the last segment of the path as `segment`.
    """

    answer: Callable[[Query], tuple[Any, dict[str, str]]]
    parameters: dict[str, Any] = field(default_factory=dict)
    arguments: dict[str, Any] = field(default_factory=dict)
    schema: dict[str, Any] = field(default_factory=dict)
    method: str = "get"
    path: str = "/things"
    in_path: tuple[str, ...] = ()


def items(start: int, size: int = SIZE) -> list[dict[str, Any]]:
    return [{"id": number} for number in range(start, min(start + size, TOTAL))]


def after(query: Query, name: str = "at") -> tuple[list[dict[str, Any]], int | None]:
    """Return a page by its opaque position, and the position of the next page."""
    start = int(query.get(name, 0))
    return items(start), start + SIZE if start + SIZE < TOTAL else None


def linked(make: Callable[[list[Any], str | None], Any]) -> Callable[[Query], tuple[Any, dict[str, str]]]:
    """Return answers with the URL of the next page, at an address that is never asked."""

    def answer(query: Query) -> tuple[Any, dict[str, str]]:
        page, position = after(query)
        return make(page, None if position is None else f"https://internal.test/v2/other?at={position}&%24x=1"), {}

    return answer


def by_token(make: Callable[[list[Any], str | None], Any], name: str = "cursor") -> Any:
    def answer(query: Query) -> tuple[Any, dict[str, str]]:
        page, position = after(query, name)
        return make(page, None if position is None else str(position)), {}

    return answer


def counted(first: int, size: int = SIZE, *, total: bool = False) -> Any:
    def answer(query: Query) -> tuple[Any, dict[str, str]]:
        page = items((int(query.get("page", first)) - first) * size, size)
        return ({"items": page, "total": TOTAL} if total else page), {}

    return answer


def _link_header(query: Query) -> tuple[Any, dict[str, str]]:
    page, position = after(query)
    link = f'<https://internal.test/?at={position}>; rel="next"' if position else '<https://x.test/?at=0>; rel="first"'
    return page, {"Link": link}


def _sentry(query: Query) -> tuple[Any, dict[str, str]]:
    page, position = after(query)
    results = "false" if position is None else "true"
    return page, {"Link": f'<https://x.test/?at={position or 99}>; rel="next"; results="{results}"'}


def _header_cursor(query: Query) -> tuple[Any, dict[str, str]]:
    page, position = after(query, "cursor")
    return page, {} if position is None else {"X-Next-Cursor": str(position)}


def _last_id(query: Query) -> tuple[Any, dict[str, str]]:
    start = int(query.get("starting_after", -1)) + 1
    return {"data": items(start), "has_more": start + SIZE < TOTAL}, {}


def _no_more(query: Query) -> tuple[Any, dict[str, str]]:
    page, position = after(query, "cursor")
    return {"data": page, "next_cursor": str(position or 99), "has_more": position is not None}, {}


def _next_number(query: Query) -> tuple[Any, dict[str, str]]:
    number = int(query.get("page", 1))
    return {"data": items((number - 1) * SIZE), "next_page": number + 1 if number < 3 else None}, {}


def _offset(query: Query) -> tuple[Any, dict[str, str]]:
    return items(int(query.get("offset", 0))), {}


def _page_info(page: list[Any], cursor: str | None) -> Any:
    return {"nodes": page, "pageInfo": {"hasNextPage": cursor is not None, "endCursor": cursor or "last"}}


def _links(page: list[Any], url: str | None) -> Any:
    return {"items": page, "links": [{"rel": "self", "href": "/"}, *([{"rel": "next", "href": url}] if url else ())]}


def _objects(make: Callable[[list[Any], dict[str, Any] | None], Any]) -> Any:
    def answer(query: Query) -> tuple[Any, dict[str, str]]:
        page, position = after(query, "starting_after")
        return make(page, None if position is None else {"page_size": SIZE, "starting_after": str(position)}), {}

    return answer


def _in_body(query: Any) -> tuple[Any, dict[str, str]]:
    page, position = after(query.get("pagination", query), "cursor")
    return {"objects": page, **({} if position is None else {"cursor": str(position)})}, {}


def _hits(query: Any) -> tuple[Any, dict[str, str]]:
    page = items(int(query.get("from", 0)))
    return {"took": 3, "_shards": {"total": 1}, "hits": {"total": {"value": TOTAL, "relation": "eq"}, "hits": page}}, {}


def _page_in_path(query: Query) -> tuple[Any, dict[str, str]]:
    number = int(query["segment"])
    return {"data": items((number - 1) * SIZE), "next": f"/v2/things/{number + 1}" if number < 3 else None}, {}


def _locator(query: Query) -> tuple[Any, dict[str, str]]:
    page, position = after({"at": query["segment"].rpartition("-")[2].removeprefix("things") or "0"})
    url = {} if position is None else {"nextRecordsUrl": f"/services/data/things/01g-{position}"}
    return {"done": position is None, "records": page, **url}, {}


def _same_name(query: Query) -> tuple[Any, dict[str, str]]:
    page, position = after(query, "scroll_param")
    return {"data": page, "scroll_param": None if position is None else str(position)}, {}


SERVICES = {
    "`Link` header": Service(_link_header),
    "`Link` header with results": Service(_sentry),
    "next URL": Service(linked(lambda page, url: {"data": page, "next_page_url": url})),
    "OData": Service(linked(lambda page, url: {"value": page, **({"@odata.nextLink": url} if url else {})})),
    "HAL": Service(
        linked(lambda page, url: {"_embedded": {"things": page}, "_links": {"next": {"href": url}} if url else {}})
    ),
    "JSON:API": Service(linked(lambda page, url: {"data": page, "included": [], "links": {"next": url}})),
    "list of links": Service(linked(_links)),
    "cursor": Service(
        by_token(lambda page, cursor: {"data": page, "response_metadata": {"next_cursor": cursor or ""}}),
        {"cursor": TEXT},
    ),
    "GraphQL's page info": Service(by_token(_page_info, "after"), {"after": TEXT}),
    "cursor in a header": Service(_header_cursor, {"cursor": TEXT}),
    "no more": Service(_no_more, {"cursor": TEXT}),
    "last id": Service(_last_id, {"starting_after": TEXT}),
    "arguments of the next page": Service(
        _objects(lambda page, arguments: {"data": page, "pages": {"type": "pages", "next": arguments}})
    ),
    "cursor in a body": Service(_in_body, {"cursor": TEXT, "limit": NUMBER}, method="post"),
    "cursor in an object": Service(
        _in_body, {"pagination": {"type": "object", "properties": {"cursor": TEXT}}}, method="post"
    ),
    "field with the parameter's name": Service(_same_name, {"scroll_param": TEXT}),
    "page in the path": Service(_page_in_path, arguments={"number": 1}, path="/things/{number}", in_path=("number",)),
    "path below the list's own": Service(_locator),
    "next number": Service(_next_number, {"page": NUMBER}),
    "pages from one": Service(counted(1), {"page": {**NUMBER, "default": 1}}),
    "pages from zero": Service(counted(0), {"page": {**NUMBER, "default": 0}}),
    "pages without a first number": Service(counted(0), {"page": NUMBER}),
    "offset": Service(_offset, {"offset": NUMBER, "limit": NUMBER}),
    "capped pages": Service(counted(1, 5), {"page": {**NUMBER, "default": 1}, "per_page": NUMBER}, {"per_page": 500}),
    "search hits": Service(_hits, {"from": NUMBER, "size": NUMBER}),
    "total": Service(counted(1, total=True), {"page": {**NUMBER, "default": 1}}),
    "envelope": Service(
        linked(lambda page, url: {"code": 0, "data": {"list": page, "paging": {"next": url}}}),
        schema={"type": "object", "properties": {"code": NUMBER, "data": {"type": "object"}}},
    ),
}


async def read(recorder: Recorder, service: Service) -> tuple[list[Any], list[str]]:
    """Return the items of a service's whole list, and the notes."""

    def answered(received: Received) -> Answered:
        parts = urlsplit(received.target)
        query = json.loads(received.body or b"{}") if service.method == "post" else dict(parse_qsl(parts.query))
        value, headers = service.answer({**query, "segment": parts.path.rpartition("/")[2]})
        return Answered(headers={"Content-Type": "application/json", **headers}, body=json.dumps(value).encode())

    recorder.answer = answered
    operation: dict[str, Any] = {"operationId": "listThings"}
    if service.method == "post":
        schema = {"type": "object", "properties": service.parameters}
        operation["requestBody"] = {"content": {"application/json": {"schema": schema}}}
    else:
        operation["parameters"] = [
            *({"name": name, "in": "query", "schema": schema} for name, schema in service.parameters.items()),
            *({"name": name, "in": "path", "required": True, "schema": NUMBER} for name in service.in_path),
        ]
    operation["responses"] = {"200": {"content": {"application/json": {"schema": service.schema}}}}
    document = {"openapi": "3.1.0", "paths": {service.path: {service.method: operation}}}
    (tool,) = load_openapi(document, name="api").tools
    transport, notes = HttpTransport(Reach("api", recorder.url)), list[str]()
    wanted = whole_list(f"{tool.id}.items", Catalog((tool,)))
    assert wanted is not None

    async def page(arguments: dict[str, Any], query: str) -> Page:
        return await transport.call_page(tool, arguments, CallContext(query=query))

    found = await collect(wanted, service.arguments, page, notes.append)
    await transport.aclose()
    return [item["id"] for item in found], notes


@pytest.mark.parametrize("form", SERVICES)
async def test_the_whole_list_is_read_once(recorder: Recorder, form: str) -> None:
    assert await read(recorder, SERVICES[form]) == (list(range(TOTAL)), [])
    assert {received.target.partition("?")[0][:7] for received in recorder.received} == {"/things"}


def test_each_form_of_the_page_has_a_service() -> None:
    page = Path("docs/reference/lists.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (.+?) \|", page, re.M)
    assert rows[0] == "form"
    assert rows[1:] == list(SERVICES)


async def test_pages_that_start_at_one_are_found_out(recorder: Recorder) -> None:
    assert await read(recorder, Service(counted(1), {"page": NUMBER})) == (list(range(TOTAL)), [])


async def test_a_total_ends_counting_without_an_empty_page(recorder: Recorder) -> None:
    await read(recorder, SERVICES["total"])
    assert len(recorder.received) == 3


def _endless(*, fresh: bool) -> Any:
    """Return answers that always name another cursor, with new items or the same ones."""

    def answer(query: Query) -> tuple[Any, dict[str, str]]:
        at = int(query.get("cursor", 0))
        return {"data": [{"id": at if fresh else 1}], "next_cursor": str(at + 1), "total": 3}, {}

    return answer


def _lying_total(total: Callable[[list[Any]], int]) -> Any:
    def answer(query: Query) -> tuple[Any, dict[str, str]]:
        page = items((int(query.get("page", 1)) - 1) * SIZE)
        return {"items": page, "total": total(page)}, {}

    return answer


def _clamped(query: Query) -> tuple[Any, dict[str, str]]:
    return {"items": items(min(int(query.get("page", 1)) - 1, 2) * SIZE), "has_more": True}, {}


def _ring(query: Query) -> tuple[Any, dict[str, str]]:
    at = int(query.get("at", 0))
    return {"data": [{"id": at}], "next": f"/things?at={(at + 1) % 3}"}, {}


def _in_one(url: str) -> Any:
    return lambda _: ({"data": items(0), "next": url}, {})


PAGES = {"page": {**NUMBER, "default": 1}}

#: Services that mislead: the ids that are read, and the beginning of the note.
MISLEADING: dict[str, tuple[Service, list[int], str]] = {
    "the same page for ever": (Service(_endless(fresh=False), {"cursor": TEXT}), [1], "stopped at page 2"),
    "new pages for ever": (
        Service(_endless(fresh=True), {"cursor": TEXT}),
        list(range(100)),
        "the list is incomplete: one call returns at most 100 items",
    ),
    "a total of the page": (Service(_lying_total(len), PAGES), list(range(TOTAL)), ""),
    "a total that is too small": (Service(_lying_total(lambda _: 5), PAGES), list(range(TOTAL)), ""),
    "a total that is too large": (
        Service(_lying_total(lambda _: 99), PAGES),
        list(range(TOTAL)),
        "the list has 25 items, and the service states 99",
    ),
    "the last page again": (Service(_clamped, PAGES), list(range(TOTAL)), "stopped at page 4 of the list"),
    "a ring": (Service(_ring), [0, 1, 2], "stopped at page 4 of the list, which repeats an earlier page"),
    "a next page on another host": (
        Service(_in_one("https://evil.test/steal")),
        list(range(SIZE)),
        "the next page has another path, which is not followed",
    ),
    "a next page above": (
        Service(_in_one("/things/..")),
        list(range(SIZE)),
        "the next page has another path, which is not followed",
    ),
    "a next page that is no URL": (
        Service(_in_one("http://[")),
        list(range(SIZE)),
        "the URL of the next page is invalid",
    ),
}


@pytest.mark.parametrize("kind", MISLEADING)
async def test_a_misleading_service_is_left_with_the_items_and_a_note(recorder: Recorder, kind: str) -> None:
    service, ids, note = MISLEADING[kind]
    read_ids, notes = await read(recorder, service)
    assert read_ids == ids
    assert len(notes) == bool(note), notes
    assert all(f": {note}" in each for each in notes)
    assert {received.target.partition("?")[0] for received in recorder.received} == {"/things"}
