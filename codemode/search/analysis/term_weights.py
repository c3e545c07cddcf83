"""Salience: how much each word of a query says about which tool is meant."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from codemode.search.analysis import text, wordlists
from codemode.search.analysis.values import values

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codemode.search.analysis.values import Value
    from codemode.search.ranking.weights import Weights

_LONGEST_QUERY = 2_000  # characters; a longer one is cut: no search needs more
_FEW_WORDS = 4
_APART = 4  # words after a verb among which its particle is looked for
_PREPOSITIONS = frozenset(("in", "into", "for", "on", "over"))  # particles only where they follow directly
_LIST = "list"  # the action that one has in mind who names several things and no action
_SENTENCE = re.compile(r"(?:[^.!?\n]++|[.!?](?=\S))+[.!?]*")
_SENTENCE_END = re.compile(r"[.!?\n]")
_ASKING = re.compile(
    r"\?|\b(?=[cfghiklpstw])"  # what the others begin with: most characters are passed over at once
    r"(?:(?:can|could|would|will) (?:you|i|we)|please|kindly|(?:i|we)(?:'d| would)? (?:want|need|like|require)"
    r"|(?:i'm|i am|we're|we are) (?:looking|trying)|(?:help|tell|show|give|find|get|let) (?:me|us))\b",
    re.IGNORECASE,
)
_TELLING = re.compile(
    r"[\s\"'(]*(?:\w+,\s+)?(?:(?:i|we|you|he|she|it|they|there|here|this|that|these|those|the|my|our|your|his|her|its|their|an?"
    r"|i'm|i've|we're|we've|it's|he's|she's|they're|there's|that's)\b|thank|hi\b|hello|hey)",
    re.IGNORECASE,
)
_QUOTED = re.compile(
    r"\"[^\"]{1,200}\"|(?<!\w)'[^']{1,200}'(?!\w)|\u201c[^\u201d]{1,200}\u201d|\u2018[^\u2019]{1,200}\u2019"
)
_QUOTES = re.compile("[\"'\u201c\u2018]")


@dataclass(frozen=True, slots=True)
class Form:
    """A surface form with what the word lists say of it. `kind` is the place of its weight among those of ordinary
    words, faint ones and actions; `is_short` is whether it may be short for other words, `in_capitals` whether it is
    written as an acronym is; `opens` are spelled-out words that have a short form and begin with it."""

    surface: str
    term: str
    is_stop: bool
    kind: int
    is_short: bool
    in_capitals: bool
    actions: int
    particles: Mapping[str, tuple[str, ...]]
    opens: tuple[tuple[str, ...], ...]


#: A word of a query: its form, its weight (1 when it counts in full), the character it starts at, and whether it is
#: written like a proper name: capitalized inside a sentence that is not all capitalized.
Word: TypeAlias = tuple[Form, float, int, bool]


class Reading(NamedTuple):
    """A query as read: the words that tell something, or all if none does; the kinds of action (bits) of the word that
    it opens with, and of all its words; the surface forms of the words that were left out."""

    words: list[Word]
    leading: int
    actions: int
    left_out: frozenset[str]


def read(query: str, weights: Weights) -> Reading:
    """Read a query, its first `_LONGEST_QUERY` characters."""
    query = query[:_LONGEST_QUERY]
    written = values(query) if weights.value else []
    said = _with_meanings(_said(query, written, weights))
    of_kind = (1.0, weights.faint, weights.action)
    leading, actions = -1, 0
    words, left_out = [], set()
    for form, share, place, is_name in said:
        if not form.is_stop:
            words.append((form, share * of_kind[form.kind], place, is_name))
        elif not form.actions:
            left_out.add(form.surface)
            continue
        actions |= form.actions
        if leading < 0:
            leading = form.actions
    if not words:
        words = [(form, share * of_kind[form.kind], place, is_name) for form, share, place, is_name in said]
        left_out.clear()
    if weights.implied and not actions and _names_several(words, query):
        words.append((_form(_LIST), weights.implied, len(query), False))
    for kind, start in {value.kind: value.start for value in reversed(written)}.items():
        words.append((_form(kind), weights.value, start, False))
    return Reading(words, max(leading, 0), actions, frozenset(left_out))


def _with_meanings(said: list[Word]) -> list[Word]:
    """What is said, and after each verb what it means together with its particle: `call it off`, cancel."""
    verbs = [at for at, each in enumerate(said) if each[0].particles]
    for at in reversed(verbs):
        verb, share, place, _ = said[at]
        for gap, (particle, *_) in enumerate(said[at + 1 : at + 1 + _APART]):
            meaning = verb.particles.get(particle.surface)
            if meaning and (not gap or particle.surface not in _PREPOSITIONS):
                said[at + 1 : at + 1] = [
                    (form, share, place, False) for word in meaning for form in _raw_word(word).forms
                ]
                break
    return said


def _names_several(words: list[Word], query: str) -> bool:
    """Whether a few words, one of them in the plural, are all there is: `PRs`, `open invoices`."""
    plural = any(
        query[place : place + len(form.surface) + 1].rstrip().endswith("s") and not form.term.endswith("s")
        for form, _, place, _ in words
    )
    return plural and len(words) <= _FEW_WORDS


class _Raw(NamedTuple):
    """A raw word: its surface forms, and whether it begins with a capital letter as names do."""

    forms: tuple[Form, ...]
    is_title: bool


@lru_cache(maxsize=65_536)
def _raw_word(raw: str) -> _Raw:
    return _Raw(_forms(raw), raw.istitle() and len(raw) > 1)


def _forms(raw: str) -> tuple[Form, ...]:
    stop, faint, actions = wordlists.stop_words(), wordlists.faint_words(), wordlists.actions()
    short, phrases, in_capitals = wordlists.abbreviations(), wordlists.phrases(), text.is_acronym(raw)
    spelled_out = wordlists.abbreviated_from()
    return tuple(
        Form(surface, term := text.term(surface), surface in stop,
             1 if surface in faint or surface.isdigit() else 2 if actions.get(term) else 0,
             in_capitals or term in short, in_capitals, actions.get(term, 0), phrases.get(term, {}),
             spelled_out.get(term, ()))
        for surface in text.surface_forms(raw)
    )  # fmt: skip


def _form(word: str) -> Form:
    """The form of a word that has one."""
    (form,) = _raw_word(word).forms
    return form


def _said(query: str, written: list[Value], weights: Weights) -> list[Word]:
    """The words of a query, weighed by what the sentence makes of them."""
    quoted = [(value.start - 1, value.end) for value in written]
    if _QUOTES.search(query):
        quoted += [match.span() for match in _QUOTED.finditer(query)]
    said = []
    for start, end, share in _sentences(query, weights):
        found = [(_raw_word(match[0]), match.start()) for match in text.words_within(query, start, end)]
        names = _name_like(found)
        said += [(form, share, place, place in names) for raw, place in found for form in raw.forms]
    if quoted:
        inside = {place for begin, end in quoted for place in range(begin + 1, end)}
        return [
            (form, share * weights.quoted if place in inside else share, place, is_name)
            for form, share, place, is_name in said
        ]
    return said


def _sentences(query: str, weights: Weights) -> list[tuple[int, int, float]]:
    """Where sentences start and end, and their shares: where some ask for something, the others only tell the
    circumstances."""
    if not _SENTENCE_END.search(query, 0, len(query) - 1):
        return [(0, len(query), 1.0)]
    found = [match.span() for match in _SENTENCE.finditer(query)]
    telling = [_tells(query[start:end]) for start, end in found]
    circumstance = 1.0 if all(telling) else weights.circumstance
    return [(*span, circumstance if tells else 1.0) for span, tells in zip(found, telling, strict=True)]


def _tells(sentence: str) -> bool:
    """Whether a sentence states something rather than asks for it or orders it."""
    return bool(_TELLING.match(sentence)) and not _ASKING.search(sentence)


def _name_like(found: list[tuple[_Raw, int]]) -> set[int]:
    capitalized = {place for raw, place in found[1:] if raw.is_title}
    return capitalized if len(capitalized) <= len(found) // 2 else set()
