"""Calls written in a refused program are counted."""

from __future__ import annotations

import pytest

from codemode.bench.players import written_tool_calls


@pytest.mark.parametrize(
    ("program", "calls"),
    [
        ("shop.pay(to=1)", 1),
        ("a = shop.orders.all()\nshop.pay(to=a[0])", 2),
        ("tools.shop.pay(to=1)", 1),
        ("workshop.pay()\nself.shop.pay()\nprint(shop)", 0),
        ("await shop.pay(to=shop.me())", 2),
        ("", 0),
    ],
)
def test_calls_of_the_tools_are_counted(program: str, calls: int) -> None:
    assert written_tool_calls(program, ["shop"]) == calls
