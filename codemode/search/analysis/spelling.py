"""Spelling correction: find the known words closest to an unknown word."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from rapidfuzz import process
from rapidfuzz.distance import OSA

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_SHORTEST = 4  # letters; shorter words have too many neighbours
_TWO_EDITS_FROM = 8  # letters; shorter words are corrected by one edit
_LONGEST = 255  # letters; longer words count as this long


class Spelling:
    """Finds close words by optimal string alignment: insert, delete, replace, or swap two adjacent letters.

    A bit mask of its letters filters the words first. One edit changes at most two bits, so the filter loses no
    neighbour and leaves a few hundred of a hundred thousand words.
    """

    def __init__(self, words: Sequence[str], terms: NDArray[np.int32]) -> None:
        self._words = words
        self._terms = terms
        lengths = np.fromiter(map(len, words), np.int64, len(words))
        counted = lengths.clip(max=_LONGEST).astype(np.uint8)
        self._by_length = counted.argsort(kind="stable")
        self._sorted_masks = _masks(words, lengths)[self._by_length]
        self._starts = np.searchsorted(counted[self._by_length], np.arange(_LONGEST + 2)).tolist()

    def corrections(self, word: str) -> list[tuple[str, int, int]]:
        """Return known words as (word, term number, edits), closest first. Words under four letters have none."""
        if len(word) < _SHORTEST:
            return []
        edits = 2 if len(word) >= _TWO_EDITS_FROM else 1
        plausible = self._plausible(word, edits)
        near = process.extract(
            word, [self._words[place] for place in plausible], scorer=OSA.distance, score_cutoff=edits, limit=None
        )
        return [(known, int(self._terms[plausible[at]]), int(distance)) for known, distance, at in near]

    def _plausible(self, word: str, edits: int) -> list[int]:
        """Return the positions of the words with a similar length and similar letters."""
        length = min(len(word), _LONGEST)
        some = slice(self._starts[max(length - edits, 0)], self._starts[min(length + edits, _LONGEST) + 1])
        differing = np.bitwise_count(self._sorted_masks[some] ^ _masks([word], np.array([len(word)])))
        kept: list[int] = self._by_length[some][differing <= 2 * edits].tolist()
        return kept


def _masks(words: Sequence[str], lengths: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return the letters of each word as bits. No word is empty."""
    if not words:
        return np.zeros(0, np.uint64)
    letters = np.frombuffer("".join(words).encode("utf-32-le", "surrogatepass"), np.uint32)
    bits = np.uint64(1) << (letters & 63).astype(np.uint64)
    return np.bitwise_or.reduceat(bits, np.cumsum(lengths) - lengths)
