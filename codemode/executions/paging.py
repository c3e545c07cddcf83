"""Whole lists in one call: `operation.items(…)` and `operation.pages(…)` of a program, bounded.

The host walks the pages through the gateway, each a call of its own in the ledger, and gives the program one list.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from codemode.errors import ArgumentsInvalid

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from codemode.catalog.catalog import Catalog
    from codemode.catalog.tool import Tool

#: What a program gets without asking for more or less: pages of one list, and items of one list.
PAGES = 100
ITEMS = 10_000

_LIMITS = {"items": ("max_items", ITEMS), "pages": ("max_pages", PAGES)}


class WholeList(NamedTuple):
    """A program's wish for the whole list of `tool`; `kind` is `items` or `pages`, `limit_name` its extra argument."""

    tool: Tool
    kind: str
    limit_name: str
    limit: int


def whole_list(name: str, catalog: Catalog) -> WholeList | None:
    """What `name` asks for where it is a tool's id with `.items` or `.pages` behind it, and no tool of its own."""
    base, _, kind = name.rpartition(".")
    if name in catalog or kind not in _LIMITS or base not in catalog:
        return None
    return WholeList(catalog.get(base), kind, *_LIMITS[kind])


async def collect(
    wish: WholeList,
    arguments: dict[str, Any],
    get_page: Callable[[dict[str, Any]], Awaitable[Any]],
    note: Callable[[str], None],
) -> list[Any]:
    """Walk the pages until they end, repeat or reach the limit. `get_page` gives a transport's page or raises.

    `note` is told where the list may not be whole though no limit was asked for.
    """
    rest = dict(arguments)
    limit = rest.pop(wish.limit_name, wish.limit)
    if type(limit) is not int or not 0 < limit <= wish.limit:
        message = f"{wish.limit_name} is a number from 1 to {wish.limit:,}, not {limit!r}"
        raise ArgumentsInvalid(wish.tool.id, message, parameter=wish.limit_name)
    found: list[Any] = []
    last: list[Any] = []
    asked: list[dict[str, Any]] = []
    while len(found) < limit and len(asked) < PAGES:
        asked.append(rest)
        page = await get_page(rest)
        if page.items == last and _are_records(last):
            note(f"{wish.tool.id}: page {len(asked)} of its list repeats the one before, so the walk ended there")
            return found
        last = page.items
        found += page.items if wish.kind == "items" else [page.value]
        if page.next_arguments is None:
            return found[:limit]
        if page.next_arguments in asked:
            note(
                f"{wish.tool.id}: after page {len(asked)} its list goes back to an earlier one, so the walk ended there"
            )
            return found[:limit]
        rest = page.next_arguments
    if wish.limit_name not in arguments:
        note(f"{wish.tool.id}: its list goes on after {len(found):,} {wish.kind}, which is all that one call gives")
    return found[:limit]


def _are_records(items: list[Any]) -> bool:
    """Whether two pages of such items are one and the same where they are equal: numbers may well repeat."""
    return any(isinstance(item, (Mapping, str)) for item in items)
