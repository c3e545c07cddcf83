from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from codemode.catalog.catalog import Catalog
from codemode.errors import ArgumentsInvalid
from codemode.executions.paging import ITEMS, PAGES, WholeList, collect, whole_list
from codemode.testing import make_tool

LIST = make_tool("gym.clients.list", {"offset": {"type": "integer"}})
CATALOG = Catalog((LIST, make_tool("gym.shop.items")))


@dataclass
class Page:
    value: Any
    items: list[Any]
    next_arguments: dict[str, Any] | None


class Upstream:
    """A list of `total` numbers in pages of ten, each of which says where the next one begins."""

    def __init__(self, total: float) -> None:
        self.total = total
        self.asked: list[dict[str, Any]] = []

    async def page(self, arguments: dict[str, Any]) -> Page:
        self.asked.append(arguments)
        start = arguments.get("offset", 0)
        items = list(range(start, int(min(start + 10, self.total))))
        more = start + 10 < self.total
        return Page({"items": items}, items, {**arguments, "offset": start + 10} if more else None)


def wish(kind: str) -> WholeList:
    found = whole_list(f"gym.clients.list.{kind}", CATALOG)
    assert found is not None
    return found


async def test_items_are_those_of_all_pages() -> None:
    upstream = Upstream(25)
    assert await collect(wish("items"), {"status": "active"}, upstream.page) == list(range(25))
    assert upstream.asked == [{"status": "active"}, *({"status": "active", "offset": at} for at in (10, 20))]


async def test_pages_are_the_whole_answers() -> None:
    assert [len(page["items"]) for page in await collect(wish("pages"), {}, Upstream(25).page)] == [10, 10, 5]


async def test_a_limit_ends_the_walk() -> None:
    upstream = Upstream(1_000)
    assert await collect(wish("items"), {"max_items": 15}, upstream.page) == list(range(15))
    assert len(upstream.asked) == 2


async def test_a_list_without_end_is_bounded() -> None:
    upstream = Upstream(float("inf"))
    assert len(await collect(wish("items"), {}, upstream.page)) == PAGES * 10
    assert len(upstream.asked) == PAGES


@pytest.mark.parametrize("limit", [0, -1, ITEMS + 1, "5", True, None])
async def test_a_wrong_limit_is_refused_before_anything_is_asked(limit: Any) -> None:
    upstream = Upstream(5)
    with pytest.raises(ArgumentsInvalid, match="max_items is a number from 1 to 10,000"):
        await collect(wish("items"), {"max_items": limit}, upstream.page)
    assert upstream.asked == []


@pytest.mark.parametrize("name", ["gym.shop.items", "gym.clients.list", "gym.clients.items", "gym.clients.list.all"])
def test_other_names_are_no_wish_for_a_whole_list(name: str) -> None:
    assert whole_list(name, CATALOG) is None
