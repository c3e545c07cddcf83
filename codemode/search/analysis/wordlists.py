"""Word lists: stop words, synonyms, actions, short forms and phrasal verbs. They hold general English only."""

from __future__ import annotations

from collections import defaultdict
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from codemode.search.analysis import text
from codemode.search.analysis.words import lines

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Stands for the operation that tells the time of a service, in its text and in queries for it.
CLOCK = "theclock"
_UNDOING = ("un", "dis", "de")  # prefixes
#: Kinds of action that change nothing.
_READING = (
    "read", "list", "search", "download", "check", "count", "calculate", "convert", "predict", "analyze", "compare",
    "recommend", "summarize", "sort",
)  # fmt: skip
#: Kinds of action for which an API may have no operation but an update of a state.
_CHANGES_OF_STATE = (
    "start", "stop", "cancel", "enable", "disable", "approve", "reject", "restore", "archive", "lock", "unlock",
    "merge",
)  # fmt: skip


@cache
def stop_words() -> frozenset[str]:
    """Return the surface forms that do not help to identify a tool."""
    return frozenset(form for line in lines("stop.txt") for form in _forms(line))


@cache
def faint_words() -> frozenset[str]:
    """Return the surface forms that hardly help to identify a tool."""
    return frozenset(form for line in lines("faint.txt") for form in _forms(line))


@cache
def actions() -> Mapping[str, int]:
    """Map terms to the kinds of action that they stand for, one bit each."""
    kinds: defaultdict[str, int] = defaultdict(int)
    for bit, line in enumerate(lines("actions.txt")):
        for term in _terms(line.partition(":")[2]):
            kinds[term] |= 1 << bit
    return dict(kinds)


def undone(surface: str) -> str:
    """Return the action that an unlisted word undoes, or "": `watch` for `unwatch`."""
    prefix = next((prefix for prefix in _UNDOING if surface.startswith(prefix)), "")
    base = surface.removeprefix(prefix)
    return base if prefix and base in _action_forms() and surface not in words() else ""


@cache
def _action_forms() -> frozenset[str]:
    return frozenset(form for line in lines("actions.txt") for form in _forms(line))


@cache
def undoing() -> int:
    """Return the bits of the kinds of action that undo another."""
    return sum(map(kind, ("delete", "disable", "detach", "restore", "unlock")))


@lru_cache(maxsize=65_536)
def kinds_of(surface: str) -> int:
    """Return the kinds of action of a surface form as bits: for a word that undoes another, `delete` and alike."""
    return actions().get(text.term(surface), 0) or (undoing() if undone(surface) else 0)


@cache
def kind(name: str) -> int:
    """Return the bit of a kind of action. Its name is the first word of its line."""
    names = [line.partition(":")[0] for line in lines("actions.txt")]
    return 1 << names.index(name)


@cache
def reading() -> int:
    """Return the bits of the kinds of action that only read or compute."""
    return sum(map(kind, _READING))


@cache
def changes_of_state() -> int:
    """Return the bits of the kinds of action that an update of a state can be: `cancel`, `archive`, `disable`."""
    return sum(map(kind, _CHANGES_OF_STATE))


@cache
def synonyms() -> Mapping[str, tuple[str, ...]]:
    """Map terms to their synonyms, best first. Words that the own list lacks have those of WordNet."""
    return {**_related("wordnet.txt"), **_related("synonyms.txt")}


def _related(name: str) -> dict[str, tuple[str, ...]]:
    related: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for line in lines(name):
        narrow, arrow, broad = line.partition(">")
        words = _terms(narrow)
        for word in words:
            others = _terms(broad) if arrow else words
            related[word].update((other, None) for other in others if other != word)
    return {word: tuple(others) for word, others in related.items()}


@cache
def meanings() -> frozenset[str]:
    """Return the terms that others stand for, and those of actions. Names of products are not among them."""
    return frozenset(other for others in _related("synonyms.txt").values() for other in others) | frozenset(actions())


@cache
def same_actions() -> Mapping[str, tuple[str, ...]]:
    """Map terms to their synonyms of the same kind of action."""
    kinds = actions()
    same_kind = {}
    for word in kinds:
        same = tuple(other for other in synonyms().get(word, ()) if kinds[word] & kinds.get(other, 0))
        if same:
            same_kind[word] = same
    return same_kind


@cache
def abbreviations() -> Mapping[str, tuple[tuple[str, ...], ...]]:
    """Map short forms to their spelled-out forms. Short forms are terms, spelled-out forms sequences of terms."""
    spelled_out = {}
    for line in lines("abbreviations.txt"):
        short, _, long = line.partition(":")
        spelled_out[_terms(short)[0]] = tuple(tuple(_terms(run)) for run in long.split("|"))
    return spelled_out


@cache
def phrases() -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """Map the verb (a term) and the particle of each phrasal verb to the words for its meaning."""
    meanings: defaultdict[str, dict[str, tuple[str, ...]]] = defaultdict(dict)
    for line in lines("phrases.txt"):
        phrase, _, meaning = line.partition(":")
        verb, particle = _forms(phrase)
        meanings[text.term(verb)][particle] = tuple(_forms(meaning))
    return dict(meanings)


@cache
def words() -> frozenset[str]:
    """Return all surface forms of the lists. They correct typos that no word of the tools comes close to."""
    listed = (*lines("stop.txt"), *lines("faint.txt"), *lines("synonyms.txt"))
    return frozenset(form for line in listed for form in _forms(line))


@cache
def abbreviated() -> Mapping[tuple[str, ...], str]:
    """Map spelled-out forms to short forms: the reverse of `abbreviations`."""
    return {run: short for short, runs in abbreviations().items() for run in runs}


@cache
def abbreviated_from() -> Mapping[str, tuple[tuple[str, ...], ...]]:
    """Map first terms to the spelled-out forms that begin with them."""
    by_first: defaultdict[str, list[tuple[str, ...]]] = defaultdict(list)
    for run in abbreviated():
        by_first[run[0]].append(run)
    return {first: tuple(runs) for first, runs in by_first.items()}


def _forms(line: str) -> list[str]:
    return [form for raw in text.raw_words(line) for form in text.surface_forms(raw)]


def _terms(line: str) -> list[str]:
    return list(dict.fromkeys(text.term(form) for form in _forms(line)))
