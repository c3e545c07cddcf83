"""Candidate selection: the documents with the highest BM25F sums over the groups of a query."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from codemode.search.documents.postings import Postings
    from codemode.search.interpretation.expansion import Group

_CUTS = (0.2, 0.1, 0.0)  # shares of the highest sum; the first cut that leaves enough documents is used
_SORTED_AT_ONCE = 400  # documents; larger selections are partitioned before sorting


def summed(
    postings: Postings, groups: Sequence[Group], allowed: NDArray[np.bool_] | None = None
) -> NDArray[np.float64]:
    """Return the sum of each document: over the groups, the impact of the best alternative that it has.

    Documents that are not `allowed` have 0.
    """
    total = np.zeros(postings.size)
    groups = [group for group in groups if group.alternatives]
    if not groups:
        return total
    terms, worths = np.array([each for group in groups for each in group.alternatives]).T
    terms = terms.astype(np.intp)
    ranges = list(map(slice, postings.starts.take(terms).tolist(), postings.starts.take(terms + 1).tolist()))
    documents = np.concatenate([postings.documents[each] for each in ranges]).astype(np.intp)
    impacts = np.concatenate([postings.impacts[each] for each in ranges])
    ends = np.cumsum([each.stop - each.start for each in ranges])
    if allowed is not None:
        (kept,) = allowed.take(documents).nonzero()
        documents, impacts, ends = documents.take(kept), impacts.take(kept), kept.searchsorted(ends)
    impacts *= (postings.rarity.take(terms) * worths).astype(np.float32).repeat(np.diff(ends, prepend=0))
    highest = np.zeros(postings.size, np.float32)
    start = 0
    for group, end in zip(
        groups, ends[np.cumsum([len(group.alternatives) for group in groups]) - 1].tolist(), strict=True
    ):
        holders, values = documents[start:end], impacts[start:end]
        if len(group.alternatives) > 1:
            np.maximum.at(highest, holders, values)
            values = highest.take(holders)
            highest[holders] = 0
        total[holders] += values * np.float32(group.weight)  # a document with several alternatives is set several times
        start = end
    return total


def known_within(postings: Postings, groups: Sequence[Group], allowed: NDArray[np.bool_]) -> tuple[Group, ...]:
    """Return the groups, of which those are unknown that no allowed document has."""
    return tuple(
        group if _is_within(postings, group, allowed) else group._replace(known=False, corrected="") for group in groups
    )


def _is_within(postings: Postings, group: Group, allowed: NDArray[np.bool_]) -> bool:
    ranges = (slice(*postings.starts[term : term + 2].tolist()) for term, _ in group.alternatives)
    return any(allowed.take(postings.documents[each]).any() for each in ranges)


def best(total: NDArray[np.float64], count: int) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
    """Return the `count` documents with the highest sums, best first, and their sums. Earlier documents win ties."""
    documents = _highest(total, count)
    sums = total.take(documents)
    if len(documents) > max(count, _SORTED_AT_ONCE):
        kept = sums >= np.partition(sums, len(sums) - count)[len(sums) - count]
        documents, sums = documents[kept], sums[kept]
    order = (-sums).argsort(kind="stable")[:count]
    return documents.take(order), sums.take(order).astype(np.float32)


def with_others(
    documents: NDArray[np.intp], sums: NDArray[np.float32], reranked: int, others: Iterable[int]
) -> tuple[NDArray[np.intp], NDArray[np.float32], int]:
    """Add other documents to the first `reranked` candidates.

    Return the documents, their sums, and the new number of documents to re-rank. Added documents have their BM25F sum,
    or 0.
    """
    present = set(documents[:reranked].tolist())
    added = sorted({other for other in others if other not in present})
    if not added:
        return documents, sums, reranked
    known = dict(zip(documents.tolist(), sums.tolist(), strict=True))
    of_added = np.array([known.get(document, 0.0) for document in added], np.float32)
    rest = ~np.isin(documents[reranked:], added)
    return (
        np.concatenate((documents[:reranked], np.array(added, np.intp), documents[reranked:][rest])),
        np.concatenate((sums[:reranked], of_added, sums[reranked:][rest])),
        reranked + len(added),
    )


def _highest(total: NDArray[np.float64], count: int) -> NDArray[np.intp]:
    """Return at least `count` documents with the highest sums, or all with a positive sum, in document order."""
    highest = np.maximum.reduce(total, initial=0)
    above = np.zeros(0, np.intp)
    for cut in _CUTS:
        (above,) = (total > cut * highest).nonzero()
        if len(above) >= count:
            break
    return above
