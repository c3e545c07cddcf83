"""Detect how a tool is paged, from the names of its parameters and the schema of its result.

`codemode.catalog.next_page` reads the answers, which decide.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from codemode.catalog.identifiers import snake
from codemode.catalog.tool import Effect, Location, Paging

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from codemode.catalog.schema import Schema
    from codemode.catalog.tool import Parameter, Tool

_PAGE = ("page", "page_number", "page_num", "pagenumber", "page_no", "page_index", "current_page", "pg")
_OFFSET = (
    "offset", "skip", "start", "start_at", "start_index", "page_offset", "from", "startat", "startindex",
    "first_result", "start_row", "sysparm_offset",
)  # fmt: skip
_SIZE = (
    "per_page", "limit", "page_size", "size", "top", "count", "max_results", "pagesize", "page_limit", "take", "rows",
    "maxresults", "first", "sysparm_limit",
)  # fmt: skip
_CURSOR = (
    "cursor", "page_token", "next_token", "start_cursor", "continuation_token", "next_page_token", "page_cursor",
    "continue", "next_cursor", "marker", "start_key", "exclusive_start_key", "page_after", "after_cursor", "pagetoken",
    "nexttoken", "skip_token", "skiptoken", "scroll_id", "starting_token", "bookmark", "pagination_token",
)  # fmt: skip
#: Cursors only beside a page size: alone, they may be access tokens.
_CURSOR_BESIDE_SIZE = ("token",)
_AFTER = ("starting_after", "after", "after_id", "start_after")

#: Parameters that only a link in the answer fills.
_LINKED = ("max_id", "before_id", "ending_before")

#: `start` and `from` are the beginning of a range beside these, or if the description is about time.
_RANGES = ("start", "from")
_ENDS = ("end", "to", "until", "stop", "finish", "end_time")
_OF_TIME = re.compile(
    r"(?i)\b(time|times|timestamp|date|datetime|unix|epoch|seconds|milliseconds|month|year|day|since)\b"
)

#: Descriptions of pages that are numbered from zero.
_FROM_ZERO = re.compile(
    r"(?i)\b(zero|0)[- ](based|indexed)|\b(start(s|ing)?|begin(s|ning)?) (at|from|with) (0|zero)\b|\(0\.\."
)

#: The usual fields of the items.
USUAL_LISTS = (
    "items", "data", "results", "result", "value", "values", "records", "entries", "objects", "list", "rows", "content",
    "resources",
)  # fmt: skip

#: Objects around a whole answer or around its list.
ENVELOPES = ("_embedded", "data", "result", "results", "response", "payload", "body", "d", "feed")

#: Lists that stand beside the items of a page.
BESIDE = frozenset(("errors", "warnings", "links", "_links", "included", "messages"))

#: The value of `Paging.items` if the field of the list is only known from the response.
ANY_FIELD = "*"


def paging_of(tool: Tool) -> Paging | None:
    """Return how a tool is paged. None if its result is not a list, or it has no paging parameter."""
    if tool.details.paging is not None:
        return tool.details.paging
    names = {snake(p.wire_name): p for p in reversed(tool.parameters) if p.location in _PAGING_LOCATIONS}
    parameters = {
        "cursor": _parameter_named(names, _CURSOR, "string"),
        "after": _parameter_named(names, _AFTER, "string"),
        "page": _parameter_named(names, _PAGE, "integer"),
        "offset": _offset(names),
    }
    size = _parameter_named(names, _SIZE, "integer")
    if size is not None and parameters["cursor"] is None:
        parameters["cursor"] = _parameter_named(names, _CURSOR_BESIDE_SIZE, "string")
    items = _items_field(tool.returns, is_paged=any(parameters.values()))
    if items is None or not (any(parameters.values()) or _parameter_named(names, _LINKED, "string")):
        return None
    named: dict[str, Any] = {key: parameter.name for key, parameter in parameters.items() if parameter}
    return Paging(
        items,
        **named,
        **_sized(size),
        start=_first(parameters["page"] or parameters["offset"]),
    )


def declared_paging(parameters: Iterable[Parameter], words: Mapping[str, str]) -> Paging | None:
    """Return the paging in words: wire names of parameters, and paths in the answer, by the fields of `Paging`.

    None if a parameter does not exist, or if nothing leads to the next page.
    """
    by_wire = {parameter.wire_name: parameter for parameter in parameters}
    named = {role: words[role] for role in ("cursor", "page", "offset", "size") if role in words}
    if (not named.keys() - {"size"} and "next" not in words) or not by_wire.keys() >= set(named.values()):
        return None
    own = {role: by_wire[wire_name] for role, wire_name in named.items()}
    roles: dict[str, Any] = {role: parameter.name for role, parameter in own.items() if role != "size"}
    return Paging(
        words.get("items", ANY_FIELD),
        **roles,
        **_sized(own.get("size")),
        start=_first(own.get("page") or own.get("offset")),
        next=".".join(map(snake, words.get("next", "").split("."))),
    )


def walked(tool: Tool) -> Paging | None:
    """Return how the whole list of a tool is read: as it is paged, or else by what its answers say.

    None if the tool has no list, or if it is not paged and writes or is no HTTP operation.
    """
    paging = paging_of(tool)
    is_http = all(parameter.location is not Location.ARGUMENT for parameter in tool.parameters)
    if paging is not None or tool.effect is not Effect.READ or not is_http:
        return paging
    items = _items_field(tool.returns, is_paged=False)
    names = {snake(p.wire_name): p for p in reversed(tool.parameters) if p.location in _PAGING_LOCATIONS}
    return None if items is None else Paging(items, **_sized(_parameter_named(names, _SIZE, "integer")))


def _sized(size: Parameter | None) -> dict[str, Any]:
    default = size.schema.first("default") if size else None
    return {"size": size.name if size else "", "size_default": default if type(default) is int else None}


def _first(parameter: Parameter | None) -> int | None:
    """Return the number of the first page, or the first offset, if the document says it."""
    if parameter is None:
        return None
    description = f"{parameter.description} {parameter.schema.first('description') or ''}"
    if _FROM_ZERO.search(description):
        return 0
    numbers = (parameter.schema.first("default"), parameter.schema.first("minimum"))
    return next((number for number in numbers if number in (0, 1) and type(number) is int), None)


def _offset(names: Mapping[str, Parameter]) -> Parameter | None:
    parameter = _parameter_named(names, _OFFSET, "integer")
    if parameter is None or snake(parameter.wire_name) not in _RANGES:
        return parameter
    is_range = any(name in names for name in _ENDS) or _OF_TIME.search(parameter.description)
    return None if is_range else parameter


_PAGING_LOCATIONS = (Location.QUERY, Location.BODY_FIELD, Location.ARGUMENT)


def _parameter_named(names: Mapping[str, Parameter], wanted: tuple[str, ...], kind: str) -> Parameter | None:
    for name in wanted:
        parameter = names.get(name)
        if parameter is not None:
            types = parameter.schema.resolved().types()
            if not types or kind in types or (kind == "integer" and "number" in types):
                return parameter
    return None


def _items_field(returns: Schema | None, *, is_paged: bool) -> str | None:
    """Return the value of `Paging.items`, None if the result is no list. A paged result may be declared wrongly."""
    if returns is None:
        return ANY_FIELD
    schema = returns.resolved()
    if "array" in schema.types():
        return ""
    if schema.types() not in ((), ("object",)) and "object" not in schema.types():
        return None
    properties = schema.properties()
    if not properties:
        return ANY_FIELD
    lists = [name for name, value in properties.items() if name not in BESIDE and _may_be_list(value)]
    usual_field = next((name for name in USUAL_LISTS if name in lists), None)
    if usual_field is not None or len(lists) == 1:
        return usual_field or lists[0]
    inner = any(_holds_list(properties[name]) for name in ENVELOPES if name in properties)
    return ANY_FIELD if is_paged or inner else None


def _holds_list(schema: Schema) -> bool:
    """Return whether an envelope has a list, or may have one because it is not described."""
    resolved = schema.resolved()
    properties = resolved.properties()
    if not properties:
        return resolved.types() in ((), ("object",))
    return any(_may_be_list(part) for name, part in properties.items() if name not in BESIDE)


def _may_be_list(schema: Schema) -> bool:
    resolved = schema.resolved()
    return any("array" in part.resolved().types() for part in (resolved, *resolved.variants()))
