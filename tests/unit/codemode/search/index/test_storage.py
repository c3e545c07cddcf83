"""Index files are loaded unchanged, and only for the same state of the same catalog."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from codemode.catalog.catalog import Catalog
from codemode.search.documents.weights import Weights
from codemode.search.index.index import Index
from codemode.search.index.storage import MOST_KEPT, IndexCache, load, save

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.codemode.search.conftest import ToolFactory


@pytest.fixture
def catalog(tool: ToolFactory) -> Catalog:
    return Catalog(
        [
            tool("shop.orders.list", "Lists orders.", parameters={"since": {"type": "string"}}),
            tool("shop.orders.cancel", "Cancels an order.", aliases=("cancelOrder",)),
            tool("city.transport.find", "交通機関を探す"),
        ]
    )


def test_a_loaded_index_answers_like_the_saved_one(catalog: Catalog, tmp_path: Path) -> None:
    written = Index.build(catalog)
    save(written, tmp_path / "index")
    opened = load(tmp_path / "index", catalog, Weights())
    assert opened is not None
    for query in ("cancel order", "cancelOrder", "lst ordrs", "交通", "since"):
        assert [(hit.tool.id, hit.score) for hit in opened.search(query).hits] == [
            (hit.tool.id, hit.score) for hit in written.search(query).hits
        ]


def test_a_loaded_index_can_be_updated(catalog: Catalog, tool: ToolFactory, tmp_path: Path) -> None:
    save(Index.build(catalog), tmp_path / "index")
    opened = load(tmp_path / "index", catalog, Weights())
    grown = Catalog([*catalog, tool("mail.letters.send", "Sends a letter.")])
    assert Index.build(grown, previous=opened).search("send letter").hits[0].tool.id == "mail.letters.send"


def test_an_index_is_read_again_only_for_the_same_documents_tools_and_weights(
    catalog: Catalog, tool: ToolFactory, tmp_path: Path
) -> None:
    cache = IndexCache(tmp_path)
    changed = Catalog([*catalog, tool("mail.letters.send", "Sends a letter.")])
    for of, digests, weights, files in [
        (catalog, ["Monday"], Weights(), 1),
        (catalog, ["Monday"], Weights(), 1),
        (catalog, ["Tuesday"], Weights(), 2),
        (catalog, ["Monday"], Weights(synonym=0.0), 3),
        (changed, ["Monday"], Weights(), 4),
        (catalog, ["Monday", ""], Weights(), 4),
    ]:
        index = cache.open(of, digests, previous=None, weights=weights)
        assert (index.weights, len(index)) == (weights, len(of))
        assert len(list(tmp_path.iterdir())) == files


def test_the_oldest_indexes_are_removed(catalog: Catalog, tmp_path: Path) -> None:
    for day in range(MOST_KEPT + 2):
        IndexCache(tmp_path).open(catalog, [f"day {day}"], previous=None, weights=Weights())
    assert len(list(tmp_path.iterdir())) == MOST_KEPT


@pytest.mark.parametrize("content", [b"", b"something else", b"PK\x03\x04"])
def test_an_invalid_index_file_is_not_loaded(catalog: Catalog, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "index").write_bytes(content)
    assert load(tmp_path / "index", catalog, Weights()) is None
    assert load(tmp_path / "missing", catalog, Weights()) is None
