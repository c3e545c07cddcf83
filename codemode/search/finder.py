"""The configured search of one catalog: an index cached on disk, and embeddings if configured."""

from __future__ import annotations

import time
from copy import copy
from types import MappingProxyType
from typing import TYPE_CHECKING

from codemode.catalog.catalog import Catalog
from codemode.catalog.loading import LoadingStep, unheard
from codemode.errors import ConfigurationError
from codemode.search.index.cache import IndexCache
from codemode.search.index.index import Index
from codemode.search.ranking.weights import RANKING, Weights
from codemode.search.semantic.embeddings import PACKAGED_MODEL, make_embedder
from codemode.search.semantic.query_vectors import QueryVectors
from codemode.search.semantic.similarity import EmbeddingIndex
from codemode.search.semantic.vectors import VectorCache

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from codemode.catalog.loading import LoadingListener
    from codemode.search.query import Hits, Query
    from codemode.search.semantic.embeddings import Embedder, Vectors
    from codemode.search.semantic.similarity import Progress
    from codemode.settings import SearchSettings

_BATCH = 64  # queries in one request
_POLL_S = 0.1


class Finder:
    """Searches a catalog. Call `open` with each new catalog, and `close` to end its threads.

    `progress` receives the steps of indexing and embedding, but none of narrowed finders.
    Raises ConfigurationError if the settings name an unknown ranking feature or a missing model.
    """

    def __init__(self, settings: SearchSettings, folder: Path, progress: LoadingListener = unheard) -> None:
        self._settings = settings
        self._progress = progress
        self._indexes = IndexCache(folder / "indexes")
        self._vectors = folder / "vectors"
        self.index = Index.build(Catalog(), weights=_weights(settings.ranking))
        self._states: tuple[str, ...] = ()
        self._narrowed: list[Finder] = []
        self._embedder: Embedder | None = None
        self._queries: QueryVectors | None = None
        self._embeddings: EmbeddingIndex | None = None
        if settings.embeddings is not None:
            self._embedder = make_embedder(settings.embeddings)
            self._queries = QueryVectors(self._embedder, wait_s=settings.embeddings.query_wait_ms / 1000)

    def open(self, catalog: Catalog, digests: Iterable[str]) -> None:
        """Search this catalog from now on. `digests` are those of its source documents, "" for an unknown one."""
        states = self._states = tuple(digests)
        if all(states):
            states = (*states, repr(sorted(self._settings.enrichment.items())))
        began = time.monotonic()
        self._progress(LoadingStep("indexing", tools=len(catalog)))
        index = self._indexes.open(catalog, states, previous=self.index.by_words)
        self._progress(LoadingStep("indexed", tools=len(catalog), duration_s=time.monotonic() - began))
        if self._settings.embeddings is None or self._embedder is None or self._queries is None:
            self.index = index
            return
        embeddings = EmbeddingIndex(
            index.tools,
            self._embedder,
            VectorCache(self._vectors, self._embedder.name),
            self._queries,
            batch=self._settings.embeddings.batch,
            listener=self._progress,
        )
        if self._embeddings is not None:
            self._embeddings.close()
        self._embeddings = embeddings
        self.index = index.with_embeddings(embeddings)
        embeddings.start()

    def narrowed(self, catalog: Catalog) -> Finder:
        """Return a finder of a smaller catalog, which reveals nothing of other tools. It is closed with this one."""
        other = copy(self)
        other._embeddings = None
        other._progress = unheard
        other._narrowed = []
        other.index = Index.build(Catalog(), weights=self.index.weights)  # shares no vocabulary with the whole
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
        return self._embeddings is not None

    @property
    def embeddings_model(self) -> str:
        """The name of the embedding model, or "" without embeddings."""
        settings = self._settings.embeddings
        if settings is None:
            return ""
        if settings.kind == "openai":
            return settings.model
        return PACKAGED_MODEL if settings.folder is None else settings.folder.name

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


def _weights(ranking: Mapping[str, float]) -> Weights:
    unknown = [name for name in ranking if name not in RANKING]
    if unknown:
        message = f"search.ranking: unknown feature {unknown[0]!r}; valid: {', '.join(RANKING)}"
        raise ConfigurationError(message)
    return Weights(ranking=MappingProxyType({**RANKING, **ranking}))
