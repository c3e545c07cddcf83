"""Index files are loaded unchanged, and only for the same catalog."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from codemode.catalog.catalog import Catalog
from codemode.search.documents.weights import Weights
from codemode.search.index.index import Index
from codemode.search.index.storage import load, save

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
    save(written, tmp_path / "index", catalog)
    opened = load(tmp_path / "index", catalog)
    assert opened is not None
    for query in ("cancel order", "cancelOrder", "lst ordrs", "交通", "since"):
        assert [(hit.tool.id, hit.score) for hit in opened.search(query).hits] == [
            (hit.tool.id, hit.score) for hit in written.search(query).hits
        ]


def test_a_loaded_index_can_be_updated(catalog: Catalog, tool: ToolFactory, tmp_path: Path) -> None:
    save(Index.build(catalog), tmp_path / "index", catalog)
    opened = load(tmp_path / "index", catalog)
    grown = Catalog([*catalog, tool("mail.letters.send", "Sends a letter.")])
    assert Index.build(grown, previous=opened).search("send letter").hits[0].tool.id == "mail.letters.send"


def test_an_index_of_another_catalog_is_not_loaded(catalog: Catalog, tool: ToolFactory, tmp_path: Path) -> None:
    save(Index.build(catalog), tmp_path / "index", catalog)
    kept = [one for one in catalog if one.namespace != "city"]
    changed = Catalog([*kept, tool("city.transport.find", "Another description.")])
    assert load(tmp_path / "index", changed) is None


def test_a_key_replaces_the_fingerprint(catalog: Catalog, tmp_path: Path) -> None:
    save(Index.build(catalog), tmp_path / "index", catalog, key="documents of Monday")
    assert load(tmp_path / "index", catalog, key="documents of Monday") is not None
    assert load(tmp_path / "index", catalog, key="documents of Tuesday") is None


def test_an_index_with_other_weights_is_not_loaded(catalog: Catalog, tmp_path: Path) -> None:
    save(Index.build(catalog), tmp_path / "index", catalog)
    assert load(tmp_path / "index", catalog, weights=Weights(synonym=0.0)) is None


@pytest.mark.parametrize("content", [b"", b"something else"])
def test_an_invalid_index_file_is_not_loaded(catalog: Catalog, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "index").write_bytes(content)
    assert load(tmp_path / "index", catalog) is None
    assert load(tmp_path / "missing", catalog) is None
