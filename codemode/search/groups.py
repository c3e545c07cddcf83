"""A query's words as groups of alternatives: the word itself, its synonyms, short forms, and corrections of a typo."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codemode.search import text, wordlists

if TYPE_CHECKING:
    from collections.abc import Iterator

    from codemode.search.postings import Postings
    from codemode.search.spelling import Spelling
    from codemode.search.vocabulary import Vocabulary
    from codemode.search.weights import Weights

_NUMBER = re.compile(r"\d+")
_LONGEST_QUERY = 2_000  # characters; a longer one is cut: no search needs more
_LONGEST_ABBREVIATED = 3  # words


@dataclass(frozen=True, slots=True)
class Group:
    """One word of a query. A document scores with the best of `alternatives`: (term number, worth).

    `known` is whether the word itself is in the vocabulary; `corrected` is what it was taken for otherwise.
    """

    surface: str
    alternatives: tuple[tuple[int, float], ...]
    known: bool
    corrected: str = ""


class Interpreter:
    """Turns a query's text into groups."""

    def __init__(self, vocabulary: Vocabulary, postings: Postings, spelling: Spelling, weights: Weights) -> None:
        self._vocabulary = vocabulary
        self._postings = postings
        self._spelling = spelling
        self._weights = weights

    def groups(self, query: str) -> list[Group]:
        """Groups in the order of the words; a word that is repeated makes one group, and unknown ones are kept."""
        words = list(query_words(query))
        found: dict[str, Group] = {}
        for place, word in enumerate(words):
            term = text.term(word)
            if term not in found:
                found[term] = self._group(word, term, _short_forms(words, place))
        return list(found.values())

    def _group(self, word: str, term: str, short: list[str]) -> Group:
        alternatives: dict[int, float] = {}
        own = self._frequent(term)
        corrected = ""
        if own is not None:
            alternatives[own] = 1.0
        elif not _NUMBER.fullmatch(word):
            corrected = self._correct(word, alternatives)
        meant = text.term(corrected) if corrected else term
        self._add(alternatives, wordlists.synonyms().get(meant, ()), self._weights.synonym)
        self._add(alternatives, wordlists.abbreviations().get(meant, ()), self._weights.abbreviation)
        self._add(alternatives, short, self._weights.abbreviation)
        return Group(word, tuple(alternatives.items()), own is not None, corrected)

    def _frequent(self, term: str) -> int | None:
        number = self._vocabulary.number(term)
        return number if number is not None and self._postings.frequency(number) else None

    def _correct(self, word: str, alternatives: dict[int, float]) -> str:
        ranked = sorted(
            ((edits, -self._postings.frequency(term), known, term)
             for known, term, edits in self._spelling.corrections(word) if self._postings.frequency(term))
        )  # fmt: skip
        best = ""
        for edits, _, known, term in ranked:
            if edits > ranked[0][0] or len(alternatives) >= self._weights.corrections:
                break
            best = best or known
            alternatives.setdefault(term, self._weights.typo)
        return best

    def _add(self, alternatives: dict[int, float], terms: tuple[str, ...] | list[str], worth: float) -> None:
        if worth <= 0:
            return
        for other in terms:
            number = self._frequent(other)
            if number is not None:
                alternatives.setdefault(number, worth)


def query_words(query: str) -> Iterator[str]:
    """Surface forms of a query without the words that say nothing, unless it has no others."""
    words = [form for raw in text.raw_words(query[:_LONGEST_QUERY]) for form in text.surface_forms(raw)]
    stop = wordlists.stop_words()
    telling = [word for word in words if word not in stop]
    return iter(telling or words)


def _short_forms(words: list[str], place: int) -> list[str]:
    """Short forms of the spelled-out words that start here or hold this word."""
    known = wordlists.abbreviated()
    found = []
    for length in range(1, _LONGEST_ABBREVIATED + 1):
        for start in range(max(0, place - length + 1), place + 1):
            run = tuple(text.term(word) for word in words[start : start + length])
            if len(run) == length and run in known:
                found.append(known[run])
    return found
