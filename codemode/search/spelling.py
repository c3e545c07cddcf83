"""Spelling: the known words that an unknown word was probably meant to be."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from rapidfuzz.distance import OSA

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_SHORTEST = 4  # letters; shorter words have too many neighbours
_TWO_EDITS_FROM = 8  # letters
_MOST = 3  # corrections of one word


class Spelling:
    """Finds neighbours by optimal string alignment (insert, delete, replace, swap two adjacent letters).

    Each word has a mask of the letters in it: one edit changes at most two bits, so that comparing masks leaves a few
    hundred words of a hundred thousand, and no neighbour is lost.
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

    def corrections(self, word: str) -> list[tuple[str, int, int]]:
        """Nearest known words: (word, its term, edits), nearest first; empty when the word is too short."""
        if len(word) < _SHORTEST:
            return []
        edits = 2 if len(word) >= _TWO_EDITS_FROM else 1
        found = []
        for place in self._plausible(word, edits):
            known = self._words[place]
            distance = OSA.distance(word, known, score_cutoff=edits)
            if distance <= edits:
                found.append((known, int(self._terms[place]), distance))
        return found

    def _plausible(self, word: str, edits: int) -> list[int]:
        near = np.abs(self.lengths.astype(np.int16) - len(word)) <= edits
        places = np.flatnonzero(near)
        differing = np.bitwise_count(self.masks[places] ^ np.uint64(_mask(word)))
        kept: list[int] = places[differing <= 2 * edits].tolist()
        return kept


def _shapes(words: Sequence[str]) -> tuple[NDArray[np.uint8], NDArray[np.uint64]]:
    lengths = np.fromiter((min(len(word), 255) for word in words), np.uint8, len(words))
    return lengths, np.fromiter(map(_mask, words), np.uint64, len(words))


def _mask(word: str) -> int:
    mask = 0
    for character in word:
        mask |= 1 << (ord(character) & 63)
    return mask
