"""Candidates: the documents with the highest sums over a query's groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from codemode.search.analysis.expansion import Group
    from codemode.search.index.postings import Postings

    Worths = tuple[NDArray[np.int32], NDArray[np.float32], float]

_REMEMBERED = 2_000_000  # postings of merged groups kept, 8 bytes each
_REMEMBERING = 50  # postings that take as much memory as to remember a group does
_CUTS = (0.2, 0.1, 0.0)  # of the highest sum: below the cut no document is looked at, if enough are above it
_NO_DOCUMENTS = np.zeros(0, np.int32)
_SORTED_AT_ONCE = 400  # documents; of more than this the best are picked out before they are sorted


class Scorer:
    """Adds up postings."""

    def __init__(self, postings: Postings) -> None:
        self._postings = postings
        self._worths: dict[tuple[tuple[int, float], ...], Worths] = {}
        self._remembered = 0

    def sums(self, groups: Sequence[Group]) -> NDArray[np.float64]:
        """The sum of each document."""
        if not groups:
            return np.zeros(self._postings.size)
        known = self._worths.get
        worths = [known(group.alternatives) or self._merged(group.alternatives) for group in groups]
        documents = np.concatenate([each[0] for each in worths])
        values = np.concatenate([each[1] for each in worths])
        shares = np.array([each[2] * group.weight for each, group in zip(worths, groups, strict=True)], np.float32)
        values *= shares.repeat([len(each[0]) for each in worths])
        return np.bincount(documents, values, minlength=self._postings.size).astype(np.float64, copy=False)

    def _merged(self, alternatives: tuple[tuple[int, float], ...]) -> Worths:
        """The documents that hold any of the alternatives, what its best one is worth in each, and times how much."""
        lists = [self._one(term, worth) for term, worth in alternatives]
        merged = lists[0] if len(lists) == 1 else self._merge(lists)
        size = _REMEMBERING + (len(merged[0]) if len(lists) > 1 else 0)  # one alone is part of the postings
        if self._remembered + size > _REMEMBERED:
            self._worths.clear()
            self._remembered = 0
        self._remembered += size
        self._worths[alternatives] = merged
        return merged

    def _one(self, term: int, worth: float) -> Worths:
        postings = self._postings
        rows = slice(*postings.starts[term : term + 2].tolist())
        return postings.documents[rows], postings.impacts[rows], float(postings.rarity[term]) * worth

    def _merge(self, lists: Sequence[Worths]) -> Worths:
        best = np.zeros(self._postings.size, np.float32)
        added = []
        for documents, values, share in lists:
            before = best[documents]
            added.append(documents[before == 0])
            best[documents] = np.maximum(before, values * np.float32(share))
        held = np.concatenate([_NO_DOCUMENTS, *added])
        return held, best[held], 1.0


def best(total: NDArray[np.float64], count: int) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
    """The `count` documents with the highest sums, and these, best first; ties go to the earlier document."""
    found = _highest(total, count)
    sums = total.take(found)
    if len(found) > max(count, _SORTED_AT_ONCE):
        kept = sums >= np.partition(sums, len(sums) - count)[len(sums) - count]
        found, sums = found[kept], sums[kept]
    order = (-sums).argsort(kind="stable")[:count]
    return found.take(order), sums.take(order).astype(np.float32)


def _highest(total: NDArray[np.float64], count: int) -> NDArray[np.intp]:
    """At least `count` documents with the highest sums, or all that have any, in their order."""
    highest = np.maximum.reduce(total, initial=0)
    above = np.zeros(0, np.intp)
    for cut in _CUTS:
        (above,) = (total > cut * highest).nonzero()
        if len(above) >= count:
            break
    return above
