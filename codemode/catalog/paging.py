"""Lists that come in pages: which tools have them, what is in a page, and the arguments of the next one.

Recognised from parameter names and the shape of the result, as published documents have them: a cursor that the answer
names, the id of the last item with `has_more`, a `next` address in the answer or in a `Link` header (RFC 8288), page
numbers, offsets. A page of a tool is got by calling the tool: nothing here sends anything.
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
#: Alone, this may be anybody's token.
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

#: Where answers name the cursor of the next page, and where its address.
_TOKENS = (
    "next_cursor", "next_page_token", "next_token", "continuation_token", "next_page_cursor", "cursor_next",
    "response_metadata.next_cursor", "metadata.continue", "meta.next_cursor", "pagination.next_cursor",
    "paging.next.after", "pagination.next_token", "meta.next_token", "meta.next_page_token", "next_marker",
    "result_info.cursors.after", "cursor",
)  # fmt: skip
_ADDRESSES = ("next", "next_link", "odata_next_link", "links.next", "links.pages.next", "paging.next", "next_url",
              "next_page_url", "meta.next", "pagination.next", "next_page", "links.next.href")  # fmt: skip
_MORE = ("has_more", "hasmore", "has_next", "has_next_page", "more", "truncated", "is_truncated")

#: The list of a page is whichever field of the answer is one.
ANY_FIELD = "*"

_LINK = re.compile(r"<([^<>]*)>\s*;([^,<]*(?:,(?!\s*<)[^,<]*)*)")


def paging_of(tool: Tool) -> Paging | None:
    """How a tool is paged; None where its result is no list, or nothing in its parameters asks for a further page."""
    if tool.details.paging is not None:
        return tool.details.paging
    items = _items_field(tool.returns)
    if items is None:
        return None
    names = {snake(p.wire_name): p for p in reversed(tool.parameters) if p.location in _MOVABLE}
    found = {
        "cursor": _named(names, _CURSOR, "string"),
        "after": _named(names, _AFTER, "string"),
        "page": _named(names, _PAGE, "integer"),
        "offset": _named(names, _OFFSET, "integer"),
    }
    size = _named(names, _SIZE, "integer")
    if size is not None and found["cursor"] is None:
        found["cursor"] = _named(names, _CURSOR_BESIDE_SIZE, "string")
    if not any(found.values()):
        return None
    default = size.schema.first("default") if size else None
    return Paging(
        items,
        **{key: parameter.name for key, parameter in found.items() if parameter},
        size=size.name if size else "",
        size_default=default if isinstance(default, int) and not isinstance(default, bool) else None,
    )


def items_of(paging: Paging, value: Any) -> list[Any]:
    """The items of a page; empty where there are none."""
    if paging.items == ANY_FIELD and isinstance(value, Mapping):
        lists = {name: found for name, found in value.items() if isinstance(found, list)}
        usual = next((name for name in _ITEMS if name in lists), None)
        return lists[usual] if usual else (next(iter(lists.values())) if len(lists) == 1 else [])
    found = value.get(paging.items) if paging.items and isinstance(value, Mapping) else value
    return found if isinstance(found, list) else []


def next_arguments(
    tool: Tool, paging: Paging, arguments: Mapping[str, Any], value: Any, link: str = ""
) -> dict[str, Any] | None:
    """The arguments of the page after the one that `arguments` gave; None where that was the last one.

    `link` is the answer's `Link` header. Never the same arguments again, so that following pages comes to an end.
    """
    further = _from_link(tool, link) if link else _from_answer(tool, paging, value)
    if further is None:
        further = _counted(paging, arguments, value)
    if not further:
        return None
    following = {**arguments, **further}
    return following if following != dict(arguments) else None


_MOVABLE = (Location.QUERY, Location.BODY_FIELD, Location.ARGUMENT)


def _named(names: Mapping[str, Parameter], wanted: tuple[str, ...], kind: str) -> Parameter | None:
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
    usual = next((name for name in _ITEMS if name in lists), None)
    if usual is not None:
        return usual
    return lists[0] if len(lists) == 1 else None


def _may_be_list(schema: Schema) -> bool:
    resolved = schema.resolved()
    return any("array" in part.resolved().types() for part in (resolved, *resolved.variants()))


def _from_link(tool: Tool, link: str) -> dict[str, Any] | None:
    for address, rest in _LINK.findall(link):
        if re.search(r"""\brel\s*=\s*["']?[^"';]*\bnext\b""", rest):
            return _of_address(tool, address)
    return {} if _LINK.search(link) else None


def _from_answer(tool: Tool, paging: Paging, value: Any) -> dict[str, Any] | None:
    """What the answer itself says of a next page: {} for "there is none", None for "it says nothing"."""
    if not isinstance(value, Mapping):
        return None
    flat = dict(_flat(value))
    if paging.cursor:
        for name in _TOKENS:
            if name in flat:
                token = flat[name]
                return {paging.cursor: token} if isinstance(token, str) and token and "://" not in token else {}
    more = next((flat[name] for name in _MORE if name in flat), None)
    if more is False:
        return {}
    for name in _ADDRESSES:
        if name in flat:
            address = flat[name]
            found = _of_address(tool, address) if isinstance(address, str) else None
            return found if found else ({} if address in (None, "") else None)
    if paging.after and more:
        items = items_of(paging, value)
        last = flat.get("last_id") or (items[-1].get("id") if items and isinstance(items[-1], Mapping) else None)
        return {paging.after: last} if isinstance(last, str) and last else {}
    return None


def _counted(paging: Paging, arguments: Mapping[str, Any], value: Any) -> dict[str, Any]:
    """The next page by counting: none after a page that is empty or not full."""
    count = len(items_of(paging, value))
    size = arguments.get(paging.size) or paging.size_default
    if not count or (isinstance(size, int) and count < size):
        return {}
    if paging.page:
        now = arguments.get(paging.page)
        return {paging.page: (now if isinstance(now, int) else 1) + 1}
    if paging.offset:
        now = arguments.get(paging.offset)
        return {paging.offset: (now if isinstance(now, int) else 0) + count}
    return {}


def _of_address(tool: Tool, address: str) -> dict[str, Any]:
    """The arguments in an address of a next page: known ones alone; where it points is not followed."""
    by_wire = {p.wire_name: p for p in tool.parameters if p.location is Location.QUERY}
    found: dict[str, Any] = {}
    for name, text in parse_qsl(urlsplit(address).query):
        parameter = by_wire.get(name)
        if parameter is None:
            continue
        types = parameter.schema.resolved().types()
        if "array" in types:
            continue  # it stays as it was given
        found[parameter.name] = int(text) if "integer" in types and re.fullmatch(r"-?\d{1,18}", text) else text
    return found


def _flat(value: Mapping[str, Any], prefix: str = "", depth: int = 0) -> list[tuple[str, Any]]:
    """Fields by their path in snake case, three levels deep, lists left out."""
    found = []
    for key, item in value.items():
        name = prefix + snake(str(key))
        if isinstance(item, Mapping):
            if depth < 2:
                found += _flat(item, f"{name}.", depth + 1)
        elif not isinstance(item, list):
            found.append((name, item))
    return found
