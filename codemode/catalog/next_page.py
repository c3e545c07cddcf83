"""Read a page of a list: its items, the length of the whole list, and where the next page is.

The answer decides first: a `Link` header, the URL of the next page, its cursor or its number, and whether more follow.
Pages and offsets are counted only where the answer says nothing, until a page is empty. This module sends no requests.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from codemode.catalog.argument_paths import argument_at, fitting, with_argument
from codemode.catalog.identifiers import snake
from codemode.catalog.page_answer import field_at, list_in, next_objects, stated_fields, total_of
from codemode.catalog.page_words import (
    AFTER,
    CURSOR,
    LAST,
    MAY_BE_ECHOES,
    MORE,
    NEXT,
    NUMBERS,
    OFFSET,
    OFFSETS,
    OWN_TOKENS,
    PAGE,
    PAGES,
    POSITIONS,
    TOKEN_HEADERS,
    TOKENS,
    TOTAL_HEADERS,
)
from codemode.catalog.tool import Effect, Location

if TYPE_CHECKING:
    from codemode.catalog.tool import Paging, Tool

_LINK = re.compile(r"<([^<>]*)>\s*;([^,<]*(?:,(?!\s*<)[^,<]*)*)")
_SEGMENT = re.compile(r"[A-Za-z0-9_~-][A-Za-z0-9._~-]{0,500}")
_HOLE = re.compile(r"\{([^{}]+)\}")
_PAGE_RELATIONS = frozenset(("next", "prev", "previous", "first", "last"))
#: Names of arguments that lead to the next page.
_LEADING = frozenset((*CURSOR, *AFTER, *PAGE, *OFFSET))
#: Other fields that may lead to the next page.
_ANY_NEXT = re.compile(r"(^|[._])next([._]|$)")
_ANY_MORE = re.compile(r"(^|[._])more([._]|$)|cursor|continuation")

#: The headers that `next_page` and `total_of` read.
PAGE_HEADERS = ("link", "next-page", "x-next-page", *TOKEN_HEADERS, *TOTAL_HEADERS)


class Following(NamedTuple):
    """The page after this one.

    `arguments` are those of the call, None after the last page. `query` is that of `CallContext`, if the answer gave a
    URL. `is_counted` means that the answer did not say that the page exists, or that none does. `note` says why the
    list may continue although nothing leads further.
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
    value: Any
    stated: Mapping[str, Any]

    def first_of(self, names: tuple[str, ...]) -> tuple[str, Any]:
        """Return the first of these fields that the answer has, with its value."""
        return next(((name, self.stated[name]) for name in names if name in self.stated), ("", None))

    def number(self, names: tuple[str, ...]) -> int | None:
        """Return the first of these fields that holds an integer."""
        return next((value for name in names if type(value := self.stated.get(name)) is int), None)

    def with_argument(self, name: str, value: object, *, is_counted: bool = False) -> Following:
        """Return the call with this argument. The same arguments again are the end."""
        following = with_argument(self.arguments, name, fitting(self.tool, name, value))
        return Following(following, is_counted=is_counted) if following != dict(self.arguments) else _END


def items_of(paging: Paging, value: Any) -> list[Any]:
    """Return the items of a page, [] if it has no list."""
    return list_in(paging.items, value) or []


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
        "is_list": list_in(paging.items, value) is not None or value in (None, {}),
    }


def next_page(
    tool: Tool, paging: Paging, arguments: Mapping[str, Any], value: Any, headers: Mapping[str, str] | None = None
) -> Following:
    """Return what leads to the next page.

    `arguments` are those of the current page; `headers` have lower-case names.
    """
    items = list_in(paging.items, value)
    page = _Current(tool, paging, arguments, items or [], headers or {}, value, stated_fields(value))
    rules = (rule(page) for rule in _RULES)
    following = next((each for each in rules if each is not None), None) or _by_counting(page)
    if items is None and value not in (None, {}):
        return following._replace(note="the answer has no list that is recognised; .pages(…) returns it whole")
    return following


def _by_declaration(page: _Current) -> Following | None:
    """The field that the document declares: a URL, or what the parameter of the next page takes."""
    paging = page.paging
    if not paging.next:
        return None
    value = field_at(page.value, paging.next)
    if value in (None, "", False):
        return _without_next(page, paging.next)
    if isinstance(value, str) and _is_url(value):
        return _by_url(page, value)
    parameter = paging.cursor or paging.after or paging.page or paging.offset
    return page.with_argument(parameter, value) if parameter else None


