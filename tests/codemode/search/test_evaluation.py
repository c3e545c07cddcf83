"""Labelled queries are read, measured, mistyped and tuned with."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from codemode.catalog.catalog import Catalog
from codemode.errors import ConfigurationError
from codemode.search.evaluation import LabelledQuery, evaluate, measure, read_labelled, with_typos
from codemode.search.index import Index
from codemode.search.query import Query
from codemode.search.tuning import propose
from codemode.search.usage import UsageLog

if TYPE_CHECKING:
    from pathlib import Path

    from tests.codemode.search.conftest import ToolFactory

ONE, TWO = frozenset(("a.one",)), frozenset(("a.two", "a.zwei"))


@pytest.fixture
def catalog(tool: ToolFactory) -> Catalog:
    return Catalog(
        [
            tool("shop.orders.list_orders", "Lists orders.", aliases=("orders/list",)),
            tool("shop.orders.cancel_order", "Cancels an order."),
            tool("shop.products.list_products", "Lists products."),
        ]
    )


@pytest.mark.parametrize(
    ("ids", "gold", "recall", "ndcg", "complete"),
    [
        (["a.one"], (ONE,), 1.0, 1.0, 1.0),
        (["b", "a.one"], (ONE,), 1.0, 0.6309, 1.0),
        (["a.one", "b"], (ONE, TWO), 0.5, 0.6131, 0.0),
        (["a.zwei", "a.one"], (ONE, TWO), 1.0, 1.0, 1.0),
        (["a.zwei", "a.two"], (ONE, TWO), 0.5, 0.6131, 0.0),
        ([], (ONE,), 0.0, 0.0, 0.0),
    ],
)
def test_measures_of_one_query(
    ids: list[str], gold: tuple[frozenset[str], ...], recall: float, ndcg: float, complete: float
) -> None:
    found = measure(ids, gold)
    assert found.recall_10 == recall
    assert found.ndcg_10 == pytest.approx(ndcg, abs=1e-4)
    assert found.all_gold == complete


def test_labels_name_tools_by_id_alias_or_last_part(catalog: Catalog, tmp_path: Path) -> None:
    path = tmp_path / "queries.yaml"
    path.write_text(
        "queries:\n"
        "  - {query: orders, gold: [orders/list], alternatives: {orders/list: [list_products]}}\n"
        "  - {query: cancel, gold: [shop.orders.cancel_order], tag: keywords}\n"
    )
    first, second = read_labelled(path, catalog)
    assert first.gold == (frozenset({"shop.orders.list_orders", "shop.products.list_products"}),)
    assert (second.query, second.tag) == ("cancel", "keywords")


def test_a_label_that_names_no_tool_is_an_error_that_says_where(catalog: Catalog, tmp_path: Path) -> None:
    path = tmp_path / "queries.jsonl"
    path.write_text(json.dumps({"query": "x", "gold": ["nothing"]}))
    with pytest.raises(ConfigurationError, match=r"queries.jsonl, entry 1: no tool is called 'nothing'"):
        read_labelled(path, catalog)


def test_typos_change_words_and_are_the_same_each_time() -> None:
    query = "list repositories organization members pagination workflow"
    assert with_typos(query, 1.0) != query
    assert with_typos(query, 1.0) == with_typos(query, 1.0)
    assert with_typos(query, 0.0) == query


def test_tuning_proposes_what_holds_on_queries_left_out(catalog: Catalog) -> None:
    index = Index.build(catalog)
    queries = [
        LabelledQuery(text, (frozenset((id_,)),))
        for text, id_ in (("list orders", "shop.orders.list_orders"), ("cancel", "shop.orders.cancel_order"))
    ] * 10
    proposal = propose(index, queries)
    assert proposal.before.ndcg_10 == 1.0
    assert not proposal.worthwhile
    assert dict(proposal.weights.ranking) == dict(index.weights.ranking)
    with pytest.raises(ValueError, match="5 labelled queries are too few"):
        propose(index, queries[:5])


def test_used_hits_become_labelled_queries(catalog: Catalog, tmp_path: Path) -> None:
    index = Index.build(catalog)
    log = UsageLog(tmp_path / "usage.jsonl")
    log.searched(index.search(Query(("cancel an order", "list products"))))
    for id_ in ("shop.orders.cancel_order", "shop.orders.cancel_order", "never.found"):
        log.called(id_)
    (used, *_) = read_labelled(tmp_path / "usage.jsonl", catalog)
    assert used.query == "cancel an order"

    def search(query: str) -> list[str]:
        return [hit.tool.id for hit in index.search(query).hits]

    assert evaluate(search, [used]).recall_1 == 1.0
