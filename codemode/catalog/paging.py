"""Detect paged tools, read the items of a page, and derive the arguments of the next page.

Paging is detected from parameter names and the shape of the result. Supported are cursors, the id of the last item
with `has_more`, a `next` URL in the response or in a `Link` header (RFC 8288), page numbers and offsets. This module
sends no requests: callers get each page by calling the tool.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

from codemode.catalog.identifiers import snake
from codemode.catalog.tool import Location, Paging

if TYPE_CHECKING:
    from codemode.catalog.schema import Schema
    from codemode.catalog.tool import Parameter, Tool

_PAGE = ("page", "page_number", "page_num", "pagenumber")
_OFFSET = ("offset", "skip", "start", "start_at", "start_index", "page_offset", "from")
_SIZE = ("per_page", "limit", "page_size", "size", "top", "count", "max_results", "pagesize", "page_limit", "take")
_CURSOR = (
    "cursor", "page_token", "next_token", "start_cursor", "continuation_token", "next_page_token", "page_cursor",
    "continue", "next_cursor", "marker", "start_key", "exclusive_start_key",
)  # fmt: skip
#: Cursors only beside a page size: alone, they may be access tokens.
_CURSOR_BESIDE_SIZE = ("token",)
_AFTER = ("starting_after", "after", "after_id", "start_after")
_ITEMS = (
    "items",
    "data",
    "results",
    "result",
    "value",
    "values",
    "records",
    "entries",
    "objects",
    "list",
    "rows",
    "content",
)

#: The response fields that hold the cursor of the next page, and those that hold its URL.
_TOKENS = (
    "next_cursor", "next_page_token", "next_token", "continuation_token", "next_page_cursor", "cursor_next",
    "response_metadata.next_cursor", "metadata.continue", "meta.next_cursor", "pagination.next_cursor",
    "paging.next.after", "pagination.next_token", "meta.next_token", "meta.next_page_token", "next_marker",
    "result_info.cursors.after", "cursor",
)  # fmt: skip
_NEXT_URLS = ("next", "next_link", "odata_next_link", "links.next", "links.pages.next", "paging.next", "next_url",
              "next_page_url", "meta.next", "pagination.next", "next_page", "links.next.href")  # fmt: skip
_MORE = ("has_more", "hasmore", "has_next", "has_next_page", "more", "truncated", "is_truncated")

#: The response fields that hold the length of the whole list. Some services use `count` for that of the page.
_TOTALS = ("total", "total_count", "total_items", "total_results", "total_records", "total_size", "total_elements",
           "total_entries", "count", "num_found", "odata_count")  # fmt: skip

#: The objects in a response that may hold it.
_ABOUT_LIST = ("meta", "metadata", "pagination", "paging", "page", "page_info", "response_metadata")

#: The value of `Paging.items` if the field of the list is only known from the response.
ANY_FIELD = "*"

_LINK = re.compile(r"<([^<>]*)>\s*;([^,<]*(?:,(?!\s*<)[^,<]*)*)")


def paging_of(tool: Tool) -> Paging | None:
    """Return how a tool is paged. None if its result is not a list, or it has no paging parameter."""
    if tool.details.paging is not None:
        return tool.details.paging
    items = _items_field(tool.returns)
    if items is None:
        return None
    names = {snake(p.wire_name): p for p in reversed(tool.parameters) if p.location in _PAGING_LOCATIONS}
    parameters = {
        "cursor": _parameter_named(names, _CURSOR, "string"),
        "after": _parameter_named(names, _AFTER, "string"),
        "page": _parameter_named(names, _PAGE, "integer"),
        "offset": _parameter_named(names, _OFFSET, "integer"),
    }
    size = _parameter_named(names, _SIZE, "integer")
    if size is not None and parameters["cursor"] is None:
        parameters["cursor"] = _parameter_named(names, _CURSOR_BESIDE_SIZE, "string")
    if not any(parameters.values()):
        return None
    default = size.schema.first("default") if size else None
    return Paging(
        items,
        **{key: parameter.name for key, parameter in parameters.items() if parameter},
        size=size.name if size else "",
        size_default=default if isinstance(default, int) and not isinstance(default, bool) else None,
    )


def items_of(paging: Paging, value: Any) -> list[Any]:
    """Return the items of a page."""
    if paging.items == ANY_FIELD and isinstance(value, Mapping):
        lists = {name: items for name, items in value.items() if isinstance(items, list)}
        usual_field = next((name for name in _ITEMS if name in lists), None)
        return lists[usual_field] if usual_field else (next(iter(lists.values())) if len(lists) == 1 else [])
    items = value.get(paging.items) if paging.items and isinstance(value, Mapping) else value
    return items if isinstance(items, list) else []


def total_of(value: Any) -> int | None:
    """Return the length of the whole list that an answer states, or None."""
    if not isinstance(value, Mapping):
        return None
    by_name = {snake(str(name)): item for name, item in value.items()}
    about = [by_name, *(by_name[name] for name in _ABOUT_LIST if isinstance(by_name.get(name), Mapping))]
    for fields in about:
        for name, number in fields.items():
            if type(number) is int and snake(str(name)) in _TOTALS:
                return number
    return None


def next_arguments(
    tool: Tool, paging: Paging, arguments: Mapping[str, Any], value: Any, link: str = ""
) -> dict[str, Any] | None:
    """Return the arguments of the next page, or None after the last page.

    `arguments` are those of the current page, `value` is its result, and `link` its `Link` header. Never returns the
    same arguments, so that paging ends.
    """
    next_values = _from_link(tool, link) if link else _from_answer(tool, paging, value)
    if next_values is None:
        next_values = _by_counting(paging, arguments, value)
    if not next_values:
        return None
    following = {**arguments, **next_values}
    return following if following != dict(arguments) else None


_PAGING_LOCATIONS = (Location.QUERY, Location.BODY_FIELD, Location.ARGUMENT)


def _parameter_named(names: Mapping[str, Parameter], wanted: tuple[str, ...], kind: str) -> Parameter | None:
    for name in wanted:
        parameter = names.get(name)
        if parameter is not None:
            types = parameter.schema.resolved().types()
            if not types or kind in types or (kind == "integer" and "number" in types):
                return parameter
    return None


def _items_field(returns: Schema | None) -> str | None:
    if returns is None:
        return ANY_FIELD
    schema = returns.resolved()
    if "array" in schema.types():
        return ""
    properties = schema.properties()
    if not properties and schema.types() in ((), ("object",)):
        return ANY_FIELD
    lists = [name for name, value in properties.items() if _may_be_list(value)]
    usual_field = next((name for name in _ITEMS if name in lists), None)
    if usual_field is not None:
        return usual_field
    return lists[0] if len(lists) == 1 else None


def _may_be_list(schema: Schema) -> bool:
    resolved = schema.resolved()
    return any("array" in part.resolved().types() for part in (resolved, *resolved.variants()))


def _from_link(tool: Tool, link: str) -> dict[str, Any] | None:
    for url, rest in _LINK.findall(link):
        if any(_is_next(parameter) for parameter in rest.split(";")):
            return _arguments_of_url(tool, url)
    return {} if _LINK.search(link) else None


def _is_next(parameter: str) -> bool:
    """Return whether a parameter of a link is `rel=next`, also among other relations (RFC 8288, 3.3)."""
    name, _, value = parameter.partition("=")
    return name.strip().lower() == "rel" and "next" in value.replace('"', " ").replace("'", " ").lower().split()


def _from_answer(tool: Tool, paging: Paging, value: Any) -> dict[str, Any] | None:
    """Return the next page's arguments that the response states: {} after the last page, None if it states nothing."""
    if not isinstance(value, Mapping):
        return None
    flat = dict(_flattened(value))
    if paging.cursor:
        for name in _TOKENS:
            if name in flat:
                token = flat[name]
                return {paging.cursor: token} if isinstance(token, str) and token and "://" not in token else {}
    more = next((flat[name] for name in _MORE if name in flat), None)
    if more is False:
        return {}
    for name in _NEXT_URLS:
        if name in flat:
            url = flat[name]
            arguments = _arguments_of_url(tool, url) if isinstance(url, str) else None
            return arguments if arguments else ({} if url in (None, "") else None)
    if paging.after and more:
        items = items_of(paging, value)
        last = flat.get("last_id") or (items[-1].get("id") if items and isinstance(items[-1], Mapping) else None)
        return {paging.after: last} if isinstance(last, str) and last else {}
    return None


