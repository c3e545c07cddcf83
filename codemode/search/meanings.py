"""Meanings: how near tools are to a query by their embeddings. Worked out in the background and never waited for."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np

from codemode.search.documents import Field, fields_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from codemode.catalog.tool import Tool
    from codemode.search.embeddings import Embedder, VectorCache, Vectors

logger = logging.getLogger(__name__)

BATCH = 64  # texts in one request: services take at least this many
QUERY_TIMEOUT_S = 0.3  # that a search lets the vector of a new query take; after it the search answers without
_NEAREST = 60  # tools that are looked at for their meaning
_REMEMBERED = 2_000  # vectors of queries
_TEXT_LIMIT = 600  # characters of a tool; small models read no more


class Meanings:
    """Vectors of tools and queries. `start` begins to work; `close` ends it.

    `problem` says why there are no similarities: "" when there are, else a sentence for whoever searches.
    """

    def __init__(
        self, tools: Sequence[Tool], embedder: Embedder, cache: VectorCache, *, query_timeout_s: float = QUERY_TIMEOUT_S
    ) -> None:
        self._texts = [text_of(tool) for tool in tools]
        self._embedder = embedder
        self._cache = cache
        self._query_timeout_s = query_timeout_s
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="embeddings")
        self._asker = ThreadPoolExecutor(1, thread_name_prefix="query-embeddings")
        self._closed = threading.Event()
        self._ready = threading.Event()
        self._vectors: Vectors | None = None
        self._queries: OrderedDict[str, Vectors] = OrderedDict()
        self.problem = "embeddings are not ready yet: ranked by words alone"

    def start(self) -> None:
        """Begin to embed the tools; those in the cache cost nothing."""
        self._worker.submit(self._work)

    def wait(self, timeout_s: float) -> bool:
        """Whether all tools are embedded, or that has failed, within the time."""
        return self._ready.wait(timeout_s)

    def close(self) -> None:
        """Stop after the batch that is under way."""
        self._closed.set()
        self._worker.shutdown(cancel_futures=True)
        self._asker.shutdown(cancel_futures=True)

    def similarities(self, query: str) -> NDArray[np.float32] | None:
        """The cosine of each tool to the query, in the order of the tools; None while `problem` holds."""
        if self._vectors is None or self._closed.is_set():
            return None
        vector = self._of_query(query)
        return None if vector is None else self._vectors @ vector

    def _of_query(self, query: str) -> Vectors | None:
        known = self._queries.get(query)
        if known is not None:
            return known
        try:
            vector = self._asker.submit(self._embed_query, query).result(self._query_timeout_s)
        except Exception as error:  # noqa: BLE001 (whatever a service does wrong, search goes on without it)
            self.problem = f"the embedding of the query did not come ({type(error).__name__}): ranked by words alone"
            return None
        self.problem = ""
        return vector

    def _embed_query(self, query: str) -> Vectors:
        vector: Vectors = _unit(self._embedder.embed([query]))[0]
        while len(self._queries) >= _REMEMBERED:
            self._queries.popitem(last=False)
        self._queries[query] = vector
        return vector

    def _work(self) -> None:
        try:
            vectors = self._embed_tools()
        except Exception as error:  # noqa: BLE001 (as above; the operator reads it in the log)
            logger.warning("embeddings failed: %s", type(error).__name__)
            self.problem = f"the embeddings service failed ({type(error).__name__}): ranked by words alone"
        else:
            if vectors is not None:
                self._vectors = _unit(vectors)
                self.problem = ""
        finally:
            self._ready.set()

    def _embed_tools(self) -> Vectors | None:
        found = self._cache.get(self._texts)
        missing = [place for place, vector in enumerate(found) if vector is None]
        for start in range(0, len(missing), BATCH):
            if self._closed.is_set():
                return None
            batch = missing[start : start + BATCH]
            texts = [self._texts[place] for place in batch]
            vectors = self._embedder.embed(texts)
            self._cache.add(texts, vectors)
            for place, vector in zip(batch, vectors, strict=True):
                found[place] = vector
        return np.array(found, np.float32) if found else None


def text_of(tool: Tool) -> str:
    """What of a tool is embedded: where it lives, its name, what it does, its parameters."""
    fields = fields_of(tool)
    name = fields[Field.NAME].replace("_", " ").replace(".", " ")
    text = f"{fields[Field.HOME]}: {name}. {fields[Field.SUMMARY]} {fields[Field.TEXT]}"
    parameters = fields[Field.PARAMETERS].replace("_", " ")
    return f"{text[:_TEXT_LIMIT]}\n{parameters[:_TEXT_LIMIT]}"


def with_nearest(
    documents: NDArray[np.int32],
    sums: NDArray[np.float32],
    close: int,
    similar: NDArray[np.float32],
    allowed: NDArray[np.bool_] | None,
) -> tuple[NDArray[np.int32], NDArray[np.float32], int]:
    """The candidates with the nearest in meaning among the close ones; these have the sums that are known, or none."""
    reachable = similar if allowed is None else np.where(allowed, similar, -np.inf)
    count = min(_NEAREST, len(reachable))
    nearest = np.argpartition(reachable, len(reachable) - count)[-count:].astype(np.int32)
    nearest = nearest[np.isfinite(reachable[nearest])]
    added = np.setdiff1d(nearest, documents[:close])
    known = dict(zip(documents.tolist(), sums.tolist(), strict=True))
    of_added = np.array([known.get(document, 0.0) for document in added.tolist()], np.float32)
    rest = ~np.isin(documents[close:], added)
    return (
        np.concatenate((documents[:close], added, documents[close:][rest])),
        np.concatenate((sums[:close], of_added, sums[close:][rest])),
        close + len(added),
    )


def fused(scores: NDArray[np.float32], similar: NDArray[np.float32], weight: float) -> NDArray[np.float32]:
    """Scores with similarities added, the nearest worth `weight` of the best score and the farthest nothing."""
    low, high = float(similar.min()), float(similar.max())
    share = (similar - low) / max(high - low, 1e-6)
    return scores + np.float32(weight * max(float(scores.max()), 1e-3)) * share


def _unit(vectors: Vectors) -> Vectors:
    length = np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    return np.asarray(vectors / length, np.float32)
