"""Compounds: words written either as one word or as two, such as `workgroups` and `work groups`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from codemode.search.analysis.vocabulary import Vocabulary
    from codemode.search.documents.segment import Segment

_SHORTEST = 3  # letters of each part
_LONGEST = 18  # letters of both parts together


def pairs_of_names(documents: Segment, vocabulary: Vocabulary) -> Mapping[str, tuple[int, int]]:
    """Map adjacent surface forms of tool names, joined into one word, to their two terms."""
    names = documents.names
    begins = np.zeros(len(names) + 1, bool)
    begins[documents.name_starts] = True
    beside = ~begins[1:-1]
    size = max(len(vocabulary.surfaces), 1)
    together = np.unique(names[:-1][beside].astype(np.int64) * size + names[1:][beside])
    first, second = np.divmod(together, size)
    surfaces, terms = vocabulary.surfaces, vocabulary.term_of_surface
    lengths = np.fromiter(map(len, surfaces), np.int32, len(surfaces))
    fits = (np.minimum(lengths[first], lengths[second]) >= _SHORTEST) & (lengths[first] + lengths[second] <= _LONGEST)
    first, second = first[fits], second[fits]
    parts = zip(terms[first].tolist(), terms[second].tolist(), strict=True)
    words = map(str.__add__, _taken(surfaces, first), _taken(surfaces, second))
    return dict(zip(words, parts, strict=True))


def _taken(surfaces: Sequence[str], places: NDArray[np.int64]) -> list[str]:
    return [surfaces[place] for place in places.tolist()]
