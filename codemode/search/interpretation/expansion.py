"""Query expansion: each word becomes a group of alternatives (synonyms, short forms, spelling corrections)."""

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

    from codemode.search.analysis.vocabulary import Vocabulary
    from codemode.search.documents.postings import Postings
    from codemode.search.documents.weights import Weights
    from codemode.search.interpretation.term_weights import Form, Word

_CACHED = 20_000  # words whose expansion is cached


class Group(NamedTuple):
    """One word of a query with its alternatives. A document scores with its best alternative.

    `alternatives` are pairs of a term number and a weight relative to the word itself. `weight` is the weight of the
    word in the query, and `place` its first character. `known` is whether the vocabulary has the word. `corrected` is
    the spelling correction, or "".
    """

    surface: str
    alternatives: tuple[tuple[int, float], ...]
    weight: float = 1.0
    known: bool = True
    corrected: str = ""
    place: int = 0


class Interpreter:
    """Expands the words of a query into groups, and caches the expansion of each word.

    `compounds` maps joined words to the terms of their parts. `is_named` is, for each term, whether any tool name
    contains it.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        postings: Postings,
        spelling: Spelling,
        compounds: Mapping[str, tuple[int, int]],
        is_named: NDArray[np.bool_],
        weights: Weights,
    ) -> None:
        self._vocabulary = vocabulary
        self._postings = postings
        self._spelling = spelling
        self._compounds = compounds
        self._is_named = is_named
        self._weights = weights
        self._frequencies = np.diff(postings.starts).tolist()
        self._general = _general_spelling()
        self._by_surface: dict[tuple[str, bool], Group] = {}
        self._joined: dict[tuple[str, str], int | None] = {}

    def groups(self, words: Sequence[Word], whole: int = 0) -> list[Group]:
        """Return one group for each distinct word, in order. Unknown words keep their group.

        Synonyms of a long query weigh less: among many words some match by chance. `whole` is the number of groups of
        the query that the words are a clause of.
        """
        groups = self._groups(words)
        share = length_share(max(len(groups), whole), self._weights.long)
        return [_with_less_of_others(group, share) for group in groups] if share < 1 else groups

    def _groups(self, words: Sequence[Word]) -> list[Group]:
        groups: dict[str, Group] = {}
        for form, weight, place, is_name in words:
            for term in self._spelled_out(form) if form.is_short else (form.term,):
                before = groups.get(term)
                if before is None:
                    group = self._by_surface.get((form.surface, is_name)) or self._expand(form.surface, is_name=is_name)
                    if term != form.term:
                        group = self._spelled_group(form, term, group)
                    surface, alternatives, _, known, corrected, _ = group
                    groups[term] = Group(surface, alternatives, weight, known, corrected, place)
                else:
                    groups[term] = before._replace(weight=max(before.weight, weight) + self._weights.again * weight)
        for term, number, worth in self._adjacent(words):
            if term in groups and number not in dict(groups[term].alternatives):
                alternatives = (*groups[term].alternatives, (number, worth))
                groups[term] = groups[term]._replace(alternatives=alternatives)
        return self._without_rare_actions(_without_said(list(groups.values())))

    def _without_rare_actions(self, groups: list[Group]) -> list[Group]:
        """Lower actions that outweigh the things: `list`, where a tool says so only by the way."""
        rarity = self._postings.rarity
        worth = [float(rarity[group.alternatives[0][0]]) if group.alternatives else 0.0 for group in groups]
        is_action = [
            bool(wordlists.actions().get(text.term(group.surface), 0) & wordlists.kind("list")) for group in groups
        ]
        most = max((each for each, acts in zip(worth, is_action, strict=True) if not acts), default=0.0)
        if not most:
            return groups
        return [
            group._replace(weight=group.weight * most / own) if acts and own > most else group
            for group, own, acts in zip(groups, worth, is_action, strict=True)
        ]

    def is_known(self, surface: str) -> bool:
        """Return whether any text of a tool contains a word."""
        return self._frequent(text.term(surface)) is not None

    def is_named(self, surface: str) -> bool:
        """Return whether a tool name contains a word."""
        number = self._frequent(text.term(surface))
        return number is not None and bool(self._is_named[number])

    def _adjacent(self, words: Sequence[Word]) -> Iterator[tuple[str, int, float]]:
        """Yield the terms that adjacent words add: the short form of several words, or the compound of two."""
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
        if len(self._joined) >= _CACHED:
            self._joined.clear()
        number = self._joined[pair] = self._frequent(text.term("".join(pair)))
        return number

    def _spelled_out(self, form: Form) -> tuple[str, ...]:
        """Return the terms that a short form stands for, if tools use each of them more often than the short form."""
        for run in wordlists.abbreviations().get(form.term, ()):
            if len(run) > 1 and min(map(self._count, run)) > self._count(form.term):
                return run
        return (form.term,)

    def _spelled_group(self, form: Form, term: str, group: Group) -> Group:
        """Return the group for one spelled-out term of a short form. The short form itself weighs as much."""
        number = self._frequent(term)
        if number is None:
            return group
        own, rarity = self._frequent(form.term), self._postings.rarity
        short = () if own is None else ((own, min(1.0, float(rarity[number] / rarity[own]))),)
        return group._replace(alternatives=((number, 1.0), *short), known=True, corrected="")

    def _count(self, term: str) -> int:
        number = self._frequent(term)
        return 0 if number is None else self._frequencies[number]

    def _expand(self, surface: str, *, is_name: bool) -> Group:
        term = text.term(surface)
        worths: dict[int, float] = {}
        own = self._frequent(term)
        corrected = ""
        parts = self._compounds.get(surface, ()) if self._weights.compound else ()
        worths.update((part, self._weights.compound) for part in parts if self._frequencies[part])
        if own is not None:
            worths[own] = 1.0
        elif base := wordlists.undone(surface):
            self._add(worths, (text.term(base), *wordlists.synonyms().get(text.term(base), ())), self._weights.synonym)
        elif not worths and not surface.isdigit() and not _is_listed(surface, term):
            corrected = self._correct(surface, worths, self._weights.name_typo if is_name else 1.0)
        intended = text.term(corrected) if corrected else term
        share = self._weights.typo if corrected else 1.0
        known = self._frequent(intended)
        is_named = known is not None and self._is_named[known]
        if not is_named:
            for place, other in enumerate(wordlists.same_actions().get(intended, ()), 1):
                self._add(worths, (other,), share * self._weights.same_action**place)
        alike = self._weights.synonym if is_named else self._weights.substitute
        self._add(worths, wordlists.synonyms().get(intended, ()), share * alike)
        for run in wordlists.abbreviations().get(intended, ()):
            self._add(worths, run, share * self._weights.abbreviation)
        if len(self._by_surface) >= _CACHED:
            self._by_surface.clear()
        group = Group(surface, tuple(worths.items()), 1.0, own is not None, corrected)
        self._by_surface[surface, is_name] = group
        return group

    def _frequent(self, term: str) -> int | None:
        number = self._vocabulary.number(term)
        return number if number is not None and self._frequencies[number] else None

    def _correct(self, surface: str, worths: dict[int, float], share: float) -> str:
        """Add the closest known terms to `worths`. Return the most frequent of the closest words, or ""."""
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


def _without_said(groups: list[Group]) -> list[Group]:
    """Remove the alternatives that the query says itself: they would count twice."""
    said = {term for group in groups for term, worth in group.alternatives if worth == 1}
    return [
        group
        if len(group.alternatives) == 1 or said.isdisjoint([term for term, worth in group.alternatives if worth != 1])
        else group._replace(
            alternatives=tuple(each for each in group.alternatives if each[1] == 1 or each[0] not in said)
        )
        for group in groups
    ]


def _with_less_of_others(group: Group, share: float) -> Group:
    """Lower the alternatives of a word, but not the word itself."""
    worths = ((term, worth if worth == 1 else worth * share) for term, worth in group.alternatives)
    return group._replace(alternatives=tuple(worths))


def length_share(groups: int, long: int) -> float:
    """Return how much chance matches count in a query of so many groups: 1 up to `long` groups, then less."""
    return min(1.0, long / max(groups, 1))


def _is_listed(surface: str, term: str) -> bool:
    """Return whether the word lists contain a word, so that it is not a typo."""
    return surface in wordlists.words() or term in wordlists.synonyms() or term in wordlists.abbreviations()


@cache
def _general_spelling() -> Spelling:
    words = sorted(wordlists.words())
    return Spelling(words, np.zeros(len(words), np.int32))


def _short_forms(forms: Sequence[Form]) -> Iterator[tuple[str, str]]:
    """Return each term of a spelled-out short form, paired with the short form."""
    known = wordlists.abbreviated()
    short_of: dict[int, str] = {}
    for start, first in enumerate(forms):
        for run in first.opens:
            if tuple(form.term for form in forms[start : start + len(run)]) == run:
                short_of.update((place, known[run]) for place in range(start, start + len(run)))
    return ((forms[place].term, short) for place, short in short_of.items())
