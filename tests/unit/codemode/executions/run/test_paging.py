from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from codemode.catalog.catalog import Catalog
from codemode.errors import ArgumentsInvalid
from codemode.executions.run.paging import ITEMS, PAGES, WholeList, collect, whole_list
from codemode.testing import make_tool
from codemode.transports.base import Page
from sandbox import CallFailed

LIST = make_tool("gym.clients.list", {"offset": {"type": "integer"}})
CATALOG = Catalog((LIST, make_tool("gym.shop.items")))


class Upstream:
    """A list of `total` numbers in pages of ten, each with the position of the next page."""

    def __init__(self, total: float) -> None:
        self.total = total
        self.asked: list[dict[str, Any]] = []

    async def page(self, arguments: dict[str, Any], query: str = "") -> Page:
        self.asked.append(arguments)
        start = arguments.get("offset", 0)
        items = list(range(start, int(min(start + 10, self.total))))
        more = start + 10 < self.total
        return Page({"items": items}, items, {**arguments, "offset": start + 10} if more else None)


async def walked(kind: str, arguments: dict[str, Any], upstream: Upstream) -> tuple[list[Any], list[str]]:
    notes: list[str] = []
    return await collect(wish(kind), arguments, upstream.page, notes.append), notes


def unnoted(note: str) -> None:
    pytest.fail(f"noted: {note}")


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
    assert await walked("items", {"limit": 15}, upstream) == (list(range(15)), [])
    assert len(upstream.asked) == 2


SIZED = Catalog(
    (make_tool("gym.clients.list", {"offset": {"type": "integer"}, "limit": {"type": "integer", "default": 10}}),)
)


@pytest.mark.parametrize(
    ("arguments", "sent", "count"),
    [
        ({"limit": 5}, {"limit": 5}, 5),
        ({"limit": 15}, {}, 15),
        ({"page_size": 50}, {"limit": 50}, 25),
        ({"limit": 12, "page_size": 10}, {"limit": 10}, 12),
    ],
)
async def test_a_limit_is_of_items_and_a_page_size_has_its_own_name(
    arguments: dict[str, Any], sent: dict[str, Any], count: int
) -> None:
    upstream = Upstream(25)
    wanted = whole_list("gym.clients.list.items", SIZED)
    assert wanted is not None
    assert await collect(wanted, arguments, upstream.page, unnoted) == list(range(count))
    assert upstream.asked[0] == sent


async def test_a_required_page_size_is_within_its_maximum() -> None:
    size = {"type": "integer", "maximum": 10}
    catalog = Catalog((make_tool("a.b.list", {"offset": {"type": "integer"}, "limit": size}, required=("limit",)),))
    upstream, wanted = Upstream(25), whole_list("a.b.list.items", catalog)
    assert wanted is not None
    assert len(await collect(wanted, {"limit": 20}, upstream.page, unnoted)) == 20
    assert upstream.asked[0] == {"limit": 10}


async def test_a_page_size_is_rejected_where_there_is_none() -> None:
    upstream = Upstream(25)
    with pytest.raises(ArgumentsInvalid, match="has no page size; leave page_size out"):
        await walked("items", {"page_size": 5}, upstream)
    assert upstream.asked == []


async def test_a_list_without_end_is_bounded() -> None:
    upstream = Upstream(float("inf"))
    found, notes = await walked("items", {}, upstream)
    assert (len(found), len(upstream.asked)) == (PAGES * 10, PAGES)
    assert notes == ["gym.clients.list: the list is incomplete: one call returns at most 1,000 items"]


class Clamped(Upstream):
    """Repeats its last page, as a new one, for later positions."""

    async def page(self, arguments: dict[str, Any], query: str = "") -> Page:
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

    async def page(self, arguments: dict[str, Any], query: str = "") -> Page:
        page = await super().page(arguments)
        return Page(page.value, page.items, {"offset": 10} if arguments.get("offset") == 20 else page.next_arguments)


