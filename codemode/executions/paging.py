"""Whole lists in one call: `operation.items(…)` and `operation.pages(…)` of a program, bounded.

The host walks the pages through the gateway, each a call of its own in the ledger, and gives the program one list.
"""

from __future__ import annotations

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
    wish: WholeList, arguments: dict[str, Any], get_page: Callable[[dict[str, Any]], Awaitable[Any]]
) -> list[Any]:
    """Walk the pages until they end or the limit is reached. `get_page` gives a transport's page or raises."""
    rest = dict(arguments)
    limit = rest.pop(wish.limit_name, wish.limit)
    if type(limit) is not int or not 0 < limit <= wish.limit:
        message = f"{wish.limit_name} is a number from 1 to {wish.limit:,}, not {limit!r}"
        raise ArgumentsInvalid(wish.tool.id, message, parameter=wish.limit_name)
    found: list[Any] = []
    for _ in range(PAGES):
        page = await get_page(rest)
        found += page.items if wish.kind == "items" else [page.value]
        if page.next_arguments is None or len(found) >= limit:
            break
        rest = page.next_arguments
    return found[:limit]
