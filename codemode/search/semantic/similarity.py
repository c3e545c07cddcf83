"""Similarity of tools and queries by their embeddings. Tools are embedded in the background."""

from __future__ import annotations

import logging
import math
import random
import threading
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from codemode.catalog.loading import LoadingStep
from codemode.search.documents.documents import Field, fields_of
from codemode.search.ranking.candidates import with_others
from codemode.search.semantic.embeddings import EmbeddingFailure
from codemode.shared.callbacks import ignore

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from codemode.catalog.loading import LoadingListener, Step
    from codemode.catalog.tool import Tool
    from codemode.search.semantic.embeddings import Embedder
    from codemode.search.semantic.query_vectors import QueryVectors
    from codemode.search.semantic.vectors import VectorCache, VectorTable

logger = logging.getLogger(__name__)

BATCH = 64  # texts in one request, which every service accepts
_FIRST_PAUSE_S = 1.0
_LONGEST_PAUSE_S = 60.0
_NEAREST = 60  # most similar tools that become candidates
_TEXT_LIMIT = 400  # characters of a tool; longer texts make small models slower and no better
NOTABLY_SIMILAR = 3.0  # standard deviations above which a hit reports `meaning` as a match
_LEAST_SPREAD = 0.03  # least standard deviation of cosines, so that no tool of a uniform catalog stands out
_STANDS_OUT = 2.0  # standard deviations beyond which similarity counts
_CERTAIN = 2 / 3  # confidence of words from which on similarity does not count
_PROBE = "list"  # the first text: finds out whether the model answers, and the vector size

