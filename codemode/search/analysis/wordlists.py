"""The word lists: words to leave out, words that people use for each other, short forms. General terms only."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from typing import TYPE_CHECKING

from codemode.search.analysis import text
from codemode.search.analysis.words import lines

if TYPE_CHECKING:
    from collections.abc import Mapping


@cache
def stop_words() -> frozenset[str]:
    """Words, not terms, that say nothing about which tool is meant."""
    return frozenset(form for line in lines("stop.txt") for form in _forms(line))


@cache
def faint_words() -> frozenset[str]:
    """Words, not terms, that say little."""
    return frozenset(form for line in lines("faint.txt") for form in _forms(line))


@cache
def actions() -> Mapping[str, int]:
    """Term -> the kinds of action it stands for, one bit each."""
    found: defaultdict[str, int] = defaultdict(int)
    for bit, line in enumerate(lines("actions.txt")):
        for term in _terms(line.partition(":")[2]):
            found[term] |= 1 << bit
    return dict(found)


@cache
def kind(name: str) -> int:
    """The bit of a kind of action by its name, the word that begins its line."""
    names = [line.partition(":")[0] for line in lines("actions.txt")]
    return 1 << names.index(name)


@cache
def synonyms() -> Mapping[str, tuple[str, ...]]:
    """Term -> terms that may stand for it, best first."""
    found: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for line in lines("synonyms.txt"):
        narrow, arrow, broad = line.partition(">")
        words = _terms(narrow)
        for word in words:
            others = _terms(broad) if arrow else words
            found[word].update((other, None) for other in others if other != word)
    return {word: tuple(others) for word, others in found.items()}


@cache
def same_actions() -> Mapping[str, tuple[str, ...]]:
    """Term -> those of its synonyms that stand for the same kind of action."""
    kinds = actions()
    found = {}
    for word in kinds:
        same = tuple(other for other in synonyms().get(word, ()) if kinds[word] & kinds.get(other, 0))
        if same:
            found[word] = same
    return found


@cache
def abbreviations() -> Mapping[str, tuple[tuple[str, ...], ...]]:
    """Short form (a term) -> what it may be short for: one term, or several that stand together."""
    found = {}
    for line in lines("abbreviations.txt"):
        short, _, long = line.partition(":")
        found[_terms(short)[0]] = tuple(tuple(_terms(run)) for run in long.split("|"))
    return found


@cache
def phrases() -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """Verb (a term) -> particle -> the words for what they mean together."""
    found: defaultdict[str, dict[str, tuple[str, ...]]] = defaultdict(dict)
    for line in lines("phrases.txt"):
        phrase, _, meaning = line.partition(":")
        verb, particle = _forms(phrase)
        found[text.term(verb)][particle] = tuple(_forms(meaning))
    return dict(found)


@cache
def words() -> frozenset[str]:
    """All words of the lists as written: what an unknown word may be a typo of when no tool has anything near."""
    listed = (*lines("stop.txt"), *lines("faint.txt"), *lines("synonyms.txt"))
    return frozenset(form for line in listed for form in _forms(line))


@cache
def abbreviated() -> Mapping[tuple[str, ...], str]:
    """The reverse of `abbreviations`: spelled-out terms in a row -> the short form."""
    return {run: short for short, runs in abbreviations().items() for run in runs}


@cache
def abbreviated_from() -> Mapping[str, tuple[tuple[str, ...], ...]]:
    """The keys of `abbreviated` by their first term."""
    found: defaultdict[str, list[tuple[str, ...]]] = defaultdict(list)
    for run in abbreviated():
        found[run[0]].append(run)
    return {first: tuple(runs) for first, runs in found.items()}


def _forms(line: str) -> list[str]:
    return [form for raw in text.raw_words(line) for form in text.surface_forms(raw)]


def _terms(line: str) -> list[str]:
    return list(dict.fromkeys(text.term(form) for form in _forms(line)))
