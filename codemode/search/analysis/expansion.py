"""A query's words as groups of alternatives: the word itself, its synonyms, short forms, and corrections of a typo."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from codemode.search.analysis import text, wordlists
from codemode.search.analysis.spelling import Spelling

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from codemode.search.analysis.acronyms import Acronyms
    from codemode.search.analysis.term_weights import Form, Word
    from codemode.search.analysis.vocabulary import Vocabulary
    from codemode.search.index.postings import Postings
    from codemode.search.ranking.weights import Weights

_REMEMBERED = 20_000  # words whose meaning is kept


class Group(NamedTuple):
    """One word of a query. A document scores with the best of `alternatives`: (term number, worth).

    `weight` is how much the word says, `place` the character of the query it starts at; `known` is whether it is in
    the vocabulary itself, and `corrected` what it was taken for otherwise.
    """

    surface: str
    alternatives: tuple[tuple[int, float], ...]
    weight: float = 1.0
    known: bool = True
    corrected: str = ""
    place: int = 0


class Interpreter:
    """Turns the words of a query into groups, remembering what single words mean.

    `compounds` are pairs of words of names, written as one word, with their terms; `acronyms` are made of their first
    letters; `is_named` is for each term whether any tool has it in its name.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        postings: Postings,
        spelling: Spelling,
        compounds: Mapping[str, tuple[int, int]],
        acronyms: Acronyms,
        is_named: NDArray[np.bool_],
        weights: Weights,
    ) -> None:
        self._vocabulary = vocabulary
        self._postings = postings
        self._spelling = spelling
        self._compounds = compounds
        self._acronyms = acronyms
        self._is_named = is_named
        self._weights = weights
        self._frequencies = np.diff(postings.starts).tolist()
        self._general = _general_spelling()
        self._by_surface: dict[tuple[str, bool], Group] = {}
        self._joined: dict[tuple[str, str], int | None] = {}

    def groups(self, words: Sequence[Word]) -> list[Group]:
        """Groups in the order of the words; a word that is repeated makes one group, and unknown ones are kept."""
        found: dict[str, Group] = {}
        for form, weight, place, is_name in words:
            for term in self._spelled_out(form) if form.is_short else (form.term,):
                before = found.get(term)
                if before is None:
                    meant = self._by_surface.get((form.surface, is_name)) or self._look_up(
                        form.surface, is_name=is_name
                    )
                    if term != form.term:
                        meant = self._standing_for(form, term, meant)
                    surface, alternatives, _, known, corrected, _ = meant
                    found[term] = Group(surface, alternatives, weight, known, corrected, place)
                elif before.weight < weight:
                    found[term] = before._replace(weight=weight)
        for term, number, worth in self._together(words):
            if term in found and number not in dict(found[term].alternatives):
                alternatives = (*found[term].alternatives, (number, worth))
                found[term] = found[term]._replace(alternatives=alternatives)
        return list(found.values())

    def _together(self, words: Sequence[Word]) -> Iterator[tuple[str, int, float]]:
        """What terms stand for beside each other: the short form of some, or the one word that two make."""
        for term, short in _short_forms([form for form, *_ in words]):
            number = self._frequent(short)
            if number is not None:
                yield term, number, self._weights.abbreviation
        for (one, _, place, _), (other, _, after, _) in pairwise(words):
            if 0 < after - place - len(one.surface) <= 1:
                pair = one.surface, other.surface
                number = self._joined[pair] if pair in self._joined else self._join(pair)
                if number is not None:
                    yield one.term, number, self._weights.compound
                    yield other.term, number, self._weights.compound

    def _join(self, pair: tuple[str, str]) -> int | None:
        if len(self._joined) >= _REMEMBERED:
            self._joined.clear()
        number = self._joined[pair] = self._frequent(text.term("".join(pair)))
        return number

    def _spelled_out(self, form: Form) -> tuple[str, ...]:
        """The words that a short form is made of, where the tools write each of them more often than it."""
        for run in wordlists.abbreviations().get(form.term, ()):
            if len(run) > 1 and min(map(self._count, run)) > self._count(form.term):
                return run
        if form.in_capitals and self._frequent(form.term) is None and not _is_listed(form.surface, form.term):
            return self._acronyms.spelled_out(form.surface) or (form.term,)
        return (form.term,)

    def _standing_for(self, form: Form, term: str, group: Group) -> Group:
        """The group of a word, or of one of the words that it is short for; the short form counts as much as these."""
        number = self._frequent(term)
        if number is None:
            return group
        own, rarity = self._frequent(form.term), self._postings.rarity
        short = () if own is None else ((own, min(1.0, float(rarity[number] / rarity[own]))),)
        return group._replace(alternatives=((number, 1.0), *short), known=True, corrected="")

    def _count(self, term: str) -> int:
        number = self._frequent(term)
        return 0 if number is None else self._frequencies[number]

    def _look_up(self, surface: str, *, is_name: bool) -> Group:
        term = text.term(surface)
        worths: dict[int, float] = {}
        own = self._frequent(term)
        corrected = ""
        parts = self._compounds.get(surface, ()) if self._weights.compound else ()
        worths.update((part, self._weights.compound) for part in parts if self._frequencies[part])
        if own is not None:
            worths[own] = 1.0
        elif not worths and not surface.isdigit() and not _is_listed(surface, term):
            corrected = self._correct(surface, worths, self._weights.name_typo if is_name else 1.0)
        meant = text.term(corrected) if corrected else term
        share = self._weights.typo if corrected else 1.0
        known = self._frequent(meant)
        is_named = known is not None and self._is_named[known]
        if not is_named:
            for place, other in enumerate(wordlists.same_actions().get(meant, ()), 1):
                self._add(worths, (other,), share * self._weights.same_action**place)
        alike = self._weights.synonym if is_named else self._weights.substitute
        self._add(worths, wordlists.synonyms().get(meant, ()), share * alike)
        for run in wordlists.abbreviations().get(meant, ()):
            self._add(worths, run, share * self._weights.abbreviation)
        if len(self._by_surface) >= _REMEMBERED:
            self._by_surface.clear()
        group = Group(surface, tuple(worths.items()), 1.0, own is not None, corrected)
        self._by_surface[surface, is_name] = group
        return group

    def _frequent(self, term: str) -> int | None:
        number = self._vocabulary.number(term)
        return number if number is not None and self._frequencies[number] else None

    def _correct(self, surface: str, worths: dict[int, float], share: float) -> str:
        """Add the nearest known words; the most frequent one, or "" when there is none."""
        ranked = sorted(
            (edits, -self._frequencies[term], known, term)
            for known, term, edits in self._spelling.corrections(surface)
            if self._frequencies[term]
        )
        general = self._general.corrections(surface) if not ranked or ranked[0][0] > 1 else []
        if general and (not ranked or min(edits for _, _, edits in general) < ranked[0][0]):
            return min(general, key=lambda each: each[2])[0]
        best = ""
        for edits, _, known, term in ranked:
            if edits > ranked[0][0] or len(worths) >= self._weights.corrections:
                break
            best = best or known
            worths.setdefault(term, self._weights.typo * share)
        return best

    def _add(self, worths: dict[int, float], terms: Iterable[str], worth: float) -> None:
        if worth <= 0:
            return
        for other in terms:
            number = self._frequent(other)
            if number is not None:
                worths.setdefault(number, worth)


def _is_listed(surface: str, term: str) -> bool:
    """Whether a word is a word, though no tool may have it."""
    return surface in wordlists.words() or term in wordlists.synonyms() or term in wordlists.abbreviations()


@cache
def _general_spelling() -> Spelling:
    words = sorted(wordlists.words())
    return Spelling(words, np.zeros(len(words), np.int32))


def _short_forms(forms: Sequence[Form]) -> Iterator[tuple[str, str]]:
    """The terms that are among the spelled-out words of a short form, each with that."""
    known = wordlists.abbreviated()
    found: dict[int, str] = {}
    for start, first in enumerate(forms):
        for run in first.opens:
            if tuple(form.term for form in forms[start : start + len(run)]) == run:
                found.update((place, known[run]) for place in range(start, start + len(run)))
    return ((forms[place].term, short) for place, short in found.items())