def _by_counting(paging: Paging, arguments: Mapping[str, Any], value: Any) -> dict[str, Any]:
    """Return the next page number or offset as an argument: {} after a page that is empty or not full."""
    count = len(items_of(paging, value))
    size = arguments.get(paging.size) or paging.size_default
    if not count or (isinstance(size, int) and count < size):
        return {}
    if paging.page:
        current = arguments.get(paging.page)
        return {paging.page: (current if isinstance(current, int) else 1) + 1}
    if paging.offset:
        current = arguments.get(paging.offset)
        return {paging.offset: (current if isinstance(current, int) else 0) + count}
    return {}


def _arguments_of_url(tool: Tool, url: str) -> dict[str, Any]:
    """Return the known query parameters in the URL of the next page. The URL itself is not requested."""
    by_wire = {p.wire_name: p for p in tool.parameters if p.location is Location.QUERY}
    arguments: dict[str, Any] = {}
    for name, text in parse_qsl(urlsplit(url).query):
        parameter = by_wire.get(name)
        if parameter is None:
            continue
        types = parameter.schema.resolved().types()
        if "array" in types:
            continue  # keeps the value of the current page
        arguments[parameter.name] = int(text) if "integer" in types and re.fullmatch(r"-?\d{1,18}", text) else text
    return arguments


def _flattened(value: Mapping[str, Any], prefix: str = "", depth: int = 0) -> list[tuple[str, Any]]:
    """Return fields by their path in snake case, three levels deep, without lists."""
    fields = []
    for key, item in value.items():
        name = prefix + snake(str(key))
        if isinstance(item, Mapping):
            if depth < 2:
                fields += _flattened(item, f"{name}.", depth + 1)
        elif not isinstance(item, list):
            fields.append((name, item))
    return fields
