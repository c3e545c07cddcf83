"""Salience: how much each word of a query says about which tool is meant."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from codemode.search import text, wordlists

if TYPE_CHECKING:
    from collections.abc import Iterator

    from codemode.search.weights import Weights

_LONGEST_QUERY = 2_000  # characters; a longer one is cut: no search needs more
_SENTENCE = re.compile(r"(?:[^.!?\n]|[.!?](?=\S))+[.!?]*")
_ASKING = re.compile(
    r"\?|\b(?:can|could|would|will) (?:you|i|we)\b|\bplease\b|\bkindly\b"
    r"|\b(?:i|we)(?:'d| would)? (?:want|need|like|require)\b"
    r"|\b(?:i'm|i am|we're|we are) (?:looking|trying)\b|\b(?:help|tell|show|give|find|get|let) (?:me|us)\b",
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


class Word(NamedTuple):
    """A word of a query: its surface form and term, its weight (1 when it counts in full), the character it starts at.

    `is_name` is whether it is written like a proper name: capitalized inside a sentence that is not all capitalized.
    """

    surface: str
    term: str
    weight: float
    place: int
    is_name: bool


def telling_words(query: str, weights: Weights) -> list[Word]:
    """The words of a query without those that say nothing, unless it has no others."""
    words = list(_words(query[:_LONGEST_QUERY], weights))
    stop = wordlists.stop_words()
    return [word for word in words if word.surface not in stop] or words


def kinds_of_action(query: str) -> tuple[int, int]:
    """The kinds of action (bits) of the word that the query opens with, and of all its words."""
    stop = wordlists.stop_words()
    leading = everything = 0
    opened = False
    for raw in text.raw_words(query[:_LONGEST_QUERY]):
        for form in _forms(raw):
            if not opened and (form.actions or form.surface not in stop):
                opened, leading = True, form.actions
            everything |= form.actions
    return leading, everything


class _Form(NamedTuple):
    """A surface form with what the word lists say of it."""

    surface: str
    term: str
    is_faint: bool
    actions: int


@lru_cache(maxsize=65_536)
def _forms(raw: str) -> tuple[_Form, ...]:
    actions, faint = wordlists.actions(), wordlists.faint_words()
    return tuple(
        _Form(surface, term := text.term(surface), surface in faint or surface.isdigit(), actions.get(term, 0))
        for surface in text.surface_forms(raw)
    )


def _words(query: str, weights: Weights) -> Iterator[Word]:
    quoted = [match.span() for match in _QUOTED.finditer(query)]
    for start, sentence, share in _sentences(query, weights):
        matches = list(text.RAW_WORD.finditer(sentence))
        names = _name_like(matches)
        for match in matches:
            position = start + match.start()
            whole = share
            if quoted and any(begin < position < end for begin, end in quoted):
                whole *= weights.quoted
            for surface, term, is_faint, actions in _forms(match.group()):
                weight = weights.faint if is_faint else weights.action if actions else 1.0
                yield Word(surface, term, whole * weight, position, match.start() in names)


def _sentences(query: str, weights: Weights) -> list[tuple[int, str, float]]:
    """Sentences with their starts and shares: where some ask for something, the others only tell the circumstances."""
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


def _name_like(matches: list[re.Match[str]]) -> set[int]:
    capitalized = {match.start() for match in matches[1:] if match.group().istitle() and len(match.group()) > 1}
    return capitalized if len(capitalized) <= len(matches) // 2 else set()
