"""Labelled queries: reading, metrics, typos and tuning."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from codemode.catalog.catalog import Catalog
from codemode.errors import ConfigurationError
from codemode.search.documents.weights import RANKING, Weights
from codemode.search.evaluation.evaluation import LabelledQuery, measure, read_labelled, with_typos
from codemode.search.evaluation.tuning import propose
from codemode.search.index.index import Index

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.codemode.search.conftest import ToolFactory

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
def test_metrics_of_one_query(
    ids: list[str], gold: tuple[frozenset[str], ...], recall: float, ndcg: float, complete: float
) -> None:
    metrics = measure(ids, gold)
    assert metrics.recall_10 == recall
    assert metrics.ndcg_10 == pytest.approx(ndcg, abs=1e-4)
    assert metrics.all_gold == complete


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


def test_an_unknown_label_is_rejected_with_its_place(catalog: Catalog, tmp_path: Path) -> None:
    path = tmp_path / "queries.jsonl"
    path.write_text(json.dumps({"query": "x", "gold": ["nothing"]}))
    with pytest.raises(ConfigurationError, match=r"queries.jsonl, entry 1: the name 'nothing' belongs to no tool"):
        read_labelled(path, catalog)


def test_typos_are_deterministic() -> None:
    query = "list repositories organization members pagination workflow"
    assert with_typos(query, 1.0) != query
    assert with_typos(query, 1.0) == with_typos(query, 1.0)
    assert with_typos(query, 0.0) == query


def test_tuning_without_a_gain_is_not_worthwhile(catalog: Catalog) -> None:
    index = Index.build(catalog)
    queries = [
        LabelledQuery(f"{text} {number}", (frozenset((id_,)),))
        for text, id_ in (("list orders", "shop.orders.list_orders"), ("cancel", "shop.orders.cancel_order"))
        for number in range(10)
    ]
    proposal = propose(index, queries)
    assert proposal.before.ndcg_10 == 1.0
    assert not proposal.worthwhile
    assert proposal.changed == {}


def test_tuning_rejects_too_few_distinct_queries(catalog: Catalog) -> None:
    labelled = LabelledQuery("list  Orders", (frozenset(("shop.orders.list_orders",)),))
    with pytest.raises(ValueError, match="at least 20 different labelled queries, got 1"):
        propose(Index.build(catalog), [labelled, replace(labelled, query="LIST orders")] * 20)


def test_tuning_proposes_only_changed_weights(tool: ToolFactory) -> None:
    names = [
        "order",
        "customer",
        "invoice",
        "refund",
        "product",
        "coupon",
        "basket",
        "parcel",
        "voucher",
        "address",
        "review",
        "ticket",
    ]
    tools = [tool(f"shop.{name}.{verb}", f"{verb} a {name}") for name in names for verb in ("remove", "show")]
    weights = replace(Weights(), ranking={**RANKING, "action_differs": 0.6, "query_covered": 0.0, "name_verbatim": 0.0})
    queries = [
        LabelledQuery(f"{verb} the {name}", (frozenset((f"shop.{name}.{verb}",)),))
        for name in names
        for verb in ("remove", "show")
    ]
    proposal = propose(Index.build(tools, weights=weights), queries)
    assert proposal.after.ndcg_10 >= proposal.before.ndcg_10
    assert all(
        proposal.weights.ranking[name] == value != weights.ranking[name] for name, value in proposal.changed.items()
    )
    assert proposal.worthwhile is (proposal.after.ndcg_10 > proposal.before.ndcg_10)


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("gone.yaml", None, r"gone.yaml cannot be read: No such file"),
        ("queries.jsonl", b'{"query": "x"\n', r"queries.jsonl, line 1: not JSON"),
        ("queries.yaml", b"queries: [", r"queries.yaml: not YAML"),
        ("queries.yaml", b"queries: {}", r"expected a list of labelled queries under `queries`"),
        ("queries.yaml", b"\xff", r"it is not UTF-8 text"),
        (
            "queries.yaml",
            b"[{query: x, gold: list_ordres}]",
            r"the name 'list_ordres' belongs to no tool, .*nearest: list_orders",
        ),
    ],
)
def test_an_invalid_file_is_rejected_with_the_reason(
    catalog: Catalog, tmp_path: Path, name: str, content: bytes | None, expected: str
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(ConfigurationError, match=expected):
        read_labelled(tmp_path / name, catalog)
