"""Similarity: how near tools are to a query by their embeddings. Made in the background and never waited for."""

from __future__ import annotations

import logging
import random
import threading
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from codemode.search.index.documents import Field, fields_of
from codemode.search.semantic.embeddings import EmbeddingFailure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from codemode.catalog.tool import Tool
    from codemode.search.semantic.embeddings import Embedder
    from codemode.search.semantic.query_vectors import QueryVectors
    from codemode.search.semantic.vectors import VectorCache, VectorTable

logger = logging.getLogger(__name__)

BATCH = 64  # texts in one request: every service takes as many
_FIRST_PAUSE_S = 1.0
_LONGEST_PAUSE_S = 60.0
_NEAREST = 60  # tools that are looked at for their meaning
_TEXT_LIMIT = 400  # characters of a tool: more made small models no better, and takes them longer
NOTABLY_SIMILAR = 3.0  # standard deviations from which on nearness is told as a reason
_LEAST_SPREAD = 0.03  # of cosines: in a catalog of a few tools that are all alike none stands out
_PROBE = "list"  # asked first: whether the model answers, and with vectors of which size

_BY_WORDS = "ranked by words alone"


@dataclass(frozen=True, slots=True)
class Progress:
    """How many texts of `total` have vectors, and the last failure or "".

    `is_ready` when search uses them; `has_ended` when nothing more is done for it, because they are or cannot be made.
    """

    done: int
    total: int
    is_ready: bool = False
    has_ended: bool = False
    problem: str = ""


class Similarity:
    """Vectors of the tools of one index. `start` begins to make those that the cache has not; `close` ends it.

    A service that fails is asked again after a pause that doubles up to a minute, or that it asks for, and what it has
    answered is kept; where asking again does not help the work ends, with `Progress.problem` saying why.
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
    ) -> None:
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
        """How far the work is."""
        return self._progress

    def start(self) -> None:
        """Begin in a thread of its own, which ends with the process if it must."""
        threading.Thread(target=self._work, name="embeddings", daemon=True).start()

    def wait(self, timeout_s: float) -> bool:
        """Whether all is done, or cannot be, within the time."""
        return self._ended.wait(timeout_s)

    def close(self) -> None:
        """Stop after the batch that is under way."""
        self._closed.set()

    def standings(
        self, queries: Sequence[str], *, wait_s: float | None = None
    ) -> tuple[Sequence[NDArray[np.float32] | None], str]:
        """How near each tool is to each query (`standing`), where that is known; and what is missing, or ""."""
        table = self._table
        if table is None:
            return [None] * len(queries), f"{self._unready()}: {_BY_WORDS}"
        vectors, problem = self._queries.of(queries, wait_s=wait_s)
        if any(vector is not None and len(vector) != table.size for vector in vectors):
            return [None] * len(queries), f"the embeddings model has changed; start again: {_BY_WORDS}"
        found = [None if vector is None else standing(table.cosines(vector)) for vector in vectors]
        return found, f"{problem}: {_BY_WORDS}" if problem else ""

    def _unready(self) -> str:
        made = f"{self._progress.done:,} of {self._progress.total:,} tools"
        problem = self._progress.problem
        return f"{problem} ({made} are embedded)" if problem else f"embeddings are being made ({made})"

    def _work(self) -> None:
        pause_s = self._first_pause_s
        while not self._closed.is_set():
            before = self._progress.done
            try:
                self._table = self._made()
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
                logger.exception("making embeddings failed")
                self._progress = replace(self._progress, problem=f"making embeddings failed ({type(error).__name__})")
                break
            else:
                break
        self._progress = replace(self._progress, has_ended=True)
        self._ended.set()

    def _made(self) -> VectorTable | None:
        """The vectors of all tools; None where it was closed before."""
        size = self._embedder.embed([_PROBE]).shape[1]
        self._cache.read()
        missing = self._cache.missing(self._texts) if self._cache.size == size else list(dict.fromkeys(self._texts))
        total = len(self._texts)
        for start in range(0, len(missing), self._batch):
            self._progress = replace(self._progress, done=total - len(missing) + start, problem="")
            if self._closed.is_set():
                return None
            texts = missing[start : start + self._batch]
            vectors = self._embedder.embed(texts)
            if vectors.shape[1] != size:
                message = f"the embeddings service gives vectors of {size} and of {vectors.shape[1]} numbers"
                raise EmbeddingFailure(message, final=True)
            self._cache.add(texts, vectors)
        self._cache.read()
        table = self._cache.table(self._texts)
        self._progress = replace(self._progress, done=total, is_ready=True, problem="")
        return table


def text_of(tool: Tool) -> str:
    """What of a tool is embedded: where it lives, its name, and what it does, or its parameters where nothing says."""
    fields = fields_of(tool)
    name = fields[Field.NAME].replace("_", " ").replace(".", " ")
    told = f"{fields[Field.SUMMARY]} {fields[Field.TEXT]}".strip() or fields[Field.PARAMETERS].replace("_", " ")
    return f"{fields[Field.HOME]}: {name}. {told}"[:_TEXT_LIMIT]


def with_nearest(
    documents: NDArray[np.intp],
    sums: NDArray[np.float32],
    close: int,
    similar: NDArray[np.float32],
    allowed: NDArray[np.bool_] | None,
) -> tuple[NDArray[np.intp], NDArray[np.float32], int]:
    """The candidates with the nearest in meaning among the close ones; these have the sums that are known, or none."""
    reachable = similar if allowed is None else np.where(allowed, similar, -np.inf)
    count = min(_NEAREST, len(reachable))
    nearest = np.argpartition(reachable, len(reachable) - count)[-count:]
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


def standing(cosines: NDArray[np.float32]) -> NDArray[np.float32]:
    """Cosines as standard deviations from the mean of the catalog: what is near differs by model, query, catalog."""
    spread = max(float(cosines.std()), _LEAST_SPREAD)
    return np.asarray((cosines - cosines.mean()) / spread, np.float32)
