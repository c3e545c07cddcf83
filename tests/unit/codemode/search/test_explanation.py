"""Explanations: the words and shares of each hit, what was left out, and where a named tool is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from codemode.catalog.tool import Effect
from codemode.search.explanation import explain, hit_line
from codemode.search.index.index import Index
from codemode.search.query import Query

if TYPE_CHECKING:
    from collections.abc import Callable

    from codemode.catalog.tool import Tool
    from codemode.search.explanation import Explanation

    Ask = Callable[..., Explanation]


@pytest.fixture
def ask(tool: Callable[..., Tool]) -> Ask:
    tools = [
        tool("shop.refunds.create_refund", "Refund a charge.", effect=Effect.WRITE),
        tool("shop.refunds.list_refunds", "List the refunds of a charge."),
        tool("shop.coupons.list_coupons", "List coupons."),
    ]
    whole = Index.build(tools)

    def explained(text: str, *, hidden: str = "", named: str = "", effect: Effect | None = None) -> Explanation:
        index = Index.build([each for each in tools if each.id != hidden]) if hidden else whole
        query = Query((text,), limit=2, effect=effect)
        (explanation,) = explain(query, index, whole, role="reader", tool=named)
        return explanation

    return explained


def test_the_shares_of_a_hit_add_up_to_its_score(ask: Ask) -> None:
    best = ask("refund a charge").hits[0]
    assert best.id == "shop.refunds.create_refund"
    assert sum(best.shares.values()) == pytest.approx(best.score, abs=0.03)
    assert "refund" in best.words["name"]
    assert hit_line(best).startswith("position 1, score ")


def test_a_tool_that_the_role_hides_is_left_out_with_the_reason(ask: Ask) -> None:
    explanation = ask("refund a charge", hidden="shop.refunds.create_refund", named="shop.refunds.create_refund")
    assert explanation.left_out == {"shop.refunds.create_refund": "the role reader has no access to it"}
    assert explanation.wanted == "the role reader has no access to it"


def test_a_tool_that_a_filter_removes_is_left_out_with_the_reason(ask: Ask) -> None:
    explanation = ask("refund a charge", effect=Effect.READ, named="shop.refunds.create_refund")
    assert explanation.left_out == {"shop.refunds.create_refund": "removed by a filter of this search"}
    assert explanation.wanted == "removed by a filter of this search"


def test_a_tool_that_is_only_further_down_is_not_left_out(ask: Ask) -> None:
    assert ask("list refunds coupons charge").left_out == {}


def test_a_named_tool_has_its_position_beyond_the_page(ask: Ask) -> None:
    assert ask("list refunds of a charge", named="shop.coupons.list_coupons").wanted.startswith("position 3, ")


def test_a_named_tool_without_a_word_of_the_query_is_said_to_have_none(ask: Ask) -> None:
    wanted = ask("charge", named="shop.coupons.list_coupons").wanted
    assert wanted == "not among the first 200: too few of the words are in its texts"


def test_an_unknown_tool_gets_the_nearest_name(ask: Ask) -> None:
    wanted = ask("refund", named="shop.refunds.creat_refund").wanted
    assert wanted == "there is no tool shop.refunds.creat_refund; the nearest is shop.refunds.create_refund"


def test_a_query_in_another_language_shows_how_it_is_read(ask: Ask) -> None:
    assert ask("Gutscheine auflisten").read_as == "list coupon"
    assert ask("list coupons").read_as == ""
