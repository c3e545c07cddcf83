"""Salience: how much each word of a query says about which tool is meant."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from codemode.search import text, wordlists
from codemode.search.values import values

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codemode.search.values import Value
    from codemode.search.weights import Weights

_LONGEST_QUERY = 2_000  # characters; a longer one is cut: no search needs more
_FEW_WORDS = 4
_APART = 4  # words after a verb among which its particle is looked for
_PREPOSITIONS = frozenset(("in", "into", "for", "on", "over"))  # particles only where they follow directly
_LIST = "list"  # the action that one has in mind who names several things and no action
_SENTENCE = re.compile(r"(?:[^.!?\n]++|[.!?](?=\S))+[.!?]*")
_SENTENCE_END = re.compile(r"[.!?\n]")
_ASKING = re.compile(
    r"\?|\b(?:(?:can|could|would|will) (?:you|i|we)|please|kindly|(?:i|we)(?:'d| would)? (?:want|need|like|require)"
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


class Word(NamedTuple):
    """A word of a query: its surface form and term, its weight (1 when it counts in full), the character it starts at.

    `is_name` is whether it is written like a proper name: capitalized inside a sentence that is not all capitalized;
    `in_capitals` is whether all of it is.
    """

    surface: str
    term: str
    weight: float
    place: int
    is_name: bool
    in_capitals: bool = False


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
    leading, actions = -1, 0
    words, left_out = [], set()
    for form, share, place, is_name in said:
        actions |= form.actions
        if leading < 0 and (form.actions or not form.is_stop):
            leading = form.actions
        if not form.is_stop:
            words.append(_word(form, share, place, is_name, weights))
        elif not form.actions:
            left_out.add(form.surface)
    if not words:
        words = [_word(*each, weights) for each in said]
        left_out.clear()
    if weights.implied and not actions and _names_several(words, query):
        words.append(Word(_LIST, _LIST, weights.implied, len(query), is_name=False))
    for kind, start in {value.kind: value.start for value in reversed(written)}.items():
        words.append(Word(kind, text.term(kind), weights.value, start, is_name=False))
    return Reading(words, max(leading, 0), actions, frozenset(left_out))


def _word(form: _Form, share: float, place: int, is_name: bool, weights: Weights) -> Word:  # noqa: FBT001 -- a row
    weight = weights.faint if form.is_faint else weights.action if form.actions else 1.0
    return Word(form.surface, form.term, share * weight, place, is_name, form.in_capitals)


def _with_meanings(said: list[_Said]) -> list[_Said]:
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
        query[word.place : word.place + len(word.surface) + 1].rstrip().endswith("s") and not word.term.endswith("s")
        for word in words
    )
    return plural and len(words) <= _FEW_WORDS


class _Form(NamedTuple):
    """A surface form with what the word lists say of it."""

    surface: str
    term: str
    is_stop: bool
    is_faint: bool
    actions: int
    in_capitals: bool
    particles: Mapping[str, tuple[str, ...]]


_Said: TypeAlias = tuple[_Form, float, int, bool]  # a form, its share, its place, whether it looks like a name


class _Raw(NamedTuple):
    """A raw word: its surface forms, and whether it begins with a capital letter as names do."""

    forms: tuple[_Form, ...]
    is_title: bool


@lru_cache(maxsize=65_536)
def _raw_word(raw: str) -> _Raw:
    return _Raw(_forms(raw), raw.istitle() and len(raw) > 1)


def _forms(raw: str) -> tuple[_Form, ...]:
    stop, faint, actions = wordlists.stop_words(), wordlists.faint_words(), wordlists.actions()
    phrases = wordlists.phrases()
    return tuple(
        _Form(surface, term := text.term(surface), surface in stop, surface in faint or surface.isdigit(),
              actions.get(term, 0), text.is_acronym(raw), phrases.get(term, {}))
        for surface in text.surface_forms(raw)
    )  # fmt: skip


def _said(query: str, written: list[Value], weights: Weights) -> list[_Said]:
    """The forms of a query with what the sentence makes of them."""
    quoted = [(value.start - 1, value.end) for value in written]
    if _QUOTES.search(query):
        quoted += [match.span() for match in _QUOTED.finditer(query)]
    said = []
    for start, sentence, share in _sentences(query, weights):
        found = [(_raw_word(match.group()), start + match.start()) for match in text.RAW_WORD.finditer(sentence)]
        names = _name_like(found)
        said += [(form, share, place, place in names) for raw, place in found for form in raw.forms]
    if quoted:
        return [
            (form, share * weights.quoted, place, is_name)
            if any(begin < place < end for begin, end in quoted)
            else (form, share, place, is_name)
            for form, share, place, is_name in said
        ]
    return said


def _sentences(query: str, weights: Weights) -> list[tuple[int, str, float]]:
    """Sentences with their starts and shares: where some ask for something, the others only tell the circumstances."""
    if not _SENTENCE_END.search(query, 0, len(query) - 1):
        return [(0, query, 1.0)]
    found = [(match.start(), match.group()) for match in _SENTENCE.finditer(query)]
    telling = [_tells(sentence) for _, sentence in found]
    if all(telling):
        return [(start, sentence, 1.0) for start, sentence in found]
    return [
        (start, sentence, weights.circumstance if tells else 1.0)
        for (start, sentence), tells in zip(found, telling, strict=True)
    ]


def _tells(sentence: str) -> bool:
    """Whether a sentence states something rather than asks for it or orders it."""
    return bool(_TELLING.match(sentence)) and not _ASKING.search(sentence)


def _name_like(found: list[tuple[_Raw, int]]) -> set[int]:
    capitalized = {place for raw, place in found[1:] if raw.is_title}
    return capitalized if len(capitalized) <= len(found) // 2 else set()
