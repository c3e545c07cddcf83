"""Whole lists in one call: `operation.items(…)` and `operation.pages(…)` in a program, bounded.

The host fetches the pages through the gateway. Each page is a call in the ledger, and the program receives one list.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from codemode.catalog.argument_paths import argument_at, with_argument
from codemode.catalog.paging import walked
from codemode.errors import ArgumentsInvalid
from sandbox import CallFailed

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from codemode.catalog.catalog import Catalog
    from codemode.catalog.tool import Tool
    from codemode.transports.base import Page

    GetPage = Callable[[dict[str, Any], str], Awaitable[Page]]  #: by the arguments, and the query of a next page

#: Default and largest number of pages and of items that one call returns.
PAGES = 100
ITEMS = 10_000

_LIMITS = {"items": ("limit", ITEMS), "pages": ("max_pages", PAGES)}

#: Extra argument of both: the items that the service returns at once.
PAGE_SIZE = "page_size"

#: Statuses with which services answer for a page beyond the last one.
_BEYOND_END = (404, 410, 416)

#: Largest number of characters of a page's arguments in an error.
_LONGEST_CALL = 300


class WholeList(NamedTuple):
    """A request for the whole list of `tool`. `kind` is `items` or `pages`; `limit_name` is its extra argument."""

    tool: Tool
    kind: str
    limit_name: str
    limit: int

    @property
    def extra_names(self) -> tuple[str, ...]:
        """The arguments that it accepts beside those of the tool."""
        return self.limit_name, PAGE_SIZE

    def problem(self) -> str:
        """Return why the tool has no list, "" if it has."""
        return "" if walked(self.tool) is not None else f"{self.tool.id} has no pages"


def whole_list(name: str, catalog: Catalog) -> WholeList | None:
    """Return the request in `name`, a tool id followed by `.items` or `.pages`. Return None if there is none."""
    base, _, kind = name.rpartition(".")
    if name in catalog or kind not in _LIMITS or base not in catalog:
        return None
    return WholeList(catalog.get(base), kind, *_LIMITS[kind])


async def collect(
    wanted: WholeList, arguments: dict[str, Any], get_page: GetPage, note: Callable[[str], None]
) -> list[Any]:
    """Fetch pages until they end, repeat or reach the limit. `get_page` returns a transport's page.

    `note` is called if the list may be incomplete although no limit was given. Raises CallFailed if a page fails; its
    body has the items of the pages before.
    """
    page_arguments = dict(arguments)
    limit = page_arguments.pop(wanted.limit_name, wanted.limit)
    if type(limit) is not int or not 0 < limit <= wanted.limit:
        message = f"{wanted.limit_name} must be an integer from 1 to {wanted.limit:,}, not {limit!r}"
        raise ArgumentsInvalid(wanted.tool.id, message, parameter=wanted.limit_name)
    _set_page_size(wanted, page_arguments, limit if wanted.kind == "items" else ITEMS)
    walk = _Walk(wanted, page_arguments, limit)
    while not walk.is_over:
        await walk.step(get_page)
    if walk.note and (wanted.limit_name not in arguments or len(walk.collected) < limit):
        note(f"{wanted.tool.id}: {walk.note}")
    return walk.collected[:limit]


class _Walk:
    """The pages of a list that were read, and the call for the next one. `note` says why they may not be all."""

    def __init__(self, wanted: WholeList, arguments: dict[str, Any], limit: int) -> None:
        self.collected: list[Any] = []
        self.note = ""
        self.is_over = False
        self._wanted = wanted
        self._limit = limit
        self._next: tuple[dict[str, Any], str] = (arguments, "")
        self._asked: list[tuple[dict[str, Any], str]] = []
        self._last: Page | None = None
        self._read = 0
        self._page, self._offset = _counted(wanted.tool)
        self._size = _size(wanted.tool, arguments)
        self._digests: set[str] = set()  # of the pages that were read
        self._is_led = False  # the answers lead through the list
        self._is_whole = not any(
            argument_at(arguments, path) is not None for path in (self._page, self._offset) if path
        )

    async def step(self, get_page: GetPage) -> None:
        """Read the next page. Raises CallFailed if that fails, unless it is beyond the last one."""
        last, page = self._last, await self._fetched(get_page)
        if page is None:
            return
        if last is not None and last.is_counted:
            items = self._new_items(page.items, last.items)
            if len(items) < len(page.items):
                page = replace(page, items=items)
        if last is not None and (repetition := self._repetition(page, last)):
            if not self._is_first_again():
                self._end(f"stopped at page {self._number} of the list, which repeats {repetition}")
                return
        else:
            self._read += len(page.items)
            self.collected += page.items if self._wanted.kind == "items" else [page.value]
        self._last = page
        self._go_on(page)

    @property
    def _number(self) -> int:
        return len(self._asked)

    async def _fetched(self, get_page: GetPage) -> Page | None:
        """Return the next page, None if the service says that there is none."""
        self._asked.append(self._next)
        try:
            return await get_page(*self._next)
        except CallFailed as error:
            if self._last is None:
                raise
            is_whole = self._is_whole and self._last.total == self._read
            if self._last.is_counted and error.status is not None and (is_whole or error.status in _BEYOND_END):
                self._end("" if is_whole else f"the list ended at page {self._number}, which answered {error.status}")
                return None
            raise self._failed(error) from None

    def _failed(self, error: CallFailed) -> CallFailed:
        """Return the error of a page, with what was read before it."""
        first, arguments = self._asked[0][0], self._next[0]
        changed = {name: value for name, value in arguments.items() if first.get(name) != value}
        at = f" ({', '.join(f'{name}={value!r}' for name, value in changed.items())})" if changed else ""
        message = (
            f"{error}; this was page {self._number} of the list{at[:_LONGEST_CALL]}; "
            f"e.body[{self._wanted.kind!r}] has the {self._read:,} items of the pages before it"
        )
        body = {self._wanted.kind: self.collected[: self._limit], "next_arguments": arguments, "body": error.body}
        return CallFailed(message, kind=error.kind, status=error.status, body=body, retry_after_s=error.retry_after_s)

    def _new_items(self, items: list[Any], before: list[Any]) -> list[Any]:
        """Return the items of a counted page without one that ended the page before: the offset of the first is 1."""
        is_same = self._offset and len(items) > 1 and before and items[0] == before[-1] and _are_records(items[:1])
        return items[1:] if is_same else items

    def _repetition(self, page: Page, last: Page) -> str:
        """Return which page was the same, "" if none was. Without ids, a page of one item may come twice."""
        if not _are_records(page.items):
            return ""
        if page.items == last.items:
            return "the previous page"
        self._digests.add(_digest(last.items))
        first = page.items[0]
        is_certain = last.is_counted or len(page.items) > 1 or (isinstance(first, Mapping) and "id" in first)
        return "an earlier page" if is_certain and _digest(page.items) in self._digests else ""

    def _is_first_again(self) -> bool:
        """Return whether the page is the first one, which was asked without a number, now by its number."""
        numbers = [argument_at(arguments, self._page) for arguments, _ in self._asked]
        return bool(self._page) and numbers in ([None, 0], [None, 1])

    def _go_on(self, page: Page) -> None:
        following = None if page.next_arguments is None else (page.next_arguments, page.next_query)
        if self._is_led and page.is_counted:
            following, page = None, replace(page, note="")
        if not page.is_list and self._wanted.kind == "items":
            following = None
        elif not page.is_list and page.note:
            page = replace(page, note="")  # `.pages` returns the answers whole
        self._is_led = self._is_led or (following is not None and not page.is_counted)
        is_whole = page.is_counted and self._is_whole and page.total == self._read and self._is_total(page)
        if len(self.collected) >= self._limit or self._number >= PAGES:
            self.is_over = True
            if following is not None and not is_whole:
                kind = self._wanted.kind
                self.note = f"the list is incomplete: one call returns at most {len(self.collected):,} {kind}"
        elif following is None or is_whole:
            self._end(page.note)
        elif following in self._asked:
            self._end(f"stopped at page {self._number} of the list, which leads back to an earlier page")
        else:
            self._next = following

    def _is_total(self, page: Page) -> bool:
        """Return whether the total is that of the list: on a first page that may be full, it may be the page's."""
        return self._number > 1 or len(page.items) < self._size or not page.items

    def _end(self, note: str) -> None:
        """End the walk. A total that the service stated is compared."""
        total = self._last.total if self._last is not None else None
        if not note and self._is_whole and total is not None and total > self._read:
            note = f"the list has {self._read:,} items, and the service states {total:,}"
        self.note, self.is_over = note, True


