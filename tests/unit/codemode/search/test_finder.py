"""The configured search."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from codemode.catalog.catalog import Catalog
from codemode.errors import ConfigurationError
from codemode.search.finder import Finder
from codemode.search.query import Query
from codemode.settings import Settings, load_settings
from tests.unit.codemode.search.embeddings_service import EmbeddingsService

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.unit.codemode.search.conftest import ToolFactory

WAIT_S = 200


@pytest.fixture
def service() -> Iterator[EmbeddingsService]:
    running = EmbeddingsService()
    yield running
    running.close()


def _finder(folder: Path, **search: object) -> Finder:
    return Finder(Settings.model_validate({"search": search}).search, folder)


def _catalog(tool: ToolFactory, *more: str) -> Catalog:
    ids = ("garage.repair", "shop.peel", *more)
    return Catalog([tool(id_, f"Does {id_} with a car." if "garage" in id_ else f"{id_} a banana.") for id_ in ids])


def test_only_changed_tools_are_embedded_again(tool: ToolFactory, tmp_path: Path, service: EmbeddingsService) -> None:
    embeddings = {"kind": "openai", "model": "topics", "base_url": service.base_url, "query_wait_ms": 10_000}
    finder = _finder(tmp_path, embeddings=embeddings)
    assert finder.embedded is None
    finder.open(_catalog(tool), ["one"])
    finder.settle(["velomobile"], WAIT_S)
    assert finder.embedded is not None
    assert finder.embedded.is_ready
    assert finder.search(Query(("velomobile",))).hits[0].tool.id == "garage.repair"
    finder.open(_catalog(tool, "garage.wash"), ["two"])
    finder.settle((), WAIT_S)
    assert [len(texts) for texts in service.asked] == [1, 2, 1, 1, 1]  # probe, tools, query; probe, the new tool
    assert "garage.wash" in service.asked[-1][0]
    assert finder.search(Query(("velomobile",))).total == 3
    finder.close()


def test_a_catalog_opened_for_later_is_indexed_by_the_first_search(tool: ToolFactory, tmp_path: Path) -> None:
    steps: list[str] = []
    finder = Finder(Settings().search, tmp_path, lambda step: steps.append(step.step))
    finder.open_later(_catalog(tool, "garage.wash"), ["one"])
    narrowed = finder.narrowed(_catalog(tool))
    assert steps == []
    assert finder.search(Query(("car",))).total == 2
    assert narrowed.search(Query(("car",))).total == 1
    assert finder.search(Query(("banana",))).total == 1
    assert steps == ["indexing", "indexed"]
    finder.open(_catalog(tool), ["two"])
    assert finder.search(Query(("car",))).total == 1


@pytest.mark.parametrize(
    ("search", "expected"),
    [
        ("ranking: {name_covered: 1}", "unknown key"),
        ("embeddings: {kind: openai}", "line 2: search.embeddings.openai.model: missing key"),
        ("embeddings: {kind: openai, modle: m, model: m}", "unknown key; did you mean 'model'?"),
        ("embeddings: {kind: openai, model: m, base_url: localhost}", "expected a URL that begins with http"),
    ],
)
def test_invalid_settings_are_rejected_with_the_reason(tmp_path: Path, search: str, expected: str) -> None:
    path = tmp_path / "codemode.yaml"
    path.write_text(f"sources: {{gym: {{location: gym.yaml}}}}\nsearch: {{{search}}}\n", encoding="utf-8")
    with pytest.raises(ConfigurationError) as caught:
        Finder(load_settings(path).search, tmp_path)
    assert expected in str(caught.value)
