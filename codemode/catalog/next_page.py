"""Read a page of a list: its items, the length of the whole list, and where the next page is.

The answer decides first: a `Link` header, the URL of the next page, its cursor or its number, and whether more follow.
Pages and offsets are counted only where the answer says nothing, until a page is empty. This module sends no requests.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

from codemode.catalog.identifiers import snake
from codemode.catalog.paging import ANY_FIELD, BESIDE, ENVELOPES, USUAL_LISTS
from codemode.catalog.tool import Location

if TYPE_CHECKING:
    from codemode.catalog.tool import Paging, Tool

#: Objects in an answer that describe its list.
_ABOUT_LIST = (
    "meta", "metadata", "_meta", "pagination", "paging", "page", "page_info", "paginator", "response_metadata",
    "result_info", "links", "cursors", "cursor", "search_metadata", "_metadata",
)  # fmt: skip

#: Fields that hold the URL of the next page, or else its cursor or number.
_NEXT = (
    "next", "next.href", "next.url", "next_link", "odata_next_link", "pages.next", "next_url", "next_uri", "next_href",
    "next_page_url", "next_page_uri", "next_page_link", "next_page", "next_records_url", "nextpage",
)  # fmt: skip

#: Fields that hold the cursor of the next page.
_TOKENS = (
    "next_cursor", "next_page_token", "next_token", "continuation_token", "next_page_cursor", "next_marker",
    "cursor_next", "continue", "next.after", "cursors.after", "cursors.next", "next_cursor_str", "next_id", "next_key",
    "next_start_key", "last_evaluated_key", "end_cursor", "scroll_id", "bookmark", "after", "cursor",
)  # fmt: skip
#: Those that may repeat the request.
_MAY_BE_ECHOES = ("after", "cursor", "bookmark")
_TOKEN_HEADERS = ("x-next-cursor", "next-cursor", "x-next-token", "x-ms-continuation", "opc-next-page")

_OFFSETS = ("next_offset", "next_start", "next_skip")
_MORE = (
    "has_more", "hasmore", "has_next", "has_next_page", "more", "more_results", "has_more_items", "truncated",
    "more_items_in_collection", "is_truncated", "more_records", "more_available",
)  # fmt: skip
_LAST = ("last", "is_last", "is_last_page", "last_page", "end_of_list")
_NUMBERS = ("page", "number", "page_number", "current_page", "page_num", "page_no", "page_index")
_PAGES = ("total_pages", "pages", "page_count", "last_page", "num_pages")

#: Fields that hold the length of the whole list. Some services use `count` for that of the page.
_TOTALS = (
    "total", "total_count", "total_items", "total_results", "total_records", "total_size", "total_elements",
    "total_entries", "num_found", "odata_count", "count",
)  # fmt: skip
_TOTAL_HEADERS = ("x-total-count", "x-total", "x-wp-total", "total-count", "total-records", "x-pagination-total-count")

_LINK = re.compile(r"<([^<>]*)>\s*;([^,<]*(?:,(?!\s*<)[^,<]*)*)")
_PAGE_RELATIONS = frozenset(("next", "prev", "previous", "first", "last"))


#: The headers that `next_page` and `total_of` read.
PAGE_HEADERS = ("link", "next-page", "x-next-page", *_TOKEN_HEADERS, *_TOTAL_HEADERS)


class Following(NamedTuple):
    """The page after this one.

    `arguments` are those of the call, None after the last page. `query` replaces the query of the request, if the
    answer gave a URL. `is_counted` means that the answer did not say that the page exists. `note` says why the list may
    continue although nothing leads further.
    """

    arguments: dict[str, Any] | None
    query: str = ""
    is_counted: bool = False
    note: str = ""


_END = Following(None)


@dataclass(frozen=True, slots=True)
class _Current:
    """The page that was read, as its tool, its request and its answer describe it."""

    tool: Tool
    paging: Paging
    arguments: Mapping[str, Any]
    items: list[Any]
    headers: Mapping[str, str]
    stated: Mapping[str, Any]

    def first_of(self, names: tuple[str, ...]) -> tuple[str, Any]:
        """Return the first of these fields that the answer has, with its value."""
        return next(((name, self.stated[name]) for name in names if name in self.stated), ("", None))

    def number(self, names: tuple[str, ...]) -> int | None:
        """Return the first of these fields that holds an integer."""
        return next((value for name in names if type(value := self.stated.get(name)) is int), None)

    def with_argument(self, name: str, value: object, *, is_counted: bool = False) -> Following:
        """Return the call with this argument. The same arguments again are the end."""
        following = {**self.arguments, name: value}
        return Following(following, is_counted=is_counted) if following != dict(self.arguments) else _END


def items_of(paging: Paging, value: Any) -> list[Any]:
    """Return the items of a page, [] if it has no list."""
    return _list_in(paging.items, value) or []


def total_of(value: Any, headers: Mapping[str, str] | None = None) -> int | None:
    """Return the length of the whole list that an answer or its headers state, or None."""
    for name in _TOTAL_HEADERS if headers else ():
        text = (headers or {}).get(name, "")
        if text.isascii() and text.isdigit():
            return int(text[:18])
    stated = _stated(value)
    known = {name: number for name in _TOTALS if type(number := stated.get(name)) is int and number >= 0}
    if known.get("count") == len(_list_in(ANY_FIELD, value) or []):
        del known["count"]  # it may be that of the page
    return next(iter(known.values()), None)


def page_fields(
    tool: Tool, paging: Paging, arguments: Mapping[str, Any], value: Any, headers: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Return the fields of a transport's page, beside its value. The parameters are those of `next_page`."""
    following = next_page(tool, paging, arguments, value, headers)
    return {
        "items": items_of(paging, value),
        "next_arguments": following.arguments,
        "next_query": following.query,
        "is_counted": following.is_counted,
        "total": total_of(value, headers),
        "note": following.note,
    }


