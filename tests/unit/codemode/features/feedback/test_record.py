"""The record of a role is bounded, stored as JSON, and no caller fills it alone."""

from __future__ import annotations

import pytest

from codemode.features.feedback.record import (
    LIFE_DAYS,
    LONGEST_QUERY,
    MOST_CALLERS,
    MOST_CALLS,
    MOST_ROWS,
    Call,
    Row,
    Rows,
    add,
    decoded,
    encoded,
    mark_of,
)

TODAY = 20_000


def test_equal_queries_share_a_row_whose_latest_call_counts() -> None:
    rows: Rows = {}
    add(rows, [Call("Post a  toot", "social.post", "ann", direct=False)], TODAY)
    add(rows, [Call("post a toot", "social.post", "ben"), Call("post a toot", "social.list", "ben")], TODAY + 1)
    assert rows == {
        ("post a toot", "social.post"): Row(
            "post a toot", "social.post", TODAY + 1, direct=True, callers={"ann": 1, "ben": 1}
        ),
        ("post a toot", "social.list"): Row("post a toot", "social.list", TODAY + 1, direct=True, callers={"ben": 1}),
    }


def test_the_calls_and_the_callers_of_a_row_are_bounded() -> None:
    rows: Rows = {}
    add(rows, [Call("toot", "social.post", "ann")] * 100, TODAY)
    assert rows["toot", "social.post"].callers == {"ann": MOST_CALLS}
    add(rows, [Call("toot", "social.post", f"caller {number}") for number in range(MOST_CALLERS)], TODAY)
    assert len(rows["toot", "social.post"].callers) == MOST_CALLERS
    assert "ann" not in rows["toot", "social.post"].callers


def test_a_full_record_loses_the_rows_of_the_caller_who_is_alone_in_most() -> None:
    rows: Rows = {}
    add(rows, [Call(f"question {number}", "bank.pay", "ann") for number in range(10)], TODAY)
    add(rows, [Call(f"flood {number}", "bank.pay", "eve") for number in range(2 * MOST_ROWS)], TODAY)
    assert len(rows) == MOST_ROWS
    assert sum("ann" in row.callers for row in rows.values()) == 10
    assert ("flood 0", "bank.pay") not in rows
    assert (f"flood {2 * MOST_ROWS - 1}", "bank.pay") in rows


def test_a_full_record_of_shared_rows_loses_the_oldest() -> None:
    rows: Rows = {}
    pairs = [(f"question {number}", who) for number in range(MOST_ROWS + 1) for who in ("ann", "ben")]
    add(rows, [Call(query, "bank.pay", who) for query, who in pairs], TODAY)
    assert len(rows) == MOST_ROWS
    assert ("question 0", "bank.pay") not in rows


def test_rows_without_a_call_for_half_a_year_are_forgotten_and_long_queries_cut() -> None:
    rows: Rows = {}
    add(rows, [Call("toot", "social.post", "ann"), Call("x" * 900, "social.post", "ann")], TODAY)
    assert {len(query) for query, _ in rows} == {4, LONGEST_QUERY}
    add(rows, [], TODAY + LIFE_DAYS)
    assert len(rows) == 2
    add(rows, [], TODAY + LIFE_DAYS + 1)
    assert rows == {}


def test_a_stored_record_is_read_as_it_was() -> None:
    rows: Rows = {}
    add(rows, [Call("größe ändern", "shop.resize", "ann"), Call("toot", "social.post", "ben", direct=False)], TODAY)
    assert decoded(encoded(rows)) == rows
    assert list(decoded(encoded(rows))) == list(rows)


@pytest.mark.parametrize(
    "data",
    [
        None,
        b"",
        b"{",
        b"[]",
        b"[" * 100_000,
        b'{"format": 2, "rows": [1]}',
        b'{"format": 1, "rows": [["a"]]}',
        b'{"format": 1, "rows": [["a", "b", Infinity, true, {}]]}',
        b'{"format": 1}',
    ],
)
def test_a_damaged_or_later_record_is_empty(data: bytes | None) -> None:
    assert decoded(data) == {}


def test_a_caller_has_another_mark_in_each_role() -> None:
    assert mark_of("key:ann", "agent") == mark_of("key:ann", "agent") != mark_of("key:ann", "clerk")
    assert "ann" not in mark_of("key:ann", "agent")