def _counted(tool: Tool) -> tuple[str, str]:
    """Return the parameters that take the number of a page and an offset, "" for none."""
    paging = walked(tool)
    return (paging.page, "" if paging.page else paging.offset) if paging is not None else ("", "")


def _size(tool: Tool, arguments: Mapping[str, Any]) -> int:
    """Return the number of items of a full page, 0 if it is not known."""
    paging = walked(tool)
    size = (argument_at(arguments, paging.size) or paging.size_default) if paging is not None and paging.size else None
    return size if type(size) is int else 0


def _digest(items: list[Any]) -> str:
    """Return what tells pages of records apart. Hashing all items of a large page would take long."""
    ends = [len(items), *items[:1], *items[-1:]]
    return hashlib.sha256(json.dumps(ends, default=str).encode()).hexdigest()


def _set_page_size(wanted: WholeList, arguments: dict[str, Any], limit: int) -> None:
    """Set the tool's own page size: `page_size` if given, else `limit` where the default page is larger."""
    paging = walked(wanted.tool)
    own = next((p for p in wanted.tool.parameters if paging and p.name == paging.size), None)
    if own is None and paging is not None and paging.size and PAGE_SIZE in arguments:  # a field of an object
        arguments.update(with_argument(arguments, paging.size, arguments.pop(PAGE_SIZE)))
        return
    if own is None or paging is None:
        if PAGE_SIZE in arguments and not any(p.name == PAGE_SIZE for p in wanted.tool.parameters):
            message = f"{wanted.tool.id} has no page size; leave {PAGE_SIZE} out"
            raise ArgumentsInvalid(wanted.tool.id, message, parameter=PAGE_SIZE)
        return
    if PAGE_SIZE in arguments:
        arguments[own.name] = arguments.pop(PAGE_SIZE)
    elif own.name not in arguments and (own.required or limit < (paging.size_default or 0)):
        most = own.schema.first("maximum")
        arguments[own.name] = min(limit, most) if isinstance(most, int) else limit


def _are_records(items: list[Any]) -> bool:
    """Return whether equal pages of such items mean the same page. Lists of numbers may repeat by chance."""
    return any(isinstance(item, (Mapping, str)) for item in items)