async def test_a_list_that_goes_round_is_walked_once() -> None:
    upstream = Circular(1_000)
    found, notes = await walked("items", {}, upstream)
    assert (found, len(upstream.asked)) == (list(range(30)), 3)
    assert notes == ["gym.clients.list: stopped at page 3 of the list, which leads back to an earlier page"]


async def test_numbers_may_be_the_same_on_two_pages() -> None:
    class Zeros(Upstream):
        async def page(self, arguments: dict[str, Any], query: str = "") -> Page:
            page = await super().page(arguments)
            return Page(page.value, [0] * len(page.items), page.next_arguments)

    assert await walked("items", {}, Zeros(30)) == ([0] * 30, [])


@pytest.mark.parametrize("limit", [0, -1, ITEMS + 1, "5", True, None])
async def test_a_wrong_limit_is_refused_before_anything_is_asked(limit: Any) -> None:
    upstream = Upstream(5)
    with pytest.raises(ArgumentsInvalid, match="limit must be an integer from 1 to 10,000"):
        await walked("items", {"limit": limit}, upstream)
    assert upstream.asked == []


@pytest.mark.parametrize("name", ["gym.shop.items", "gym.clients.list", "gym.clients.items", "gym.clients.list.all"])
def test_other_names_are_no_wish_for_a_whole_list(name: str) -> None:
    assert whole_list(name, CATALOG) is None


class Failing(Upstream):
    """A list that is counted, and whose fourth page fails."""

    def __init__(self, status: int, *, total: int | None = None) -> None:
        super().__init__(1_000)
        self.status = status
        self.stated = total

    async def page(self, arguments: dict[str, Any], query: str = "") -> Page:
        if arguments.get("offset") == 30:
            raise CallFailed("gym answered", kind="upstream_error", status=self.status, body={"why": "x"})
        return replace(await super().page(arguments), is_counted=True, total=self.stated)


async def test_a_page_that_fails_is_named_and_what_was_read_stays() -> None:
    with pytest.raises(CallFailed, match=r"this was page 4 of the list \(offset=30\); e.body\['items'\] has") as raised:
        await walked("items", {}, Failing(403))
    assert raised.value.status == 403
    assert raised.value.body == {
        "items": list(range(30)),
        "next_arguments": {"offset": 30},
        "body": {"why": "x"},
    }


async def test_the_first_page_fails_as_any_call() -> None:
    with pytest.raises(CallFailed, match=r"^gym answered$"):
        await walked("items", {"offset": 30}, Failing(403))


async def test_a_counted_page_that_does_not_exist_ends_the_list() -> None:
    found, notes = await walked("items", {}, Failing(404))
    assert found == list(range(30))
    assert notes == ["gym.clients.list: the list ended at page 4, which answered 404"]


async def test_counting_ends_at_the_total() -> None:
    upstream = Failing(500, total=30)
    assert await walked("items", {}, upstream) == (list(range(30)), [])


async def test_a_total_that_was_not_reached_is_noted() -> None:
    class Short(Upstream):
        async def page(self, arguments: dict[str, Any], query: str = "") -> Page:
            return replace(await super().page(arguments), total=99)

    found, notes = await walked("items", {}, Short(25))
    assert (len(found), notes) == (25, ["gym.clients.list: the list has 25 items, and the service states 99"])
    assert await walked("items", {"offset": 10}, Short(25)) == (list(range(10, 25)), [])


async def test_the_query_of_the_next_page_goes_on() -> None:
    class Linked(Upstream):
        async def page(self, arguments: dict[str, Any], query: str = "") -> Page:
            number = int(query or 0)
            return Page([], [number], arguments if number < 3 else None, next_query=str(number + 1))

    assert await walked("items", {"status": "active"}, Linked(0)) == ([0, 1, 2, 3], [])


PAGED = Catalog((make_tool("gym.clients.list", {"page": {"type": "integer"}}),))


