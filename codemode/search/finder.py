"""The configured search of one catalog: an index cached on disk, and embeddings if configured."""

from __future__ import annotations

import time
from copy import copy
from threading import Lock
from typing import TYPE_CHECKING

from codemode.catalog.catalog import Catalog
from codemode.catalog.loading import LoadingStep
from codemode.search.documents.weights import Weights
from codemode.shared.callbacks import ignore

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from codemode.catalog.loading import LoadingListener
    from codemode.search.index.index import Index
    from codemode.search.query import Hits, Query
    from codemode.search.semantic.embeddings import Embedder, Vectors
    from codemode.search.semantic.query_vectors import QueryVectors
    from codemode.search.semantic.similarity import EmbeddingIndex, Progress
    from codemode.settings import SearchSettings

_BATCH = 64  # queries in one request
_POLL_S = 0.1


class Finder:
    """Searches a catalog. Call `open` with each new catalog, and `close` to end its threads.

    `open_later` leaves indexing to the first search. Until then, numpy and the index are not imported.

    `progress` receives the steps of indexing and embedding, but none of narrowed finders.
    Raises ConfigurationError if the settings name a missing model.
    """

    def __init__(self, settings: SearchSettings, folder: Path, progress: LoadingListener = ignore) -> None:
        self._settings = settings
        self._progress = progress
        self._folder = folder
        self._index: Index | None = None
        self._first_search = Lock()
        self._catalog = Catalog()
        self._states: tuple[str, ...] = ("",)
        self._is_late = False
        self._narrowed: list[Finder] = []
        self._embedder: Embedder | None = None
        self._queries: QueryVectors | None = None
        self._embeddings: EmbeddingIndex | None = None
        if settings.embeddings is not None:
            from codemode.search.semantic.embeddings import make_embedder
            from codemode.search.semantic.query_vectors import QueryVectors

            self._embedder = make_embedder(settings.embeddings)
            self._queries = QueryVectors(self._embedder, wait_s=settings.embeddings.query_wait_ms / 1000)

    @property
    def index(self) -> Index:
        """The index of the catalog."""
        with self._first_search:
            if self._index is None or self._is_late:
                return self.open(self._catalog, self._states)
            return self._index

    def open_later(self, catalog: Catalog, digests: Iterable[str]) -> None:
        """Search this catalog from now on, and index it with the first search. The arguments are those of `open`."""
        self._catalog, self._states, self._is_late = catalog, tuple(digests), True

    def open(self, catalog: Catalog, digests: Iterable[str]) -> Index:
        """Search this catalog from now on, and return its index.

        `digests` are those of its source documents, "" for an unknown one.
        """
        from codemode.search.index.storage import IndexCache

        previous = None if self._index is None else self._index.by_words
        states = self._states = tuple(digests)
        if all(states):
            states = (*states, repr((sorted(self._settings.enrichment.items()), sorted(catalog.clocks.items()))))
        began = time.monotonic()
        self._progress(LoadingStep("indexing", tools=len(catalog)))
        index = IndexCache(self._folder / "indexes").open(catalog, states, previous=previous, weights=Weights())
        self._progress(LoadingStep("indexed", tools=len(catalog), duration_s=time.monotonic() - began))
        self._index, self._is_late = self._with_embeddings(index), False
        return self._index

    def _with_embeddings(self, index: Index) -> Index:
        """Start embedding the tools, if configured. Return an index that ranks by their vectors as well."""
        settings = self._settings.embeddings
        if settings is None or self._embedder is None or self._queries is None:
            return index
        from codemode.search.semantic.similarity import EmbeddingIndex
        from codemode.search.semantic.vectors import VectorCache

        cache = VectorCache(self._folder / "vectors", self._embedder.name)
        embeddings = EmbeddingIndex(
            index.tools, self._embedder, cache, self._queries, batch=settings.batch, listener=self._progress
        )
        if self._embeddings is not None:
            self._embeddings.close()
        self._embeddings = embeddings
        embeddings.start()
        return index.with_embeddings(embeddings)

    def narrowed(self, catalog: Catalog) -> Finder:
        """Return a finder of a smaller catalog, which reveals nothing of other tools. It is closed with this one."""
        other = copy(self)
        other._embeddings = None
        other._progress = ignore
        other._narrowed = []
        other._index = None  # shares no vocabulary with the whole
        other._first_search = Lock()
        if self._is_late:
            other.open_later(catalog, self._states)
        else:
            other.open(catalog, self._states)
        self._narrowed.append(other)
        return other

    def search(self, query: Query) -> Hits:
        """Return the hits of a query. Raises SearchInvalid for a filter with an unknown value."""
        return self.index.search(query)

    def search_with_look_ups(self, query: Query) -> Hits:
        """Return the hits of a query, with look-ups for the leading ones."""
        index = self.index
        return index.with_look_ups(index.search(query))

    @property
    def uses_embeddings(self) -> bool:
        """Whether embeddings are configured. A search may then wait for the vector of its query."""
        return self._embedder is not None

    @property
    def embeddings_model(self) -> str:
        """The name of the embedding model, or "" without embeddings."""
        settings = self._settings.embeddings
        if settings is None:
            return ""
        if settings.kind == "openai":
            return settings.model
        from codemode.search.semantic.embeddings import PACKAGED_MODEL

        return PACKAGED_MODEL

    def vectors_of(self, texts: Sequence[str], wait_s: float) -> tuple[list[Vectors | None], str]:
        """Return the vector of each text, or None where it does not arrive in time.

        The second value is the reason for a missing vector, or "".
        """
        if self._queries is None:
            return [None] * len(texts), "search.embeddings is not configured"
        return self._queries.of(texts, wait_s=wait_s)

    @property
    def embedded(self) -> Progress | None:
        """The progress of embedding the tools, or None without embeddings."""
        return None if self._embeddings is None else self._embeddings.progress

    def settle(self, queries: Sequence[str], timeout_s: float, *, gives_up: bool = False) -> None:
        """Wait at most `timeout_s` for the embeddings of the tools, and then of these queries.

        `gives_up` ends the wait at the first failure, even if the request is retried.
        """
        ends = time.monotonic() + timeout_s
        embeddings, vectors = self._embeddings, self._queries
        if embeddings is None or vectors is None:
            return
        while not embeddings.wait(min(_POLL_S, max(0.0, ends - time.monotonic()))):
            if time.monotonic() >= ends or (gives_up and embeddings.progress.problem):
                return
        if embeddings.progress.is_ready:
            for start in range(0, len(queries), _BATCH):
                vectors.of(queries[start : start + _BATCH], wait_s=max(0.0, ends - time.monotonic()))

    def close(self) -> None:
        """Stop the background threads of this finder and of its narrowed ones."""
        embeddings = [self._embeddings, *(other._embeddings for other in self._narrowed)]
        for each in (*embeddings, self._queries, self._embedder):
            if each is not None:
                each.close()