def _without_next(page: _Current, name: str) -> Following:
    """The end, unless the answer says that more follow."""
    more, value = page.first_of(MORE)
    return Following(None, note=f"the answer has {more}: true, but no {name}") if value is True else _END


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
    is_over = any(page.stated.get(name) in (False, "false") for name in MORE if name in page.stated)
    return _END if is_over or any(page.stated.get(name) is True for name in LAST) else None


def _by_next(page: _Current) -> Following | None:
    """The URL of the next page, in any of the usual fields; or its number or cursor in a field with such a name."""
    for name in NEXT:
        value = page.stated.get(name)
        if isinstance(value, str) and _is_url(value):
            return _by_url(page, value)
        if value not in (None, "", False, 0) and isinstance(value, (str, int)) and value is not True:
            return _with_token(page, name, value)
    for fields in next_objects(page.value):
        following = _by_next_arguments(page, fields)
        if following is not None:
            return following
    is_over = any(name in page.stated for name in NEXT) and not any(name in page.stated for name in OWN_TOKENS)
    return _END if is_over and page.first_of(MORE)[1] is not True else None


def _by_next_arguments(page: _Current, fields: Mapping[str, Any]) -> Following | None:
    """An object with the arguments of the next page (Intercom), also of parameters that the document does not name."""
    named = {str(name): value for name, value in fields.items() if type(value) in (str, int) and value != ""}
    leading = {name: value for name, value in named.items() if snake(name) in _LEADING}
    paging = page.paging
    for path in filter(None, (paging.cursor, paging.after, paging.page, paging.offset)):
        value = next((value for name, value in leading.items() if snake(name) == snake(path.rpartition(".")[2])), None)
        if value is not None:
            return page.with_argument(path, value)
    if not leading or page.tool.effect is not Effect.READ:
        return None
    return Following(dict(page.arguments), f"&{urlencode(leading)}")