class Numbered(Upstream):
    """Pages of ten records, numbered from `first`, which answers without a number get too."""

    def __init__(self, total: int, first: int) -> None:
        super().__init__(total)
        self.first = first

    async def page(self, arguments: dict[str, Any], query: str = "") -> Page:
        number = arguments.get("page", self.first) - self.first
        items = [{"id": at} for at in range(number * 10, int(min(number * 10 + 10, self.total)))]
        following = {"page": arguments.get("page", 0) + 1} if items else None
        return Page(items, items, following, is_counted=True)


@pytest.mark.parametrize("first", [0, 1])
async def test_pages_that_start_anywhere_are_read_once(first: int) -> None:
    wanted = whole_list("gym.clients.list.items", PAGED)
    assert wanted is not None
    found = await collect(wanted, {}, Numbered(25, first).page, unnoted)
    assert [item["id"] for item in found] == list(range(25))


async def test_an_item_that_two_counted_pages_share_is_read_once() -> None:
    class FromOne(Upstream):
        async def page(self, arguments: dict[str, Any], query: str = "") -> Page:
            start = max(0, arguments.get("offset", 1) - 1)
            items = [{"id": at} for at in range(start, int(min(start + 10, self.total)))]
            following = {"offset": arguments.get("offset", 0) + len(items)} if items else None
            return Page(items, items, following, is_counted=True)

    found, _ = await walked("items", {}, FromOne(25))
    assert [item["id"] for item in found] == list(range(25))


class OfSteps(Upstream):
    """Pages of records: their ids, whether the next page is counted, and the stated total. An empty one is the last."""

    def __init__(self, pages: list[tuple[list[int], bool, int | None]]) -> None:
        super().__init__(0)
        self.steps = pages

    async def page(self, arguments: dict[str, Any], query: str = "") -> Page:
        ids, is_counted, total = self.steps[len(self.asked) % len(self.steps)]
        self.asked.append(arguments)
        items = [{"id": at} for at in ids]
        following = {"offset": len(self.asked)} if items else None
        return Page(items, items, following, is_counted=is_counted, total=total)


async def test_a_list_that_its_answers_lead_through_is_not_counted_afterwards() -> None:
    upstream = OfSteps([([1], False, None), ([2], False, None), ([3], True, None)])
    assert await walked("items", {}, upstream) == ([{"id": 1}, {"id": 2}, {"id": 3}], [])
    assert len(upstream.asked) == 3


async def test_a_counted_page_that_was_read_before_ends_the_list() -> None:
    upstream = OfSteps([([1], True, None), ([2], True, None)])
    found, notes = await walked("items", {}, upstream)
    assert (found, len(upstream.asked)) == ([{"id": 1}, {"id": 2}], 3)
    assert notes == ["gym.clients.list: stopped at page 3 of the list, which repeats an earlier page"]


async def test_a_total_of_the_first_page_alone_does_not_end_the_list() -> None:
    upstream = OfSteps([([1, 2], True, 2), ([3, 4], True, 2), ([], False, 0)])
    found, notes = await walked("items", {}, upstream)
    assert ([item["id"] for item in found], notes) == ([1, 2, 3, 4], [])


async def test_a_total_of_a_page_that_is_not_full_ends_the_list() -> None:
    upstream, wanted = OfSteps([([1, 2], True, 2)]), whole_list("gym.clients.list.items", SIZED)
    assert wanted is not None
    assert len(await collect(wanted, {}, upstream.page, unnoted)) == 2
    assert len(upstream.asked) == 1


async def test_a_page_beyond_the_total_may_fail() -> None:
    class Strict(OfSteps):
        async def page(self, arguments: dict[str, Any], query: str = "") -> Page:
            if self.asked:
                raise CallFailed("gym answered 400", kind="upstream_error", status=400)
            return await super().page(arguments, query)

    assert await walked("items", {}, Strict([([1, 2], True, 2)])) == ([{"id": 1}, {"id": 2}], [])