def next_page(
    tool: Tool, paging: Paging, arguments: Mapping[str, Any], value: Any, headers: Mapping[str, str] | None = None
) -> Following:
    """Return what leads to the next page.

    `arguments` are those of the current page; `headers` have lower-case names.
    """
    items = _list_in(paging.items, value)
    if items is None and value not in (None, {}):
        return Following(None, note="the answer has no list that is recognised; .pages(…) returns it whole")
    page = _Current(tool, paging, arguments, items or [], headers or {}, _stated(value))
    for rule in _RULES:
        following = rule(page)
        if following is not None:
            return following
    return _by_counting(page)


def _by_declaration(page: _Current) -> Following | None:
    """The field that the document declares: a URL, or what the parameter of the next page takes."""
    paging = page.paging
    if not paging.next:
        return None
    value = page.stated.get(paging.next)
    if value in (None, "", False):
        return _END
    if isinstance(value, str) and _is_url(value):
        return _by_url(page, value)
    parameter = paging.cursor or paging.page or paging.offset
    return page.with_argument(parameter, value) if parameter else None


def _is_url(text: str) -> bool:
    return "://" in text or text.startswith(("/", "?"))


def _by_link_header(page: _Current) -> Following | None:
    """A `Link` header (RFC 8288), or Kinto's `Next-Page`. Sentry's last next link says `results="false"`."""
    if "next-page" in page.headers:  # a whole URL
        return _by_url(page, page.headers["next-page"])
    relations: set[str] = set()
    for url, rest in _LINK.findall(page.headers.get("link", "")):
        attributes = dict(_attributes(rest))
        own = set(attributes.get("rel", "").lower().split())
        if "next" in own:
            return _END if attributes.get("results", "").lower() == "false" else _by_url(page, url)
        relations |= own
    return _END if relations & _PAGE_RELATIONS else None


def _attributes(text: str) -> Iterator[tuple[str, str]]:
    for part in text.split(";"):
        name, _, value = part.partition("=")
        yield name.strip().lower(), value.strip().strip("\"'")


def _by_last(page: _Current) -> Following | None:
    """`has_more: false`, `last: true`: the end, even beside a cursor."""
    is_over = any(page.stated.get(name) in (False, "false") for name in _MORE if name in page.stated)
    return _END if is_over or any(page.stated.get(name) is True for name in _LAST) else None