def _by_url(page: _Current, url: str) -> Following:
    """Ask the same operation with the query of the URL, or with its path if that is the operation's own.

    Its host is never asked. A path below that of the operation is, by one plain segment (Salesforce).
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return Following(None, note="the URL of the next page is invalid")
    query, arguments = parts.query, {**page.arguments, **_arguments_of(page.tool, parts.query)}
    in_path = _path_arguments(page.tool, parts.path)
    if in_path is not None and arguments | in_path != arguments:
        return Following(arguments | in_path, query)
    parent, _, segment = parts.path.rpartition("/")
    if in_path is None and _SEGMENT.fullmatch(segment) and page.tool.effect is Effect.READ:
        above = _path_arguments(page.tool, parent)
        if above is not None and arguments | above == arguments:
            return Following(arguments, f"/{segment}?{query}")
    if not query:
        return Following(None, note="the next page has another path, which is not followed") if url else _END
    return Following(arguments, query)


def _path_arguments(tool: Tool, path: str) -> dict[str, Any] | None:
    """Return the arguments in the path of a URL, None if it is no path of the operation at any base URL."""
    template = tool.key.removeprefix("GET ") if tool.key.startswith("GET /") else ""
    parameters = {p.wire_name: p for p in tool.parameters if p.location is Location.PATH}
    names = _HOLE.findall(template)
    if not template or not parameters.keys() >= set(names):
        return None
    pattern = "".join(map(_segment_pattern, template.strip("/").split("/")))
    match = re.search(f"{pattern}/?$", path if path.startswith("/") else f"/{path}")
    if match is None:
        return None
    own = {parameters[name].name: unquote(text) for name, text in zip(names, match.groups(), strict=True)}
    return {name: fitting(tool, name, text) for name, text in own.items()}


def _segment_pattern(segment: str) -> str:
    """Return the pattern of one segment of a template, after its slash."""
    parts = _HOLE.split(segment)
    return "/" + "".join("([^/]+)" if index % 2 else re.escape(part) for index, part in enumerate(parts))


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
    for name in TOKEN_HEADERS:
        if page.headers.get(name):
            return _with_token(page, name, page.headers[name])
    own = page.paging.cursor.rpartition(".")[2]
    for name in (*TOKENS, *((f"next_{own}", own) if own else ())):
        token = page.stated.get(name)
        if token not in (None, "", 0, False) and type(token) in (str, int):
            return _with_token(page, name, token)
    if page.paging.cursor:
        names = (name for name, value in page.stated.items() if _ANY_NEXT.search(name) and isinstance(value, str))
        name = next((name for name in names if page.stated[name] and not _is_url(page.stated[name])), "")
        if name:
            return _with_token(page, name, page.stated[name])
    is_known = any(name in page.stated for name in TOKENS)
    is_last = page.paging.cursor and (argument_at(page.arguments, page.paging.cursor) is not None or is_known)
    return _without_next(page, "cursor") if is_last else None


def _with_token(page: _Current, name: str, token: str | int) -> Following | None:
    """Put a cursor, or a number, into the parameter that takes it."""
    paging = page.paging
    if type(token) is int and paging.page and name.startswith("next"):
        return page.with_argument(paging.page, token)
    if type(token) is int and paging.offset and not paging.cursor:
        return None
    parameter = paging.cursor or paging.after or (paging.page if name in TOKEN_HEADERS else "")
    if parameter:
        following = page.with_argument(parameter, token)
        may_be_echo = name in MAY_BE_ECHOES or name == parameter.rpartition(".")[2]
        is_echo = following.arguments is None and not may_be_echo
        return Following(None, note=f"{name} leads to the same page again") if is_echo else following
    if paging.page or paging.offset or name in MAY_BE_ECHOES:
        return None  # counted
    return Following(None, note=f"the answer has {name}, and no parameter takes it")


def _by_offset(page: _Current) -> Following | None:
    """The position of the next page: a number in the answer or in GitLab's `X-Next-Page`."""
    offset = page.number(OFFSETS)
    if offset is not None and page.paging.offset:
        return page.with_argument(page.paging.offset, offset)
    text = page.headers.get("x-next-page")
    if text is None or not page.paging.page:
        return None
    return page.with_argument(page.paging.page, int(text)) if text.isascii() and text.isdigit() else _END


def _by_last_item(page: _Current) -> Following | None:
    """The id of the last item, if the answer says that more follow (Stripe)."""
    name, more = page.first_of(MORE)
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
        number, pages = page.number(NUMBERS), page.number(PAGES)
        position = _position(page, paging.page, number)
        if number is not None and pages is not None and number >= pages and number - position in (0, 1):
            return _END
        return page.with_argument(paging.page, position + 1, is_counted=True)
    if paging.offset:
        position = _position(page, paging.offset, page.number(POSITIONS))
        return page.with_argument(paging.offset, position + len(page.items), is_counted=True)
    return _unproved(page)


def _unproved(page: _Current) -> Following:
    """The end, with a note if the answer may have been cut. A total is compared elsewhere."""
    paging, count = page.paging, len(page.items)
    size = (argument_at(page.arguments, paging.size) or paging.size_default) if paging.size else None
    hint = next((name for name, value in page.stated.items() if value and _ANY_MORE.search(name)), "")
    note = ""
    if total_of(page.value, page.headers) is not None:
        pass
    elif size == count:
        note = f"the answer has {size} items, as many as {paging.size} allows, and more may exist"
    elif hint:
        note = f"the answer has {hint}, and nothing that is known to lead to the next page"
    elif size is None and (paging.size or paging.kind != "link") and (count % 10 == 0 or count == _QUARTER):
        note = f"the answer has {count} items and does not say whether more exist"
    return Following(None, is_counted=True, note=note)


#: A usual size of pages, beside multiples of ten.
_QUARTER = 25


def _position(page: _Current, name: str, stated: int | None) -> int:
    """Return the number of the current page, or its offset: as asked, else as stated, else as the document says.

    The lowest candidate is right or too low: a page that repeats the first one is dropped, a page left out is lost.
    """
    asked = argument_at(page.arguments, name)
    if type(asked) is int or (isinstance(asked, str) and asked.isascii() and asked.isdigit()):
        return int(asked)
    candidates = [number for number in (stated if stated in (0, 1) else None, page.paging.start) if number is not None]
    return min(candidates, default=0)
