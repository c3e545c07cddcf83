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

    def __init__(
        self,
        words: Sequence[str],
        terms: NDArray[np.int32],
        shapes: tuple[NDArray[np.uint8], NDArray[np.uint64]] | None = None,
    ) -> None:
        self._words = words
        self._terms = terms
        self.lengths, self.masks = shapes or _shapes(words)
        self._by_length = np.argsort(self.lengths, kind="stable")
        self._sorted_masks = self.masks[self._by_length]
        self._starts = np.searchsorted(self.lengths[self._by_length], np.arange(_LONGEST + 2)).tolist()

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
        differing = np.bitwise_count(self._sorted_masks[some] ^ np.uint64(_mask(word)))
        kept: list[int] = self._by_length[some][differing <= 2 * edits].tolist()
        return kept


def _shapes(words: Sequence[str]) -> tuple[NDArray[np.uint8], NDArray[np.uint64]]:
    lengths = np.fromiter((min(len(word), _LONGEST) for word in words), np.uint8, len(words))
    return lengths, np.fromiter(map(_mask, words), np.uint64, len(words))


def _mask(word: str) -> int:
    mask = 0
    for character in word:
        mask |= 1 << (ord(character) & 63)
    return mask
