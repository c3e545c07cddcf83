"""Calls are matched with the searches before them."""

from __future__ import annotations

import pytest

from codemode.catalog.catalog import Catalog
from codemode.features.feedback.record import Call
from codemode.features.feedback.searches import Searches
from codemode.search.index.index import Index
from codemode.search.query import Hits, Query
from codemode.testing import make_tool

INDEX = Index.build(
    Catalog(
        [
            make_tool("social.post_status", summary="Publish a status"),
            make_tool("social.list_followers", summary="List who follows an account"),
            make_tool("bank.transfer", summary="Send money to a person"),
        ]
    )
)


def hits(*queries: str) -> Hits:
    return INDEX.search(Query(queries))


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def searches() -> Searches:
    return Searches(Clock())


def test_the_latest_search_that_found_a_tool_is_followed_by_its_call_once(searches: Searches) -> None:
    searches.add(hits("publish something"), "ann", "a")
    searches.add(hits("publish a status", "who follows"), "ann", "a")
    assert searches.followed(["social.post_status", "social.post_status"], "ann", 0) == [
        Call("publish a status", "social.post_status", "ann"),
        Call("publish something", "social.post_status", "ann", direct=False),
    ]
    assert searches.followed(["social.post_status"], "ann", 0) == []
    assert searches.followed(["social.list_followers"], "ann", 0) == [
        Call("who follows", "social.list_followers", "ann")
    ]
    assert searches.followed(["bank.transfer"], "ann", 0) == []  # no search found it
    assert searches.followed(["social.list_followers"], "ben", 0) == []  # who did not search


def test_a_search_whose_hits_were_called_was_not_in_vain(searches: Searches) -> None:
    searches.add(hits("send money"), "ann", "a")
    searches.add(hits("publish a status"), "ann", "a")
    assert searches.followed(["social.post_status", "bank.transfer"], "ann", 0) == [
        Call("publish a status", "social.post_status", "ann"),
        Call("send money", "bank.transfer", "ann"),
    ]


def test_only_the_search_just_before_was_in_vain(searches: Searches) -> None:
    for query in ("toot", "tweet", "publish a status"):
        searches.add(hits(query), "ann", "a")
    _, *in_vain = searches.followed(["social.post_status"], "ann", 0)
    assert in_vain == [Call("tweet", "social.post_status", "ann", direct=False)]


def test_without_a_conversation_the_search_in_vain_is_of_the_same_program(searches: Searches) -> None:
    searches.add(hits("toot"), "ann", "")
    searches.add(hits("publish a status"), "ann", "")
    assert len(searches.followed(["social.post_status"], "ann", since=101)) == 1
    searches.add(hits("toot"), "ann", "")
    searches.add(hits("publish a status"), "ann", "")
    assert len(searches.followed(["social.post_status"], "ann", since=99)) == 2


def test_searches_of_another_conversation_were_not_in_vain(searches: Searches) -> None:
    searches.add(hits("toot"), "ann", "b")
    searches.add(hits("publish a status"), "ann", "a")
    assert searches.followed(["social.post_status"], "ann", 0) == [
        Call("publish a status", "social.post_status", "ann")
    ]


def test_what_is_remembered_is_bounded_in_time_and_number() -> None:
    clock = Clock()
    searches = Searches(clock)
    searches.add(hits("publish a status"), "ann", "a")
    clock.now += 3_601
    assert searches.followed(["social.post_status"], "ann", 0) == []
    searches.add(hits("publish a status"), "ann", "a")
    for _ in range(20):
        searches.add(hits("nothing of the kind"), "ann", "a")
    assert searches.followed(["social.post_status"], "ann", 0) == []
    searches.add(hits("publish a status"), "ann", "a")
    for number in range(1_000):
        searches.add(hits("toot"), f"caller {number}", "")
    assert searches.followed(["social.post_status"], "ann", 0) == []