def _by_next(page: _Current) -> Following | None:
    """The URL of the next page, in any of the usual fields; or its number or cursor in a field with such a name."""
    for name in _NEXT:
        value = page.stated.get(name)
        if isinstance(value, str) and _is_url(value):
            return _by_url(page, value)
        if value not in (None, "", False, 0) and isinstance(value, (str, int)) and value is not True:
            return _with_token(page, name, value)
    is_over = any(name in page.stated for name in _NEXT) and not any(name in page.stated for name in _TOKENS[:6])
    return _END if is_over else None


def _by_url(page: _Current, url: str) -> Following:
    """Ask the same operation with the query of the URL. Its host and path are never asked."""
    query = urlsplit(url).query
    if not query:
        return Following(None, note="the next page has another path, which is not followed") if url else _END
    return Following({**page.arguments, **_arguments_of(page.tool, query)}, query)


def _arguments_of(tool: Tool, query: str) -> dict[str, Any]:
    """Return the declared parameters in a query, so that the policy judges them. Others are only sent."""
    by_wire = {p.wire_name: p for p in tool.parameters if p.location is Location.QUERY}
    arguments: dict[str, Any] = {}
    for name, text in parse_qsl(query):
        parameter = by_wire.get(name)
        types = parameter.schema.resolved().types() if parameter is not None else ()
        if parameter is None or {"array", "object"} & set(types):
            continue
        if "integer" in types and re.fullmatch(r"-?\d{1,18}", text):
            arguments[parameter.name] = int(text)
        elif "boolean" in types and text in ("true", "false"):
            arguments[parameter.name] = text == "true"
        else:
            arguments[parameter.name] = text
    return arguments


def _by_token(page: _Current) -> Following | None:
    """A cursor in the answer or a header. Without one, the page that a cursor led to is the last."""
    for name in _TOKEN_HEADERS:
        if page.headers.get(name):
            return _with_token(page, name, page.headers[name])
    for name in _TOKENS:
        token = page.stated.get(name)
        if token not in (None, "", 0, False) and type(token) in (str, int):
            return _with_token(page, name, token)
    is_last = page.paging.cursor and (
        page.paging.cursor in page.arguments or any(name in page.stated for name in _TOKENS)
    )
    return _END if is_last else None


def _with_token(page: _Current, name: str, token: str | int) -> Following | None:
    """Put a cursor, or a number, into the parameter that takes it."""
    paging = page.paging
    if type(token) is int and paging.page and name.startswith("next"):
        return page.with_argument(paging.page, token)
    if type(token) is int and paging.offset and not paging.cursor:
        return None
    parameter = paging.cursor or paging.after or (paging.page if name in _TOKEN_HEADERS else "")
    if parameter:
        following = page.with_argument(parameter, token)
        is_echo = following.arguments is None and name not in _MAY_BE_ECHOES
        return Following(None, note=f"{name} leads to the same page again") if is_echo else following
    if paging.page or paging.offset or name in _MAY_BE_ECHOES:
        return None  # counted
    return Following(None, note=f"the answer has {name}, and no parameter takes it")


def _by_offset(page: _Current) -> Following | None:
    """The position of the next page: a number in the answer or in GitLab's `X-Next-Page`."""
    offset = page.number(_OFFSETS)
    if offset is not None and page.paging.offset:
        return page.with_argument(page.paging.offset, offset)
    text = page.headers.get("x-next-page")
    if text is None or not page.paging.page:
        return None
    return page.with_argument(page.paging.page, int(text)) if text.isascii() and text.isdigit() else _END


def _by_last_item(page: _Current) -> Following | None:
    """The id of the last item, if the answer says that more follow (Stripe)."""
    name, more = page.first_of(_MORE)
    if not more:
        return None
    last = page.stated.get("last_id")
    if last is None and page.items and isinstance(page.items[-1], Mapping):
        last = page.items[-1].get("id")
    if page.paging.after and type(last) in (str, int):
        return page.with_argument(page.paging.after, last)
    if page.paging.page or page.paging.offset:
        return None
    return Following(None, note=f"the answer has {name}: true, and nothing that leads to the next page")


#: What an answer may state, in the order of precedence. A declared field is a part of the answer too.
_RULES = (_by_declaration, _by_link_header, _by_last, _by_next, _by_token, _by_offset, _by_last_item)


