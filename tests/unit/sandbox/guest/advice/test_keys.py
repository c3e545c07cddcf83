"""A key that is missing: the keys there are, the nearest first, and how each way of asking goes on without it."""

from __future__ import annotations

import pytest

from tests.unit.sandbox.guest.host_double import run_guest

ROW = {"id": "in_1", "total": 12, "display_name": "Ana", "created_at": "2026-01-01", "state": "open"}
TOOLS = {"ns.rows": lambda: [ROW, {"id": "in_2"}]}

KEYS = {
    "sum(r['amount'] for r in ns.rows())": ["nearest: r['total']", "keys id, total"],
    "ns.rows()[0]['title']": ["nearest: ns.rows()[0]['display_name']"],
    "ns.rows()[0]['created']": ["nearest: ns.rows()[0]['created_at']"],
    "ns.rows()[0]['status']": ["nearest: ns.rows()[0]['state']"],
    "r = ns.rows()[0]\nr['zip']": ["r is a dict with the keys id, total"],
    "from operator import itemgetter\nsorted(ns.rows(), key=itemgetter('amount'))": ["id, total", "['total']"],
}


@pytest.mark.parametrize(("code", "says"), KEYS.items(), ids=KEYS.keys())
def test_a_key_that_is_missing_is_answered_with_those_there_are(code: str, says: list[str]) -> None:
    ended = run_guest(code, TOOLS)

    assert ended.status == "failed"
    assert all(text in ended.message for text in says), ended.message


@pytest.mark.parametrize("code", ["raise KeyError('x')", "raise KeyError", "{1: 2}[3]", "{}.popitem()", "set().pop()"])
def test_an_error_of_keys_that_says_all_is_reported_as_it_is(code: str) -> None:
    assert run_guest(code).message.startswith("KeyError")
