"""Labelled queries: reading, metrics and typos."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from codemode.catalog.catalog import Catalog
from codemode.errors import ConfigurationError
from codemode.search.evaluation.evaluation import measure, read_labelled, with_typos

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
