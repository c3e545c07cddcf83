"""Embeddings: in the background, cached on disk, fused with words, and never in the way."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np
import pytest

from codemode.search.answer import render
from codemode.search.embeddings import VectorCache
from codemode.search.index import Index
from codemode.search.meanings import Meanings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from tests.codemode.search.conftest import ToolFactory

TOPICS = {"limousine": 0, "car": 0, "vehicle": 0, "banana": 1, "fruit": 1, "river": 2}
WAIT_S = 10


class TopicEmbedder:
    """Texts with words of one topic are alike."""

    name = "topics"

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.open = threading.Event()
        self.open.set()
        self.broken = False

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        assert self.open.wait(WAIT_S)
        if self.broken:
            raise ConnectionError
        self.asked += texts
        vectors = np.full((len(texts), 3), 0.01, np.float32)
        for row, text in enumerate(texts):
            for word, topic in TOPICS.items():
                vectors[row, topic] += word in text.lower()
        return vectors


@pytest.fixture
def embedder() -> TopicEmbedder:
    return TopicEmbedder()


@pytest.fixture
def index(tool: ToolFactory) -> Index:
    return Index.build(
        [
            tool("garage.repair", "Repairs a car in the workshop."),
            tool("shop.peel", "Peels a banana."),
            tool("map.ford", "Where to cross a river."),
        ]
    )


@pytest.fixture
def meanings(index: Index, embedder: TopicEmbedder, tmp_path: Path) -> Iterator[Meanings]:
    made = Meanings(index.tools, embedder, VectorCache(tmp_path, embedder.name), query_timeout_s=WAIT_S)
    yield made
    embedder.open.set()
    made.close()


def first(index: Index, query: str) -> str:
    return index.search(query).hits[0].tool.id


def test_a_tool_is_found_by_meaning_where_no_word_is_shared(index: Index, meanings: Meanings) -> None:
    assert index.search("limousine").hits == ()
    meanings.start()
    assert meanings.wait(WAIT_S)
    both = index.with_meanings(meanings)
    assert first(both, "limousine") == "garage.repair"
    assert first(both, "peel fruit") == "shop.peel"
    assert first(both, "map.ford") == "map.ford"
    assert both.search("limousine").note == ""


def test_search_answers_by_words_until_the_vectors_are_there(
    index: Index, meanings: Meanings, embedder: TopicEmbedder
) -> None:
    embedder.open.clear()
    meanings.start()
    hits = index.with_meanings(meanings).search("river")
    assert hits.hits[0].tool.id == "map.ford"
    assert "# embeddings are not ready yet: ranked by words alone" in render(hits).splitlines()


def test_a_service_that_fails_leaves_search_by_words(index: Index, meanings: Meanings, embedder: TopicEmbedder) -> None:
    embedder.broken = True
    meanings.start()
    assert meanings.wait(WAIT_S)
    hits = index.with_meanings(meanings).search("river")
    assert hits.hits[0].tool.id == "map.ford"
    assert hits.note == "the embeddings service failed (ConnectionError): ranked by words alone"


def test_a_query_whose_vector_does_not_come_is_answered_by_words(
    index: Index, meanings: Meanings, embedder: TopicEmbedder
) -> None:
    meanings.start()
    assert meanings.wait(WAIT_S)
    embedder.broken = True
    hits = index.with_meanings(meanings).search("river")
    assert hits.hits[0].tool.id == "map.ford"
    assert hits.note.startswith("the embedding of the query did not come")


def test_vectors_are_read_from_disk_the_next_time(
    index: Index, meanings: Meanings, embedder: TopicEmbedder, tmp_path: Path
) -> None:
    meanings.start()
    assert meanings.wait(WAIT_S)
    assert len(embedder.asked) == len(index)
    again = Meanings(index.tools, embedder, VectorCache(tmp_path, embedder.name), query_timeout_s=WAIT_S)
    again.start()
    assert again.wait(WAIT_S)
    assert len(embedder.asked) == len(index)
    assert first(index.with_meanings(again), "limousine") == "garage.repair"
    again.close()


def test_a_cache_cut_off_while_writing_is_still_read(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path, "model")
    cache.add(["one", "two"], np.eye(2, 3, dtype=np.float32))
    (folder,) = tmp_path.iterdir()
    with (folder / "keys").open("ab") as file:
        file.write(b"half a rec")
    one, three = VectorCache(tmp_path, "model").get(["one", "three"])
    assert one is not None
    assert one.tolist() == [1.0, 0.0, 0.0]
    assert three is None
