"""A cut list is always noted, whatever says that more follow; so are pages that are all the same."""

from __future__ import annotations

from typing import Any

import pytest

from codemode.executions.run.partial_lists import PartialLists
from codemode.testing import make_tool

PAGED = {"limit": {"type": "integer"}, "offset": {"type": "integer"}}
LISTED = make_tool("gym.clients.list", PAGED)
CHARGES = make_tool("pay.charges.list", {"limit": {"type": "integer"}, "starting_after": {"type": "string"}})
ISSUES = make_tool("git.issues.list", {"page": {"type": "integer"}, "per_page": {"type": "integer"}})


def test_a_list_that_was_read_in_part_is_noted_with_its_total() -> None:
    tool = LISTED
    lists = PartialLists()
    lists.add(tool, {"limit": 5}, {"items": [1, 2, 3, 4, 5], "total": 9})
    lists.add(tool, {"limit": 5}, {"items": [1, 2, 3, 4, 5], "total": 9})
    assert lists.notes() == ("gym.clients.list returned 5 of 9; gym.clients.list.items(…) returns all",)
    lists.add(tool, {"limit": 5, "offset": 5}, {"items": [6, 7, 8, 9], "total": 9})
    assert lists.notes() == ()
    lists.add(tool, {"status": "active"}, {"items": [1], "meta": {"totalCount": 2}})
    assert lists.notes() == ("gym.clients.list returned 1 of 2; gym.clients.list.items(…) returns all",)


@pytest.mark.parametrize(
    ("tool", "arguments", "value"),
    [
        (LISTED, {}, {"items": [1], "total": 1}),
        (LISTED, {}, {"items": [], "total": 9}),
        (LISTED, {}, {"items": [1], "total": "9"}),
        (LISTED, {}, {"items": [1]}),
        (LISTED, {"limit": 1}, {"items": [1], "total": 9}),
        (make_tool("gym.sums.get"), {}, {"lines": [1], "total": 90}),
    ],
)
def test_other_answers_are_not_taken_for_parts(tool: Any, arguments: dict[str, Any], value: Any) -> None:
    lists = PartialLists()
    lists.add(tool, arguments, value)
    assert lists.notes() == ()


ROWS = [{"id": f"ch_{n}"} for n in range(10)]


@pytest.mark.parametrize(
    ("tool", "value", "headers", "note"),
    [
        (CHARGES, {"data": ROWS, "has_more": True}, None, "pay.charges.list returned 10 items, and more follow"),
        (CHARGES, {"data": ROWS, "has_more": False}, None, ""),
        (
            ISSUES,
            ROWS,
            {"link": '<https://x/issues?page=2>; rel="next"'},
            "git.issues.list returned 10 items, and more",
        ),
        (ISSUES, ROWS, {"link": '<https://x/issues?page=1>; rel="first"'}, ""),
        (ISSUES, ROWS, {"x-total-count": "620"}, "git.issues.list returned 10 of 620"),
        (ISSUES, ROWS, {"x-total-count": "10"}, ""),
        (LISTED, {"items": ROWS, "next_cursor": "abc"}, None, ""),
        (
            make_tool("a.b", {"cursor": {"type": "string"}}),
            {"items": ROWS, "next_cursor": "abc"},
            None,
            "a.b returned 10",
        ),
        (make_tool("a.b", {"cursor": {"type": "string"}}), {"items": ROWS, "next_cursor": None}, None, ""),
    ],
)
def test_a_cut_page_is_noted(tool: Any, value: Any, headers: dict[str, str] | None, note: str) -> None:
    lists = PartialLists()
    lists.add(tool, {}, value, headers)
    found = lists.notes()
    assert len(found) == bool(note)
    assert all(one.startswith(note) and one.endswith(f"; {tool.id}.items(…) returns all") for one in found)


def test_a_full_page_of_a_size_that_was_asked_for_may_be_cut() -> None:
    lists = PartialLists()
    lists.add(ISSUES, {"per_page": 10}, ROWS)
    assert lists.notes() == (
        "git.issues.list returned 10 items, and more may follow; git.issues.list.items(…) returns all",
    )
    lists.add(ISSUES, {"per_page": 10, "page": 2}, ROWS[:3])
    assert lists.notes() == ()


def test_a_list_that_was_followed_to_its_end_is_whole() -> None:
    lists = PartialLists()
    lists.add(CHARGES, {}, {"data": ROWS, "has_more": True})
    lists.add(CHARGES, {"starting_after": "ch_9"}, {"data": [{"id": "ch_10"}], "has_more": False})
    assert lists.notes() == ()


def test_pages_that_are_all_the_same_are_noted() -> None:
    lists = PartialLists()
    for page in range(1, 8):
        lists.add(ISSUES, {"page": page}, ROWS)
    (note,) = lists.notes()
    assert note.startswith("git.issues.list answered the same 10 items 7 times in a row, at different positions")


def test_equal_answers_about_different_things_are_not_pages() -> None:
    tool = make_tool("git.roles.list", {"user": {"type": "string"}, "page": {"type": "integer"}})
    lists = PartialLists()
    for user in "abcdef":
        lists.add(tool, {"user": user}, ["admin"])
    assert lists.notes() == ()
