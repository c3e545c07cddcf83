"""Acronyms: short forms made of the first letters of words that stand beside each other in names of tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from codemode.search.segment import Segment
    from codemode.search.vocabulary import Vocabulary

_LENGTHS = range(3, 6)  # letters; two begin too many pairs of words, and longer ones are words
_REMEMBERED = 5_000  # acronyms


class Acronyms:
    """Finds what an acronym is short for: `PVC` in `create_persistent_volume_claim`."""

    def __init__(self, documents: Segment, vocabulary: Vocabulary) -> None:
        letters = np.array([ord(form[0]) for form in vocabulary.surfaces], np.uint32)
        self._initials = letters[documents.names]
        self._names = documents.names
        self._owners = np.arange(len(documents), dtype=np.int32).repeat(np.diff(documents.name_starts))
        self._vocabulary = vocabulary
        self._known: dict[str, tuple[str, ...]] = {}

    def spelled_out(self, acronym: str) -> tuple[str, ...]:
        """The terms that it is made of in most names; none where no name has such words."""
        if len(acronym) not in _LENGTHS:
            return ()
        found = self._known.get(acronym)
        if found is None:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            found = self._known[acronym] = self._found(acronym)
        return found

    def _found(self, acronym: str) -> tuple[str, ...]:
        size = max(len(self._initials) - len(acronym) + 1, 0)
        fits = self._owners[:size] == self._owners[len(acronym) - 1 :]
        for place, letter in enumerate(acronym):
            fits &= self._initials[place : place + size] == ord(letter)
        starts = fits.nonzero()[0]
        if not len(starts):
            return ()
        runs = self._names[starts[:, None] + np.arange(len(acronym))]
        found, counts = np.unique(self._vocabulary.term_of_surface[runs], axis=0, return_counts=True)
        terms = self._vocabulary.terms
        return tuple(terms[number] for number in found[counts.argmax()].tolist())
