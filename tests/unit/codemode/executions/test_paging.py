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
    """A list of `total` numbers in pages of ten, each with the position of the next page."""

    def __init__(self, total: float) -> None:
        self.total = total
        self.asked: list[dict[str, Any]] = []

    async def page(self, arguments: dict[str, Any]) -> Page:
        self.asked.append(arguments)
        start = arguments.get("offset", 0)
        items = list(range(start, int(min(start + 10, self.total))))
        more = start + 10 < self.total
        return Page({"items": items}, items, {**arguments, "offset": start + 10} if more else None)


async def walked(kind: str, arguments: dict[str, Any], upstream: Upstream) -> tuple[list[Any], list[str]]:
    notes: list[str] = []
    return await collect(wish(kind), arguments, upstream.page, notes.append), notes


def wish(kind: str) -> WholeList:
    found = whole_list(f"gym.clients.list.{kind}", CATALOG)
    assert found is not None
    return found


async def test_items_are_those_of_all_pages() -> None:
    upstream = Upstream(25)
    assert await walked("items", {"status": "active"}, upstream) == (list(range(25)), [])
    assert upstream.asked == [{"status": "active"}, *({"status": "active", "offset": at} for at in (10, 20))]


async def test_pages_are_the_whole_answers() -> None:
    pages, notes = await walked("pages", {}, Upstream(25))
    assert ([len(page["items"]) for page in pages], notes) == ([10, 10, 5], [])


async def test_a_limit_ends_the_walk() -> None:
    upstream = Upstream(1_000)
    assert await walked("items", {"max_items": 15}, upstream) == (list(range(15)), [])
    assert len(upstream.asked) == 2


async def test_a_list_without_end_is_bounded() -> None:
    upstream = Upstream(float("inf"))
    found, notes = await walked("items", {}, upstream)
    assert (len(found), len(upstream.asked)) == (PAGES * 10, PAGES)
    assert notes == ["gym.clients.list: the list is incomplete: one call returns at most 1,000 items"]


class Clamped(Upstream):
    """Repeats its last page, as a new one, for later positions."""

    async def page(self, arguments: dict[str, Any]) -> Page:
        self.asked.append(arguments)
        offset = arguments.get("offset", 0)
        start = min(offset, int(self.total) - 10)
        items = [{"id": number} for number in range(start, start + 10)]
        return Page({"items": items, "offset": offset}, items, {**arguments, "offset": offset + 10})


@pytest.mark.parametrize("kind", ["items", "pages"])
async def test_a_service_that_repeats_its_last_page_is_asked_once_more(kind: str) -> None:
    upstream = Clamped(30)
    found, notes = await walked(kind, {}, upstream)
    assert len(upstream.asked) == 4
    assert len(found) == (30 if kind == "items" else 3)
    assert notes == ["gym.clients.list: stopped at page 4 of the list, which repeats the previous page"]


class Circular(Upstream):
    """A list whose fourth page is the second."""

    async def page(self, arguments: dict[str, Any]) -> Page:
        page = await super().page(arguments)
        return Page(page.value, page.items, {"offset": 10} if arguments.get("offset") == 20 else page.next_arguments)


async def test_a_list_that_goes_round_is_walked_once() -> None:
    upstream = Circular(1_000)
    found, notes = await walked("items", {}, upstream)
    assert (found, len(upstream.asked)) == (list(range(30)), 3)
    assert notes == ["gym.clients.list: stopped at page 3 of the list, which leads back to an earlier page"]


async def test_numbers_may_be_the_same_on_two_pages() -> None:
    class Zeros(Upstream):
        async def page(self, arguments: dict[str, Any]) -> Page:
            page = await super().page(arguments)
            return Page(page.value, [0] * len(page.items), page.next_arguments)

    assert await walked("items", {}, Zeros(30)) == ([0] * 30, [])


@pytest.mark.parametrize("limit", [0, -1, ITEMS + 1, "5", True, None])
async def test_a_wrong_limit_is_refused_before_anything_is_asked(limit: Any) -> None:
    upstream = Upstream(5)
    with pytest.raises(ArgumentsInvalid, match="max_items must be an integer from 1 to 10,000"):
        await walked("items", {"max_items": limit}, upstream)
    assert upstream.asked == []


@pytest.mark.parametrize("name", ["gym.shop.items", "gym.clients.list", "gym.clients.items", "gym.clients.list.all"])
def test_other_names_are_no_wish_for_a_whole_list(name: str) -> None:
    assert whole_list(name, CATALOG) is None
