"""Embeddings over HTTP: made in the background, cached on disk, combined with words, never blocking a search."""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING, Protocol

import numpy as np
import pytest

from codemode.search.index.index import Index
from codemode.search.query import Query
from codemode.search.render import render
from codemode.search.semantic.embeddings import ServiceEmbedder
from codemode.search.semantic.query_vectors import QueryVectors
from codemode.search.semantic.similarity import EmbeddingIndex, meant
from codemode.search.semantic.vectors import VectorCache
from codemode.settings import ServiceEmbeddings
from tests.unit.codemode.search.embeddings_service import EmbeddingsService

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.unit.codemode.search.conftest import ToolFactory

WAIT_S = 100
KEY = "sk-a-secret-key"


class Opened(Protocol):
    """Opens an index whose embeddings are in progress. `wait_s` is for the vector of a query."""

    def __call__(self, *, wait_s: float = WAIT_S, batch: int = 64) -> tuple[Index, EmbeddingIndex]: ...


@pytest.fixture
def service() -> Iterator[EmbeddingsService]:
    running = EmbeddingsService()
    yield running
    running.close()


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
def opened(
    index: Index, service: EmbeddingsService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Opened]:
    monkeypatch.setenv("EMBEDDINGS_KEY", KEY)
    made: list[EmbeddingIndex | QueryVectors | ServiceEmbedder] = []

    def open_(*, wait_s: float = WAIT_S, batch: int = 64) -> tuple[Index, EmbeddingIndex]:
        settings = ServiceEmbeddings.model_validate(
            {"kind": "openai", "model": "topics", "base_url": service.base_url, "api_key": {"env": "EMBEDDINGS_KEY"}}
        )
        embedder = ServiceEmbedder(settings)
        queries = QueryVectors(embedder, wait_s=wait_s)
        cache = VectorCache(tmp_path, embedder.name)
        embeddings = EmbeddingIndex(index.tools, embedder, cache, queries, batch=batch, first_pause_s=0.01)
        made.extend((embeddings, queries, embedder))
        embeddings.start()
        return index.with_embeddings(embeddings), embeddings

    yield open_
    service.gate.set()
    for each in made:
        each.close()


def first(index: Index, query: str) -> str:
    return index.search(query).hits[0].tool.id


def until(holds: Callable[[], bool]) -> None:
    """Wait until another thread makes `holds` true."""
    deadline = time.monotonic() + WAIT_S
    while not holds():
        assert time.monotonic() < deadline
        threading.Event().wait(0.005)


def test_a_tool_is_found_by_meaning_without_a_common_word(index: Index, opened: Opened) -> None:
    assert index.search("velomobile").hits == ()
    both, embeddings = opened()
    assert embeddings.wait(WAIT_S)
    assert first(both, "velomobile") == "garage.repair"
    assert first(both, "peel fruit") == "shop.peel"
    assert first(both, "map.ford") == "map.ford"
    assert both.search("velomobile").note == ""


@pytest.mark.parametrize("query", ["???", "\N{GRINNING FACE}"])
def test_a_query_without_known_words_is_unsure(opened: Opened, query: str) -> None:
    both, embeddings = opened()
    assert embeddings.wait(WAIT_S)
    answer = both.search(query)
    assert answer.hits
    assert answer.unsure == (0,)
    assert (embeddings.progress.done, embeddings.progress.total, embeddings.progress.is_ready) == (3, 3, True)


def test_search_uses_words_until_the_vectors_are_ready(opened: Opened, service: EmbeddingsService) -> None:
    service.gate.clear()
    both, _ = opened()
    assert service.wait_for_requests(1)
    hits = both.search("river")
    assert hits.hits[0].tool.id == "map.ford"
    assert "# embeddings are being made (0 of 3 tools): ranked by words alone" in render(hits).splitlines()


def test_all_queries_of_a_search_are_embedded_in_one_request(opened: Opened, service: EmbeddingsService) -> None:
    both, embeddings = opened()
    assert embeddings.wait(WAIT_S)
    before = len(service.asked)
    hits = both.search(Query(("velomobile", "fruit", "velomobile"))).hits
    assert {"garage.repair", "shop.peel"} == {hit.tool.id for hit in hits[:2]}
    assert service.asked[before:] == [["velomobile", "fruit"]]
    both.search("fruit")
    assert len(service.asked) == before + 1


def test_a_late_answer_is_awaited_once_and_used_by_the_next_search(opened: Opened, service: EmbeddingsService) -> None:
    both, embeddings = opened(wait_s=0.05)
    assert embeddings.wait(WAIT_S)
    service.gate.clear()
    hits = both.search("velomobile river")
    assert hits.hits[0].tool.id == "map.ford"
    assert hits.note == "the embedding of the query is not ready: ranked by words alone"
    both.search("fruit")  # not awaited, as the last answer was late
    service.gate.set()
    until(lambda: both.search("velomobile river").note == "")
    assert both.search("velomobile river").hits[0].tool.id in ("garage.repair", "map.ford")
    until(lambda: both.search("fruit").note == "")
    assert first(both, "fruit") == "shop.peel"


