"""Vectors of queries: asked for at once, waited for no longer than is worth it, remembered."""

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

_REMEMBERED = 2_000
_LONGEST_QUEUE = 64  # queries that wait for a slow service; the oldest are given up


class QueryVectors:
    """Gives the vectors of queries that are there within `wait_s`.

    A service that did not answer in time is not waited for again until it has answered one request in that time. What
    comes late is remembered all the same, for the next search with the same words.
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
        """The vector of each query or None, and why one is missing ("" when none is).

        Waits at most `wait_s`, or what this object was made with, and then not at all for a slow service.
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
            found = [self._known.get(query) for query in queries]
            if all(vector is not None for vector in found):
                return found, ""
            return found, self._failure or "the embedding of the query has not come yet"

    def close(self) -> None:
        """Ask for nothing any more."""
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
        """Whether all are known, or a request that was made for them has failed."""
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
            while len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
            self._change.notify_all()
