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


class Scorer:
    """Adds up postings. Keeps two rows of numbers per thread, all zero between queries."""

    def __init__(self, postings: Postings) -> None:
        self._postings = postings
        self._local = threading.local()

    def best(
        self, groups: Sequence[Group], count: int, allowed: NDArray[np.bool_] | None = None
    ) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """The `count` best documents and their sums, best first; ties go to the earlier document."""
        total, scratch = self._rows()
        touched = []
        for group in groups:
            touched += self._add_group(group, total, scratch)
        if not touched:
            return np.zeros(0, np.int32), np.zeros(0, np.float32)
        found = self._found(touched, total)
        if allowed is not None:
            found = found[allowed[found]]
        sums = total[found]
        for documents in touched:
            total[documents] = 0
        if len(found) > count:
            kept = np.argpartition(sums, len(sums) - count)[-count:]
            found, sums = found[kept], sums[kept]
        order = np.lexsort((found, -sums))
        return found[order], sums[order]

    def _rows(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        rows: tuple[NDArray[np.float32], NDArray[np.float32]] | None = getattr(self._local, "rows", None)
        if rows is None:
            size = self._postings.size
            rows = self._local.rows = (np.zeros(size, np.float32), np.zeros(size, np.float32))
        return rows

    def _add_group(
        self, group: Group, total: NDArray[np.float32], scratch: NDArray[np.float32]
    ) -> list[NDArray[np.int32]]:
        """Add the best alternative of a group to each document that has one."""
        postings = self._postings
        lists: list[NDArray[np.int32]] = []
        for term, worth in group.alternatives:
            start, end = postings.starts[term], postings.starts[term + 1]
            documents = postings.documents[start:end]
            values = postings.impacts[start:end] * (postings.rarity[term] * np.float32(worth))
            if lists:
                before = scratch[documents]
                more = np.maximum(values - before, 0)
                total[documents] += more
                scratch[documents] = before + more
            else:
                total[documents] += values
                if len(group.alternatives) > 1:
                    scratch[documents] = values
            lists.append(documents)
        if len(lists) > 1:
            for documents in lists:
                scratch[documents] = 0
        return lists

    def _found(self, touched: list[NDArray[np.int32]], total: NDArray[np.float32]) -> NDArray[np.int32]:
        """Documents with any sum: from the lists when these are short, else from the whole row."""
        if sum(map(len, touched)) < self._postings.size // 4:
            return np.unique(np.concatenate(touched))
        return np.flatnonzero(total).astype(np.int32)
