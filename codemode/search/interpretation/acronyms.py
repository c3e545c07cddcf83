"""Acronyms: short forms made from the initials of adjacent words in tool names."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from codemode.search.analysis.vocabulary import Vocabulary
    from codemode.search.documents.segment import Segment

_LENGTHS = range(3, 6)  # letters; two letters match too many pairs of words, longer runs are ordinary words
_CACHED = 5_000  # acronyms


class Acronyms:
    """Expands acronyms: `PVC` stands for the words of `create_persistent_volume_claim`."""

    def __init__(self, documents: Segment, vocabulary: Vocabulary) -> None:
        letters = np.array([ord(form[0]) for form in vocabulary.surfaces], np.uint32)
        owners = np.arange(len(documents), dtype=np.int32).repeat(np.diff(documents.name_starts))
        expand = partial(_expand, vocabulary, documents.names, letters[documents.names], owners)
        self._expand = lru_cache(maxsize=_CACHED)(expand)

    def spelled_out(self, acronym: str) -> tuple[str, ...]:
        """Return the terms that the acronym most often stands for in tool names, or nothing if no name fits."""
        return self._expand(acronym) if len(acronym) in _LENGTHS else ()


def _expand(
    vocabulary: Vocabulary,
    names: NDArray[np.int32],
    initials: NDArray[np.uint32],
    owners: NDArray[np.int32],
    acronym: str,
) -> tuple[str, ...]:
    size = max(len(initials) - len(acronym) + 1, 0)
    fits = owners[:size] == owners[len(acronym) - 1 :]
    for place, letter in enumerate(acronym):
        fits &= initials[place : place + size] == ord(letter)
    starts = fits.nonzero()[0]
    if not len(starts):
        return ()
    runs = names[starts[:, None] + np.arange(len(acronym))]
    expansions, counts = np.unique(vocabulary.term_of_surface[runs], axis=0, return_counts=True)
    terms = vocabulary.terms
    return tuple(terms[number] for number in expansions[counts.argmax()].tolist())