_BY_WORDS = "ranked by words alone"


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of embedding: `done` of `total` texts have vectors.

    `is_ready` is whether search uses the vectors. `has_ended` is whether the work has ended, in success or failure.
    `problem` is the last failure, or "".
    """

    done: int
    total: int
    is_ready: bool = False
    has_ended: bool = False
    problem: str = ""


class EmbeddingIndex:
    """The embeddings of one index's tools. `start` embeds the tools that the cache lacks; `close` stops this.

    Failed requests are retried after a pause, which doubles up to a minute, or as the service asks. Received vectors
    are kept. After a final failure the work ends, and `Progress.problem` says why. `listener` receives a step after
    each batch.
    """

    def __init__(
        self,
        tools: Sequence[Tool],
        embedder: Embedder,
        cache: VectorCache,
        queries: QueryVectors,
        *,
        batch: int = BATCH,
        first_pause_s: float = _FIRST_PAUSE_S,
        listener: LoadingListener = ignore,
    ) -> None:
        self._listener = listener
        self._texts = [text_of(tool) for tool in tools]
        self._embedder = embedder
        self._cache = cache
        self._queries = queries
        self._batch = batch
        self._first_pause_s = first_pause_s
        self._closed = threading.Event()
        self._ended = threading.Event()
        self._table: VectorTable | None = None
        self._progress = Progress(0, len(self._texts))

    @property
    def progress(self) -> Progress:
        """The progress of embedding."""
        return self._progress

    def start(self) -> None:
        """Start embedding in a daemon thread."""
        threading.Thread(target=self._work, name="embeddings", daemon=True).start()

    def wait(self, timeout_s: float) -> bool:
        """Wait for the work to end. Return whether it ended within the time."""
        return self._ended.wait(timeout_s)

    def close(self) -> None:
        """Stop after the current batch."""
        self._closed.set()

    def of_queries(
        self, queries: Sequence[str], *, wait_s: float | None = None
    ) -> tuple[Sequence[NDArray[np.float32] | None], str]:
        """Return the standardized cosines of all tools for each query, or None where its vector is missing.

        The second value is a note on what is missing, or "". See `QueryVectors.of` for `wait_s`.
        """
        table = self._table
        if table is None:
            return [None] * len(queries), f"{self._unready()}: {_BY_WORDS}"
        vectors, problem = self._queries.of(queries, wait_s=wait_s)
        if any(vector is not None and len(vector) != table.size for vector in vectors):
            return [None] * len(queries), f"the embeddings model has changed; restart codemode: {_BY_WORDS}"
        similarities = [None if vector is None else standardized(table.cosines(vector)) for vector in vectors]
        return similarities, f"{problem}: {_BY_WORDS}" if problem else ""

    def _unready(self) -> str:
        made = f"{self._progress.done:,} of {self._progress.total:,} tools"
        problem = self._progress.problem
        return f"{problem} ({made} are embedded)" if problem else f"embeddings are being made ({made})"

    def _work(self) -> None:
        began = time.monotonic()
        pause_s = self._first_pause_s
        while not self._closed.is_set():
            before = self._progress.done
            try:
                self._table = self._embed_missing()
            except EmbeddingFailure as failure:
                if self._progress.done > before:
                    pause_s = self._first_pause_s
                self._progress = replace(self._progress, problem=str(failure))
                logger.warning("%s", failure)
                if failure.final:
                    break
                self._closed.wait(max(pause_s * random.uniform(0.8, 1.2), failure.pause_s))  # noqa: S311
                pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
            except Exception as error:
                logger.exception("embedding the tools failed")
                self._progress = replace(self._progress, problem=f"embedding the tools failed ({type(error).__name__})")
                break
            else:
                break
        self._progress = replace(self._progress, has_ended=True)
        if self._progress.is_ready:
            self._listener(self._step("embedded", duration_s=time.monotonic() - began))
        self._ended.set()

    def _step(self, step: Step, duration_s: float = 0.0) -> LoadingStep:
        return LoadingStep(step, tools=self._progress.total, done=self._progress.done, duration_s=duration_s)

    def _embed_missing(self) -> VectorTable | None:
        """Embed the tools without vectors. Return the vectors of all tools, or None if closed meanwhile."""
        size = self._embedder.embed([_PROBE]).shape[1]
        self._cache.read()
        missing = self._cache.missing(self._texts) if self._cache.size == size else list(dict.fromkeys(self._texts))
        total = len(self._texts)
        for start in range(0, len(missing), self._batch):
            self._progress = replace(self._progress, done=total - len(missing) + start, problem="")
            self._listener(self._step("embedding"))
            if self._closed.is_set():
                return None
            texts = missing[start : start + self._batch]
            vectors = self._embedder.embed(texts)
            if vectors.shape[1] != size:
                message = f"the embeddings service returned vectors of {size} and of {vectors.shape[1]} numbers"
                raise EmbeddingFailure(message, final=True)
            self._cache.add(texts, vectors)
        self._cache.read()
        table = self._cache.table(self._texts)
        self._progress = replace(self._progress, done=total, is_ready=True, problem="")
        return table


def text_of(tool: Tool) -> str:
    """Return the text that is embedded for a tool: home, name and description, or else its parameters."""
    fields = fields_of(tool)
    name = fields[Field.NAME].replace("_", " ").replace(".", " ")
    purpose = f"{fields[Field.SUMMARY]} {fields[Field.TEXT]}".strip() or fields[Field.PARAMETERS].replace("_", " ")
    return f"{fields[Field.HOME]}: {name}. {purpose}"[:_TEXT_LIMIT]


def with_nearest(
    documents: NDArray[np.intp],
    sums: NDArray[np.float32],
    reranked: int,
    similarities: NDArray[np.float32],
    allowed: NDArray[np.bool_] | None,
) -> tuple[NDArray[np.intp], NDArray[np.float32], int]:
    """Add the most similar documents to the first `reranked` candidates.

    Return the documents, their sums, and the new number of documents to re-rank. Added documents have their BM25F sum,
    or 0. `allowed` is the mask of the query's filters.
    """
    reachable = similarities if allowed is None else np.where(allowed, similarities, -np.inf)
    count = min(_NEAREST, len(reachable))
    nearest = np.argpartition(reachable, len(reachable) - count)[-count:]
    nearest = nearest[np.isfinite(reachable[nearest])]
    return with_others(documents, sums, reranked, nearest.tolist())


def meant(similarities: NDArray[np.float32], tools: int, certainty: float) -> NDArray[np.float32]:
    """Return how much the meaning of tools counts, in standard deviations.

    Only tools that stand out count, and less the more certainly words answer. Among a few tools none can stand out by
    more than the root of their number, so a third of that is enough.
    """
    least = min(_STANDS_OUT, math.sqrt(tools) / 3)
    share = max(0.0, 1 - certainty / _CERTAIN)
    return np.asarray(share * np.maximum(similarities - least, 0), np.float32)


def standardized(cosines: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return cosines as standard deviations from their mean. Cosines differ in range by model, query and catalog."""
    spread = max(float(cosines.std()), _LEAST_SPREAD)
    return np.asarray((cosines - cosines.mean()) / spread, np.float32)
