"""Evidence: how sure it is, from the calls after similar queries, that a tool answers a query.

Queries are compared by the cosine of their words, which are weighted as search weighs them, and by how few tools each
leads to. docs/benchmarks/search.md has what that gains.
"""

from __future__ import annotations

import math
from collections import defaultdict
from functools import cache, lru_cache
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from codemode.features.feedback.record import MOST_CALLS, MOST_ROWS, add
from codemode.search.analysis import wordlists
from codemode.search.documents.weights import Weights
from codemode.search.interpretation.term_weights import read

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from codemode.features.feedback.record import Call, Key, Row, Rows

#: What a query counts whose hits nobody called, when a later query found the tool.
_INDIRECT = 0.8

#: The number of callers who make it half sure.
_HALF_SURE = 2

#: Less evidence than this is left out.
_LEAST = 0.02

_WEIGHTS = Weights()


class _Support(NamedTuple):
    """A row that is similar to a query, and how similar."""

    similarity: float
    row: Row


class Evidence:
    """The evidence of one role's rows. Searches may ask in several threads."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._words: dict[Key, Mapping[str, float]] = {}
        self._with_word: dict[str, set[Key]] = defaultdict(set)
        self._vectors: dict[Key, Mapping[str, float]] = {}
        self._rarities: dict[str, float] = {}
        self._changing = Lock()
        self._index()

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, calls: Iterable[Call], day: int) -> None:
        """Take further calls of the role."""
        with self._changing:
            add(self._rows, calls, day)
            self._index()

    def of(self, query: str, who: str) -> Mapping[str, float]:
        """Return the evidence for tools, from 0 to 1, for the caller that `who` stands for.

        It is n / (n + 2) for `n` callers who called the tool after the same query, and the square of the similarity of
        that for another one. A caller's own calls count up to three times, those of another caller once.
        """
        with self._changing:
            supports = self._supports(query)
        evidence = {tool: _certainty(each, who) for tool, each in supports.items()}
        return {tool: sure for tool, sure in evidence.items() if sure >= _LEAST}

    def _supports(self, query: str) -> Mapping[str, list[_Support]]:
        cosines: dict[Key, float] = defaultdict(float)
        for word, share in self._normalized(_words_of(query)).items():
            for key in self._with_word.get(word, ()):
                cosines[key] += share * self._vector(key)[word]
        supports: dict[str, list[_Support]] = defaultdict(list)
        for key, cosine in cosines.items():
            row = self._rows[key]
            supports[row.tool].append(_Support(min(cosine, 1.0) ** 2 * (1.0 if row.direct else _INDIRECT), row))
        return supports

    def _index(self) -> None:
        for key in self._words.keys() - self._rows.keys():
            for word in self._words.pop(key):
                self._with_word[word].discard(key)
        for key in self._rows.keys() - self._words.keys():
            self._words[key] = _words_of(key[0])
            for word in self._words[key]:
                self._with_word[word].add(key)
        self._vectors.clear()
        self._rarities.clear()
        self._tools = len({tool for _, tool in self._rows})

    def _vector(self, key: Key) -> Mapping[str, float]:
        vector = self._vectors.get(key)
        if vector is None:
            vector = self._vectors[key] = self._normalized(self._words[key])
        return vector

    def _normalized(self, words: Mapping[str, float]) -> Mapping[str, float]:
        shares = {word: weight * self._rarity(word) for word, weight in words.items()}
        length = math.hypot(*shares.values())
        return {word: share / length for word, share in shares.items()} if length else {}

    def _rarity(self, word: str) -> float:
        rarity = self._rarities.get(word)
        if rarity is None:
            leads_to = len({tool for _, tool in self._with_word.get(word, ())})
            rarity = self._rarities[word] = math.log1p((self._tools + 1) / max(leads_to, 1))
        return rarity


def _certainty(supports: Sequence[_Support], who: str) -> float:
    """Return the evidence for a tool: that of the most similar row, with the callers of rows about as similar."""
    most = max(support.similarity for support in supports)
    callers: set[str] = set()
    own = 0
    for similarity, row in supports:
        if 2 * similarity >= most:
            callers.update(row.callers)
            own += row.callers.get(who, 0)
    count = len(callers - {who}) + min(own, MOST_CALLS)
    return most * count / (count + _HALF_SURE)


@lru_cache(2 * MOST_ROWS)
def _words_of(query: str) -> Mapping[str, float]:
    """Return the weighted words of a query. Particles count: to check in is not to check out."""
    reading = read(query, _WEIGHTS)
    words = dict.fromkeys(reading.left_out & _particles(), _WEIGHTS.action)
    for form, weight, _, _ in reading.words:
        words[form.term] = max(words.get(form.term, 0.0), weight)
    return words


@cache
def _particles() -> frozenset[str]:
    return frozenset(particle for meanings in wordlists.phrases().values() for particle in meanings)
