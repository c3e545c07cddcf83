"""The vocabulary: terms and their surface forms, numbered in order of first appearance."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

import numpy as np

from codemode.search.analysis import text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray


class Vocabulary:
    """Numbers terms and surface forms. Numbers never change, so segments made at different times agree."""

    def __init__(self, terms: Iterable[str] = (), surfaces: Iterable[str] = (), of_surface: Iterable[int] = ()) -> None:
        self._terms: dict[str, int] = {term: number for number, term in enumerate(terms)}
        self._surfaces: dict[str, int] = {surface: number for number, surface in enumerate(surfaces)}
        self._of_surface = array("i", of_surface)
        self.number = self._terms.get  #: returns the number of a term, or None for an unknown term

    def __len__(self) -> int:
        return len(self._terms)

    def copy(self) -> Vocabulary:
        """Return an independent copy. A vocabulary that outgrows its index would yield terms without postings."""
        return Vocabulary(self._terms, self._surfaces, self._of_surface)

    def known(self, surfaces: Iterable[str]) -> list[int]:
        """Return the numbers of the surface forms that are in the vocabulary."""
        return [number for number in map(self._surfaces.get, surfaces) if number is not None]

    def add(self, surface: str) -> int:
        """Return the number of a surface form, after adding it if it is new."""
        number = self._surfaces.get(surface)
        if number is None:
            number = self._surfaces[surface] = len(self._surfaces)
            self._of_surface.append(self._terms.setdefault(text.term(surface), len(self._terms)))
        return number

    @property
    def terms(self) -> tuple[str, ...]:
        """All terms. The position of a term is its number."""
        return tuple(self._terms)

    @property
    def surfaces(self) -> tuple[str, ...]:
        """All surface forms. The position of a form is its number."""
        return tuple(self._surfaces)

    @property
    def term_of_surface(self) -> NDArray[np.int32]:
        """The term number of each surface form."""
        return np.array(self._of_surface, np.int32)


class Reader:
    """Converts texts to surface form numbers. Caches raw words, as texts of a catalog repeat them often."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self._known = _Remembered(vocabulary)

    def read(self, texts: Sequence[str]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the surface form numbers of all texts, and for each the position of its text in `texts`."""
        known = self._known
        words = text.RAW_WORD.findall(_joined(texts))
        raw = np.fromiter(map(known.__getitem__, words), np.int32, len(words))
        place = np.cumsum(raw == _BREAK_NUMBER, dtype=np.int32)
        starts, numbers = known.expansions()
        each = starts[raw + 1] - starts[raw]
        first = np.repeat(starts[raw] - (np.cumsum(each) - each), each)
        return numbers[first + np.arange(len(first))], np.repeat(place, each)


# Texts are joined by this word and tokenized as one. It is removed from any text that contains it.
_BREAK = "ꙮꙮ"
_BREAK_NUMBER = 0


def _joined(texts: Sequence[str]) -> str:
    joined = f" {_BREAK} ".join(texts)
    if joined.count(_BREAK) >= len(texts):
        joined = f" {_BREAK} ".join([one.replace(_BREAK, " ") for one in texts])
    return joined


class _Remembered(dict[str, int]):
    """Maps raw words to numbers. `expansions` maps these numbers to surface forms."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        super().__init__()
        self._vocabulary = vocabulary
        self._starts = array("i", (0, 0))
        self._numbers = array("i")
        self[_BREAK] = _BREAK_NUMBER

    def __missing__(self, raw: str) -> int:
        number = len(self._starts) - 1
        self._numbers.extend([self._vocabulary.add(form) for form in text.surface_forms(raw)])
        self._starts.append(len(self._numbers))
        self[raw] = number
        return number

    def expansions(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the start of each raw word's surface forms, with the end of the last, and all forms in a row."""
        return np.array(self._starts, np.int32), np.array(self._numbers, np.int32)
