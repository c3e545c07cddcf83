"""Term weights: how strongly each word of a query identifies the tool."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from codemode.search.analysis import text, wordlists
from codemode.search.interpretation.intent import Intent, Opening, intent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from codemode.search.documents.weights import Weights

_LONGEST_QUERY = 2_000  # characters; longer queries are cut
_FEW_WORDS = 4
_APART = 4  # words after a verb that may hold its particle
_PREPOSITIONS = frozenset(("in", "into", "for", "on", "over"))  # particles only directly after the verb
_SENTENCE = re.compile(r"(?:[^.!?\n]++|[.!?](?=\S))+[.!?]*")
_SENTENCE_END = re.compile(r"[.!?\n]")
_ASKING = re.compile(
    r"\?|\b(?=[cfghiklpstw])"  # first letters of the phrases below: the look-ahead skips all others quickly
    r"(?:(?:can|could|would|will) (?:you|i|we)|please|kindly|(?:i|we)(?:'d| would)? (?:want|need|like|require)"
    r"|(?:i'm|i am|we're|we are) (?:looking|trying)|(?:help|tell|show|give|find|get|let) (?:me|us))\b",
    re.IGNORECASE,
)
_STATEMENT = re.compile(
    r"[\s\"'(]*(?:\w+,\s+)?(?:(?:i|we|you|he|she|it|they|there|here|this|that|these|those|the|my|our|your|his|her|its|their|an?"
    r"|i'm|i've|we're|we've|it's|he's|she's|they're|there's|that's)\b|thank|hi\b|hello|hey)",
    re.IGNORECASE,
)
_WHO_AM_I = re.compile(r"\b(?:who am i|whoami|who i am)\b", re.IGNORECASE)
_NOW = re.compile(
    r"\W*(?:today|now|(?:the )?(?:current|present|today'?s) (?:day|date|time|month|year|weekday)(?: and time)?"
    r"|(?:what|which) (?:day|date|time|month|year|weekday) is (?:it|today|now)(?: today| now| right now)?"
    r"|what(?:'s| is) (?:the|today'?s) (?:current )?(?:day|date|time|month|year)(?: and time)?"
    r"(?: today| now| right now)?)\W*",
    re.IGNORECASE,
)
_OWN = re.compile(r"\b(?:my|mine|am i|(?:do|did|have|can) i|i (?:am|have|own))\b|\bme\W*$", re.IGNORECASE)
_QUOTED = re.compile(
    r"\"[^\"]{1,200}\"|(?<!\w)'[^']{1,200}'(?!\w)|\u201c[^\u201d]{1,200}\u201d|\u2018[^\u2019]{1,200}\u2019"
)
_QUOTES = re.compile("[\"'\u201c\u2018]")


@dataclass(frozen=True, slots=True)
class Form:
    """A surface form with its entries in the word lists.

    `kind` is 0 for ordinary words, 1 for faint words and 2 for actions. `actions` are the kinds of action as bits.
    `is_short` is whether the form may be short for other words. `particles` maps the particles of a phrasal
    verb to its meaning. `opens` are the spelled-out short forms that begin with this form.
    """

    surface: str
    term: str
    is_stop: bool
    kind: int
    is_short: bool
    actions: int
    particles: Mapping[str, tuple[str, ...]]
    opens: tuple[tuple[str, ...], ...]


#: A word of a query: form, weight (0 to 1), first character, and whether it looks like a proper name: capitalized
#: within a sentence that is not all capitalized.
Word: TypeAlias = tuple[Form, float, int, bool]


class Reading(NamedTuple):
    """The weighted words of a query. `left_out` are the surface forms of its stop words.

    A query of stop words only keeps all its words.
    """

    words: list[Word]
    intent: Intent
    left_out: frozenset[str]


def read(query: str, weights: Weights) -> Reading:
    """Return the weighted words of the first 2,000 characters of a query."""
    query = query[:_LONGEST_QUERY]
    weighted = _with_phrasal_verbs(_weighted(query, weights))
    of_kind = (1.0, weights.faint, weights.action)
    opening, actions = None, 0
    words, left_out = [], set()
    for form, share, place, is_name in weighted:
        if not form.is_stop:
            words.append((form, share * of_kind[form.kind], place, is_name))
        elif not form.actions:
            left_out.add(form.surface)
            continue
        actions |= form.actions
        opening = opening or Opening(form.surface, form.term, form.actions, place)
    words += _meant(query, words, weights)
    if not words:
        words = [(form, share * of_kind[form.kind], place, is_name) for form, share, place, is_name in weighted]
        left_out.clear()
    return Reading(words, _intent(query, opening, actions), frozenset(left_out))


def _intent(query: str, opening: Opening | None, actions: int) -> Intent:
    if _WHO_AM_I.search(query):
        return Intent(wordlists.kind("read"), actions, 1.0)
    return intent(query, opening, actions)


def _meant(query: str, words: Sequence[Word], weights: Weights) -> list[Word]:
    """Return the words that a short query gains: `who am I` asks for the current user, `what day is it` for a clock.

    A word that stands for the query is placed at its end, and one that is only added is placed behind that.
    """
    if _NOW.fullmatch(query):
        return [(_form(wordlists.CLOCK), 1.0, len(query), False)]
    if not weights.own or len(words) > _FEW_WORDS:
        return []
    if _WHO_AM_I.search(query):
        return [(_form("whoami"), 1.0, len(query), False), (_form("user"), weights.faint, len(query) + 1, False)]
    return [(_form("myself"), weights.own, len(query) + 1, False)] if _OWN.search(query) else []


def _with_phrasal_verbs(words: list[Word]) -> list[Word]:
    """Insert the meaning of each phrasal verb after its verb: `call it off` gains `cancel`."""
    verbs = [at for at, each in enumerate(words) if each[0].particles]
    for at in reversed(verbs):
        verb, share, place, _ = words[at]
        for gap, (particle, *_) in enumerate(words[at + 1 : at + 1 + _APART]):
            meaning = verb.particles.get(particle.surface)
            if meaning and (not gap or particle.surface not in _PREPOSITIONS):
                words[at + 1 : at + 1] = [
                    (form, share, place, False) for word in meaning for form in _raw_word(word).forms
                ]
                break
    return words


class _Raw(NamedTuple):
    """The surface forms of a raw word, and whether it is capitalized."""

    forms: tuple[Form, ...]
    is_title: bool


@lru_cache(maxsize=65_536)
def _raw_word(raw: str) -> _Raw:
    return _Raw(_forms(raw), raw.istitle() and len(raw) > 1)


def _forms(raw: str) -> tuple[Form, ...]:
    stop, faint = wordlists.stop_words(), wordlists.faint_words()
    short, phrases = wordlists.abbreviations(), wordlists.phrases()
    spelled_out = wordlists.abbreviated_from()
    return tuple(
        Form(surface, term := text.term(surface), surface in stop,
             1 if surface in faint or surface.isdigit() else 2 if wordlists.kinds_of(surface) else 0,
             term in short, wordlists.kinds_of(surface), phrases.get(term, {}),
             spelled_out.get(term, ()))
        for surface in text.surface_forms(raw)
    )  # fmt: skip


def _form(word: str) -> Form:
    """Return the only form of a word."""
    (form,) = _raw_word(word).forms
    return form


def _weighted(query: str, weights: Weights) -> list[Word]:
    """Return the words of a query, weighted by sentence and lowered inside quotes."""
    quoted = [match.span() for match in _QUOTED.finditer(query)] if _QUOTES.search(query) else []
    words = []
    for start, end, share in _sentences(query, weights):
        raw_words = [(_raw_word(match[0]), match.start()) for match in text.words_within(query, start, end)]
        names = _name_like(raw_words)
        words += [(form, share, place, place in names) for raw, place in raw_words for form in raw.forms]
    if quoted:
        inside = {place for begin, end in quoted for place in range(begin + 1, end)}
        return [
            (form, share * weights.quoted if place in inside else share, place, is_name)
            for form, share, place, is_name in words
        ]
    return words


def _sentences(query: str, weights: Weights) -> list[tuple[int, int, float]]:
    """Return the start, end and weight of each sentence.

    Statements weigh less if another sentence of the query asks for something.
    """
    if not _SENTENCE_END.search(query, 0, len(query) - 1):
        return [(0, len(query), 1.0)]
    spans = [match.span() for match in _SENTENCE.finditer(query)]
    statements = [is_statement(query[start:end]) for start, end in spans]
    circumstance = 1.0 if all(statements) else weights.circumstance
    return [(*span, circumstance if states else 1.0) for span, states in zip(spans, statements, strict=True)]


def is_statement(sentence: str) -> bool:
    """Return whether a sentence is a statement and not a question or a request."""
    return bool(_STATEMENT.match(sentence)) and not _ASKING.search(sentence)


def _name_like(raw_words: list[tuple[_Raw, int]]) -> set[int]:
    capitalized = {place for raw, place in raw_words[1:] if raw.is_title}
    return capitalized if len(capitalized) <= len(raw_words) // 2 else set()
