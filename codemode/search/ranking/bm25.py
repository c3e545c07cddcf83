"""BM25 of whole texts: all words of a query count in full, in any field, without alternatives.

In long requests many features match by chance, and how often a text repeats the words says more than which of its
fields has them. The formula is that of Lucene (Robertson et al., 2009), as in bm25s.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from codemode.search.analysis.vocabulary import Vocabulary
    from codemode.search.documents.postings import Postings
    from codemode.search.documents.segment import Segment

_K1, _B = 1.5, 0.75
_LEAST = 1e-6  # avoids division by zero


class WholeTexts:
    """Scores documents by BM25 over all their fields together."""

    def __init__(self, documents: Segment, postings: Postings, vocabulary: Vocabulary) -> None:
        self._documents = documents
        self._vocabulary = vocabulary
        lengths = documents.lengths.sum(axis=1, dtype=np.float32)
        self._damping = _K1 * (1 - _B + _B * lengths / max(float(lengths.mean()) if len(lengths) else 0.0, 1.0))
        frequency = np.diff(postings.starts)
        self._rarity = np.log1p((postings.size - frequency + 0.5) / (frequency + 0.5)).astype(np.float32)

    def shares(self, terms: Iterable[str], candidates: NDArray[np.intp]) -> NDArray[np.float32]:
        """Return the score of each candidate as a share of the best one. Repeated terms count each time."""
        numbers = [number for term in terms if (number := self._vocabulary.number(term)) is not None]
        asked, times = np.unique(np.array(numbers, np.int32), return_counts=True)
        if not len(asked) or not len(candidates):
            return np.zeros(len(candidates), np.float32)
        starts, holds = self._documents.starts, self._documents.terms
        sizes = starts[candidates + 1] - starts[candidates]
        rows = np.arange(sizes.sum()) + (starts[candidates] - (sizes.cumsum() - sizes)).repeat(sizes)
        places = asked.searchsorted(holds[rows]).clip(max=len(asked) - 1)
        (matching,) = (asked[places] == holds[rows]).nonzero()
        owners = np.arange(len(candidates)).repeat(sizes)[matching]
        slots = owners * len(asked) + places[matching]
        counts = np.bincount(slots, self._documents.counts[rows[matching]], len(candidates) * len(asked))
        counts = counts.reshape(len(candidates), len(asked)).astype(np.float32)
        scores: NDArray[np.float32] = (counts / (counts + self._damping[candidates][:, None])).dot(
            self._rarity[asked] * times.astype(np.float32)
        )
        return scores / max(float(scores.max()), _LEAST)