def _by_counting(page: _Current) -> Following:
    """Return the next page number or offset, until a page is empty."""
    paging = page.paging
    if not page.items:
        return _END
    if paging.page:
        number, pages = page.number(_NUMBERS), page.number(_PAGES)
        position = _position(page, paging.page, number)
        if number is not None and pages is not None and number >= pages and number - position in (0, 1):
            return _END
        return page.with_argument(paging.page, position + 1, is_counted=True)
    if paging.offset:
        position = _position(page, paging.offset, page.number(("start_index", "offset", "skip", "start")))
        return page.with_argument(paging.offset, position + len(page.items), is_counted=True)
    size = page.arguments.get(paging.size) or paging.size_default if paging.size else None
    if size == len(page.items):
        return Following(None, note=f"the answer has {size} items, as many as {paging.size} allows, and more may exist")
    return _END


def _position(page: _Current, name: str, stated: int | None) -> int:
    """Return the number of the current page, or its offset: as asked, else as stated, else as the document says.

    The lowest candidate is right or too low: a page that repeats the first one is dropped, a page left out is lost.
    """
    asked = page.arguments.get(name)
    if type(asked) is int or (isinstance(asked, str) and asked.isascii() and asked.isdigit()):
        return int(asked)
    candidates = [number for number in (stated if stated in (0, 1) else None, page.paging.start) if number is not None]
    return min(candidates, default=0)


def _list_in(field: str, value: Any) -> list[Any] | None:
    """Return the list of an answer, or None: the declared one, else the usual one, also one level down."""
    if isinstance(value, list):
        return value
    if not isinstance(value, Mapping):
        return None
    if field and field != ANY_FIELD:
        part: Any = value
        for name in field.split("."):
            part = part.get(name) if isinstance(part, Mapping) else None
        if isinstance(part, list):
            return part
        if part is None and field in value:
            return []
    usual = _usual_list(value)
    return _nested_list(value) if usual is None else usual


def _usual_list(value: Mapping[str, Any]) -> list[Any] | None:
    lists = {str(name): items for name, items in value.items() if isinstance(items, list) and name not in BESIDE}
    for name in USUAL_LISTS:
        if name in lists:
            return lists[name]
    return next(iter(lists.values())) if len(lists) == 1 else None


def _nested_list(value: Mapping[str, Any]) -> list[Any] | None:
    """Return the list in HAL's `_embedded`, or in an envelope."""
    inner = [part for name in ENVELOPES if isinstance(part := value.get(name), Mapping)]
    objects = [part for part in value.values() if isinstance(part, Mapping)]
    for part in (*inner, *(objects if len(objects) == 1 else ())):
        items = _usual_list(part)
        if items is not None:
            return items
    return None


def _stated(value: Any) -> dict[str, Any]:
    """Return the scalar fields of an answer by their names in snake case: its own, and those that describe its list.

    The fields of an envelope, and those of objects such as `meta`, `links` and `pagination`, count as the answer's own.
    Fields further out take precedence.
    """
    stated: dict[str, Any] = {}
    if not isinstance(value, Mapping):
        return stated
    envelopes = [part for name, part in value.items() if snake(str(name)) in ENVELOPES and isinstance(part, Mapping)]
    for fields in (value, *envelopes):
        about = [part for name, part in fields.items() if snake(str(name)) in _ABOUT_NAMES]
        for part in (fields, *about):
            for name, scalar in _scalars(part):
                stated.setdefault(name, scalar)
    return stated


_ABOUT_NAMES = frozenset(map(snake, _ABOUT_LIST))


def _scalars(fields: Any, prefix: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Return scalar fields by their path, two levels deep. A list of links counts as an object with their relations."""
    if isinstance(fields, list):
        fields = {
            link["rel"]: link.get("href", link.get("url"))
            for link in fields[:_MOST_LINKS]
            if isinstance(link, Mapping) and isinstance(link.get("rel"), str)
        }
    for name, value in fields.items() if isinstance(fields, Mapping) else ():
        path = prefix + snake(str(name))
        if not isinstance(value, (Mapping, list)):
            yield path, value
        elif depth == 0 and isinstance(value, Mapping):
            yield from _scalars(value, f"{path}.", 1)


_MOST_LINKS = 50