def test_only_a_failed_batch_is_retried(opened: Opened, service: EmbeddingsService) -> None:
    service.misbehave = lambda number, _: (503, {}, b"gone") if 3 <= number <= 5 else None
    both, embeddings = opened(batch=1)
    assert embeddings.wait(WAIT_S)
    assert embeddings.progress.is_ready
    texts = [texts[0] for texts in service.asked if texts != ["list"]]
    assert len(texts) == 4  # three tools, and the retry of the failed one
    assert len(set(texts)) == 3
    assert first(both, "velomobile") == "garage.repair"


def test_retry_after_is_obeyed(opened: Opened, service: EmbeddingsService) -> None:
    service.misbehave = lambda number, _: (429, {"Retry-After": "1"}, b"{}") if number == 2 else None
    begun = time.monotonic()
    _, embeddings = opened()
    assert embeddings.wait(WAIT_S)
    assert embeddings.progress.is_ready
    assert time.monotonic() - begun >= 1


@pytest.mark.parametrize(
    ("status", "hint"),
    [
        (401, "look at search.embeddings.api_key"),
        (307, "redirects are not followed"),
        (404, "look at search.embeddings.model and base_url"),
    ],
)
def test_a_final_failure_ends_the_work_with_a_hint(
    opened: Opened, service: EmbeddingsService, caplog: pytest.LogCaptureFixture, status: int, hint: str
) -> None:
    elsewhere = {"Location": service.base_url}
    service.misbehave = lambda *_: (status, elsewhere, f'{{"error": {{"message": "wrong key: {KEY}"}}}}'.encode())
    both, embeddings = opened()
    with caplog.at_level(logging.DEBUG, "codemode"):
        assert embeddings.wait(WAIT_S)
    hits = both.search("river")
    assert hits.hits[0].tool.id == "map.ford"
    assert f"the embeddings service answered {status}; {hint}" in hits.note
    assert hits.note.endswith("ranked by words alone")
    assert KEY not in hits.note + caplog.text + repr(embeddings.progress)
    assert service.keys == [f"Bearer {KEY}"]


def test_a_query_without_a_vector_is_answered_by_words(opened: Opened, service: EmbeddingsService) -> None:
    both, embeddings = opened()
    assert embeddings.wait(WAIT_S)
    service.close()
    hits = both.search("river")
    assert hits.hits[0].tool.id == "map.ford"
    assert hits.note == "the embeddings service cannot be reached: ranked by words alone"


@pytest.mark.parametrize(
    "body",
    [
        b"not JSON",
        b"{}",
        b'{"data": []}',
        b'{"data": [{"index": 0, "embedding": []}]}',
        b'{"data": [{"index": 0, "embedding": [1, NaN]}]}',
        b'{"data": [{"index": 0, "embedding": "AAAA"}]}',
        b'{"data": null}',
    ],
)
def test_a_malformed_answer_is_retried(opened: Opened, service: EmbeddingsService, body: bytes) -> None:
    service.misbehave = lambda number, _: (200, {}, body) if number < 3 else None
    both, embeddings = opened()
    assert embeddings.wait(WAIT_S)
    assert embeddings.progress.is_ready
    assert first(both, "velomobile") == "garage.repair"


def test_vectors_of_two_sizes_are_not_mixed(opened: Opened, service: EmbeddingsService) -> None:
    service.misbehave = lambda *_: setattr(service, "size", 2 + len(service.asked))
    both, embeddings = opened()
    assert embeddings.wait(WAIT_S)
    assert "returned vectors of 3 and of 4 numbers" in both.search("river").note


def test_vectors_are_reused_from_disk(opened: Opened, service: EmbeddingsService) -> None:
    _, embeddings = opened()
    assert embeddings.wait(WAIT_S)
    assert [len(texts) for texts in service.asked] == [1, 3]
    again, embeddings = opened()
    assert embeddings.wait(WAIT_S)
    assert [len(texts) for texts in service.asked] == [1, 3, 1]
    assert first(again, "velomobile") == "garage.repair"


def test_another_vector_size_discards_the_cache(opened: Opened, service: EmbeddingsService) -> None:
    old, embeddings = opened()
    assert embeddings.wait(WAIT_S)
    service.size = 5
    assert old.search("velomobile").note == "the embeddings model has changed; restart codemode: ranked by words alone"
    new, embeddings = opened()
    assert embeddings.wait(WAIT_S)
    assert [len(texts) for texts in service.asked] == [1, 3, 1, 1, 3]
    assert first(new, "velomobile") == "garage.repair"


def test_only_tools_that_stand_out_count_and_less_where_words_are_certain() -> None:
    similarities = np.array([-1.0, 1.9, 2.5, 4.0], np.float32)
    assert meant(similarities, tools=100, certainty=0.0).tolist() == [0.0, 0.0, 0.5, 2.0]
    assert meant(similarities, tools=100, certainty=1 / 3).tolist() == pytest.approx([0.0, 0.0, 0.25, 1.0])
    assert meant(similarities, tools=100, certainty=0.7).tolist() == [0.0, 0.0, 0.0, 0.0]
    assert meant(similarities, tools=9, certainty=0.0).tolist() == pytest.approx([0.0, 0.9, 1.5, 3.0])
