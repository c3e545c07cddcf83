"""Candidates: the documents with the highest sums over a query's groups."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from codemode.search.groups import Group
    from codemode.search.postings import Postings

    Worths = tuple[NDArray[np.int32], NDArray[np.float32]]

_REMEMBERED = 2_000_000  # postings of merged groups kept, 8 bytes each
_CUTS = (0.4, 0.2, 0.1, 0.0)  # of the highest sum: below the cut no document is looked at, if enough are above it


class Scorer:
    """Adds up postings. Keeps one row of numbers per thread, all zero between queries."""

    def __init__(self, postings: Postings) -> None:
        self._postings = postings
        self._local = threading.local()
        self._merged: dict[tuple[tuple[int, float], ...], Worths] = {}
        self._remembered = 0

    def best(
        self, groups: Sequence[Group], count: int, allowed: NDArray[np.bool_] | None = None
    ) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """The `count` best documents and their sums, best first; ties go to the earlier document."""
        total = self._row()
        for group in groups:
            if group.alternatives:
                documents, values = self._worths(group.alternatives)
                total[documents] += values * np.float32(group.weight)
        if allowed is not None:
            total *= allowed
        found = _highest(total, count)
        sums = total[found]
        total.fill(0)
        if len(found) > count:
            kept = np.argpartition(sums, len(sums) - count)[-count:]
            found, sums = found[kept], sums[kept]
        order = np.lexsort((found, -sums))
        return found[order], sums[order]

    def _row(self) -> NDArray[np.float32]:
        row: NDArray[np.float32] | None = getattr(self._local, "row", None)
        if row is None:
            row = self._local.row = np.zeros(self._postings.size, np.float32)
        return row

    def _worths(self, alternatives: tuple[tuple[int, float], ...]) -> Worths:
        """The documents that hold any of the alternatives, each with what its best one is worth."""
        if len(alternatives) == 1:
            return self._one(*alternatives[0])
        merged = self._merged.get(alternatives)
        if merged is None:
            merged = self._merge([self._one(term, worth) for term, worth in alternatives])
            self._remembered += len(merged[0])
            if self._remembered > _REMEMBERED:
                self._merged.clear()
                self._remembered = len(merged[0])
            self._merged[alternatives] = merged
        return merged

    def _one(self, term: int, worth: float) -> Worths:
        postings = self._postings
        rows = slice(postings.starts[term], postings.starts[term + 1])
        return postings.documents[rows], postings.impacts[rows] * (postings.rarity[term] * np.float32(worth))

    def _merge(self, lists: Sequence[Worths]) -> Worths:
        documents, values = lists[0]
        best = np.zeros(self._postings.size, np.float32)
        best[documents] = values
        for documents, values in lists[1:]:
            best[documents] = np.maximum(best[documents], values)
        held = np.flatnonzero(best).astype(np.int32)
        return held, best[held]


def _highest(total: NDArray[np.float32], count: int) -> NDArray[np.int32]:
    """At least `count` documents with the highest sums, or all that have any."""
    highest = float(total.max(initial=0))
    found = np.zeros(0, np.intp)
    for cut in _CUTS:
        found = np.flatnonzero(total > cut * highest)
        if len(found) >= count:
            break
    return found.astype(np.int32)
