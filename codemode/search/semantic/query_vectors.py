"""Query vectors: requested in the background, awaited for a bounded time, cached."""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from typing import TYPE_CHECKING

from codemode.search.semantic.embeddings import EmbeddingFailure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codemode.search.semantic.embeddings import Embedder, Vectors

logger = logging.getLogger(__name__)

_CACHED = 2_000  # vectors
_LONGEST_QUEUE = 64  # queries waiting for a slow service; the oldest are dropped


class QueryVectors:
    """Returns the vectors of queries that arrive within `wait_s`.

    After a late answer, searches do not wait until the service has answered one request in time. Late vectors are
    cached for the next search with the same words.
    """

    def __init__(self, embedder: Embedder, *, wait_s: float) -> None:
        self._embedder = embedder
        self._wait_s = wait_s
        self._known: OrderedDict[str, Vectors] = OrderedDict()
        self._wanted: OrderedDict[str, None] = OrderedDict()
        self._change = threading.Condition()
        self._is_prompt = True
        self._is_closed = False
        self._rounds = 0  # requests that have ended
        self._failure = ""
        self._thread: threading.Thread | None = None

    def of(self, queries: Sequence[str], *, wait_s: float | None = None) -> tuple[list[Vectors | None], str]:
        """Return the vector of each query, or None where it does not arrive in time.

        The second value is the reason for a missing vector, or "". `wait_s` is the longest wait. By default it is that
        of this object, or 0 after a late answer.
        """
        with self._change:
            unknown = [query for query in dict.fromkeys(queries) if query not in self._known]
            if unknown:
                self._want(unknown)
                rounds, bound = self._rounds, wait_s
                if bound is None:
                    bound = self._wait_s if self._is_prompt else 0.0
                is_here = self._change.wait_for(lambda: self._is_settled(unknown, rounds), bound)
                self._is_prompt = self._is_prompt and is_here
            for query in queries:
                if query in self._known:
                    self._known.move_to_end(query)
            vectors = [self._known.get(query) for query in queries]
            if all(vector is not None for vector in vectors):
                return vectors, ""
            return vectors, self._failure or "the embedding of the query is not ready"

    def close(self) -> None:
        """Stop requesting vectors, and wake all waiting searches."""
        with self._change:
            self._is_closed = True
            self._change.notify_all()

    def _want(self, queries: Sequence[str]) -> None:
        self._wanted.update(dict.fromkeys(queries))
        while len(self._wanted) > max(_LONGEST_QUEUE, len(queries)):
            self._wanted.popitem(last=False)
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="query-embeddings", daemon=True)
            self._thread.start()
        self._change.notify_all()

    def _is_settled(self, queries: Sequence[str], rounds: int) -> bool:
        """Return whether all queries have vectors, or a later request has failed."""
        return (
            self._is_closed
            or all(query in self._known for query in queries)
            or bool(self._failure and self._rounds > rounds)
        )

    def _work(self) -> None:
        while True:
            with self._change:
                self._change.wait_for(lambda: self._is_closed or self._wanted)
                if self._is_closed:
                    return
                queries = list(self._wanted)
                self._wanted.clear()
            self._ask(queries)

    def _ask(self, queries: Sequence[str]) -> None:
        vectors: Sequence[Vectors] = ()
        failure = ""
        begun = time.monotonic()
        try:
            vectors = list(self._embedder.embed(queries))
        except EmbeddingFailure as error:
            failure = str(error)
        except Exception as error:
            logger.exception("embedding a query failed")
            failure = f"the embedding of the query failed ({type(error).__name__})"
        with self._change:
            self._failure = failure
            self._is_prompt = not failure and time.monotonic() - begun <= self._wait_s
            self._rounds += 1
            self._known.update(zip(queries, vectors, strict=False))
            while len(self._known) > _CACHED:
                self._known.popitem(last=False)
            self._change.notify_all()
