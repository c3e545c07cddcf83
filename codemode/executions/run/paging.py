"""Whole lists in one call: `operation.items(…)` and `operation.pages(…)` in a program, bounded.

The host fetches the pages through the gateway. Each page is a call in the ledger, and the program receives one list.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from codemode.catalog.paging import items_of, paging_of, total_of
from codemode.errors import ArgumentsInvalid

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from codemode.catalog.catalog import Catalog
    from codemode.catalog.tool import Tool

#: Default and largest number of pages and of items that one call returns.
PAGES = 100
ITEMS = 10_000

_LIMITS = {"items": ("limit", ITEMS), "pages": ("max_pages", PAGES)}

#: Extra argument of both: the items that the service returns at once.
PAGE_SIZE = "page_size"

#: Largest number of notes on incomplete lists in one outcome.
_MOST_NOTES = 5


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


def whole_list(name: str, catalog: Catalog) -> WholeList | None:
    """Return the request in `name`, a tool id followed by `.items` or `.pages`. Return None if there is none."""
    base, _, kind = name.rpartition(".")
    if name in catalog or kind not in _LIMITS or base not in catalog:
        return None
    return WholeList(catalog.get(base), kind, *_LIMITS[kind])


async def collect(
    wanted: WholeList,
    arguments: dict[str, Any],
    get_page: Callable[[dict[str, Any]], Awaitable[Any]],
    note: Callable[[str], None],
) -> list[Any]:
    """Fetch pages until they end, repeat or reach the limit. `get_page` returns a transport's page or raises.

    `note` is called if the list may be incomplete although no limit was given.
    """
    page_arguments = dict(arguments)
    limit = page_arguments.pop(wanted.limit_name, wanted.limit)
    if type(limit) is not int or not 0 < limit <= wanted.limit:
        message = f"{wanted.limit_name} must be an integer from 1 to {wanted.limit:,}, not {limit!r}"
        raise ArgumentsInvalid(wanted.tool.id, message, parameter=wanted.limit_name)
    _set_page_size(wanted, page_arguments, limit if wanted.kind == "items" else ITEMS)
    collected: list[Any] = []
    last: list[Any] = []
    asked: list[dict[str, Any]] = []
    while len(collected) < limit and len(asked) < PAGES:
        asked.append(page_arguments)
        page = await get_page(page_arguments)
        if page.items == last and _are_records(last):
            note(f"{wanted.tool.id}: stopped at page {len(asked)} of the list, which repeats the previous page")
            return collected
        last = page.items
        collected += page.items if wanted.kind == "items" else [page.value]
        if page.next_arguments is None:
            return collected[:limit]
        if page.next_arguments in asked:
            note(f"{wanted.tool.id}: stopped at page {len(asked)} of the list, which leads back to an earlier page")
            return collected[:limit]
        page_arguments = page.next_arguments
    if wanted.limit_name not in arguments:
        note(f"{wanted.tool.id}: the list is incomplete: one call returns at most {len(collected):,} {wanted.kind}")
    return collected[:limit]


def _set_page_size(wanted: WholeList, arguments: dict[str, Any], limit: int) -> None:
    """Set the tool's own page size: `page_size` if given, else `limit` where the default page is larger."""
    paging = paging_of(wanted.tool)
    own = next((p for p in wanted.tool.parameters if paging and p.name == paging.size), None)
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


class PartialLists:
    """The lists of which a program read some pages, and their totals."""

    def __init__(self) -> None:
        self._lists: dict[str, tuple[int, dict[str, int]]] = {}

    def add(self, tool: Tool, arguments: Mapping[str, Any], value: Any) -> None:
        """Count the items of an answer, if it states the total of a paged list."""
        total = total_of(value)
        paging = paging_of(tool) if total else None
        if total is None or paging is None or arguments.get(paging.size) == 1:  # one item is read for the total
            return
        position = {paging.cursor, paging.after, paging.page, paging.offset, paging.size}
        filters = {name: value for name, value in arguments.items() if name not in position}
        same = json.dumps([tool.id, filters], default=str, sort_keys=True)
        page = json.dumps([arguments.get(name) for name in sorted(position)], default=str)
        _, counts = self._lists.get(same, (0, {}))
        self._lists[same] = (total, {**counts, page: len(items_of(paging, value))})

    def notes(self) -> tuple[str, ...]:
        """Return a note on each list that the program did not read whole."""
        notes = []
        for same, (total, counts) in self._lists.items():
            read, tool = sum(counts.values()), json.loads(same)[0]
            if 0 < read < total:
                notes.append(f"{tool} returned {read} of {total}; .items(…) returns all")
        return tuple(dict.fromkeys(notes))[:_MOST_NOTES]
