"""Candidate selection: the documents with the highest BM25F sums over the groups of a query."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from codemode.search.documents.postings import Postings
    from codemode.search.interpretation.expansion import Group

    MergedGroup = tuple[NDArray[np.int32], NDArray[np.float32], float]

_CACHED_POSTINGS = 2_000_000  # postings of merged groups in the cache, 8 bytes each
_ENTRY_OVERHEAD = 50  # overhead of one cache entry, in postings
_CUTS = (0.2, 0.1, 0.0)  # shares of the highest sum; the first cut that leaves enough documents is used
_NO_DOCUMENTS = np.zeros(0, np.int32)
_SORTED_AT_ONCE = 400  # documents; larger selections are partitioned before sorting


class Scorer:
    """Sums the postings of a query's groups. Merged groups are cached."""

    def __init__(self, postings: Postings) -> None:
        self._postings = postings
        self._merged_groups: dict[tuple[tuple[int, float], ...], MergedGroup] = {}
        self._cached_size = 0

    def sums(self, groups: Sequence[Group]) -> NDArray[np.float64]:
        """Return the sum of each document, as an array over all documents."""
        if not groups:
            return np.zeros(self._postings.size)
        cached = self._merged_groups.get
        merged_groups = [cached(group.alternatives) or self._merged(group.alternatives) for group in groups]
        documents = np.concatenate([each[0] for each in merged_groups])
        values = np.concatenate([each[1] for each in merged_groups])
        shares = np.array(
            [each[2] * group.weight for each, group in zip(merged_groups, groups, strict=True)], np.float32
        )
        values *= shares.repeat([len(each[0]) for each in merged_groups])
        return np.bincount(documents, values, minlength=self._postings.size).astype(np.float64, copy=False)

    def _merged(self, alternatives: tuple[tuple[int, float], ...]) -> MergedGroup:
        """Return the documents with any alternative, the impact of the best one in each, and a common factor."""
        lists = [self._postings_of(term, worth) for term, worth in alternatives]
        merged = lists[0] if len(lists) == 1 else self._merge(lists)
        size = _ENTRY_OVERHEAD + (len(merged[0]) if len(lists) > 1 else 0)  # a single list is a view of the postings
        if self._cached_size + size > _CACHED_POSTINGS:
            self._merged_groups.clear()
            self._cached_size = 0
        self._cached_size += size
        self._merged_groups[alternatives] = merged
        return merged

    def _postings_of(self, term: int, worth: float) -> MergedGroup:
        postings = self._postings
        rows = slice(*postings.starts[term : term + 2].tolist())
        return postings.documents[rows], postings.impacts[rows], float(postings.rarity[term]) * worth

    def _merge(self, lists: Sequence[MergedGroup]) -> MergedGroup:
        best = np.zeros(self._postings.size, np.float32)
        added = []
        for documents, values, share in lists:
            before = best[documents]
            added.append(documents[before == 0])
            best[documents] = np.maximum(before, values * np.float32(share))
        matching = np.concatenate([_NO_DOCUMENTS, *added])
        return matching, best[matching], 1.0


def best(total: NDArray[np.float64], count: int) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
    """Return the `count` documents with the highest sums, best first, and their sums. Earlier documents win ties."""
    documents = _highest(total, count)
    sums = total.take(documents)
    if len(documents) > max(count, _SORTED_AT_ONCE):
        kept = sums >= np.partition(sums, len(sums) - count)[len(sums) - count]
        documents, sums = documents[kept], sums[kept]
    order = (-sums).argsort(kind="stable")[:count]
    return documents.take(order), sums.take(order).astype(np.float32)


def _highest(total: NDArray[np.float64], count: int) -> NDArray[np.intp]:
    """Return at least `count` documents with the highest sums, or all with a positive sum, in document order."""
    highest = np.maximum.reduce(total, initial=0)
    above = np.zeros(0, np.intp)
    for cut in _CUTS:
        (above,) = (total > cut * highest).nonzero()
        if len(above) >= count:
            break
    return above
