"""Whole lists in one call: `operation.items(…)` and `operation.pages(…)` in a program, bounded.

The host fetches the pages through the gateway. Each page is a call in the ledger, and the program receives one list.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from codemode.errors import ArgumentsInvalid

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from codemode.catalog.catalog import Catalog
    from codemode.catalog.tool import Tool

#: Default and largest number of pages and of items that one call returns.
PAGES = 100
ITEMS = 10_000

_LIMITS = {"items": ("max_items", ITEMS), "pages": ("max_pages", PAGES)}


class WholeList(NamedTuple):
    """A request for the whole list of `tool`. `kind` is `items` or `pages`; `limit_name` is its extra argument."""

    tool: Tool
    kind: str
    limit_name: str
    limit: int


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


def _are_records(items: list[Any]) -> bool:
    """Return whether equal pages of such items mean the same page. Lists of numbers may repeat by chance."""
    return any(isinstance(item, (Mapping, str)) for item in items)
