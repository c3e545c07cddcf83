"""Groups of alternatives: what a query repeats, and what it says itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from codemode.search.documents.weights import Weights
from codemode.search.index.index import Index

if TYPE_CHECKING:
    from collections.abc import Callable

    from codemode.catalog.tool import Tool
    from codemode.search.interpretation.expansion import Group


@pytest.fixture
def groups(tool: Callable[..., Tool]) -> Callable[[str], dict[str, Group]]:
    index = Index.build([tool("shop.delete_order", "Deletes an order."), tool("shop.remove_item", "Removes an item.")])
    return lambda query: {group.surface: group for group in index._parsed(query).groups}


def test_a_repeated_word_weighs_more(groups: Callable[[str], dict[str, Group]]) -> None:
    once, twice = groups("item of an order"), groups("item of an order, an order with items")
    assert once["order"].weight == Weights().action
    assert twice["order"].weight == pytest.approx(Weights().action * (1 + Weights().again))


def test_a_word_that_the_query_says_is_no_synonym_of_another(groups: Callable[[str], dict[str, Group]]) -> None:
    assert len(groups("delete order")["delete"].alternatives) == 2
    assert len(groups("delete or remove order")["delete"].alternatives) == 1
