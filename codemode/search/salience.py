"""Salience: how much each word of a query says about which tool is meant."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

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


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a query: its surface form, its weight (1 when it counts in full), and the character it starts at.

    `is_name` is whether it is written like a proper name: capitalized inside a sentence that is not all capitalized.
    """

    surface: str
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
    actions, stop = wordlists.actions(), wordlists.stop_words()
    forms = [form for raw in text.raw_words(query[:_LONGEST_QUERY]) for form in text.surface_forms(raw)]
    kinds = [actions.get(text.term(form), 0) for form in forms]
    leading = next((kind for form, kind in zip(forms, kinds, strict=True) if kind or form not in stop), 0)
    everything = 0
    for kind in kinds:
        everything |= kind
    return leading, everything


def _words(query: str, weights: Weights) -> Iterator[Word]:
    quoted = [match.span() for match in _QUOTED.finditer(query)]
    for start, sentence, share in _sentences(query, weights):
        names = _name_like(sentence)
        for match in text.RAW_WORD.finditer(sentence):
            position = start + match.start()
            inside = any(begin < position < end for begin, end in quoted)
            for form in text.surface_forms(match.group()):
                weight = share * (weights.quoted if inside else 1.0) * _plain_weight(form, weights)
                yield Word(form, weight, position, match.start() in names)


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


def _name_like(sentence: str) -> set[int]:
    matches = list(text.RAW_WORD.finditer(sentence))
    capitalized = {match.start() for match in matches[1:] if match.group().istitle() and len(match.group()) > 1}
    return capitalized if len(capitalized) <= len(matches) // 2 else set()


def _plain_weight(form: str, weights: Weights) -> float:
    kind = _kind(form)
    return 1.0 if kind is None else weights.faint if kind == "faint" else weights.action


@lru_cache(maxsize=65_536)
def _kind(form: str) -> str | None:
    if form in wordlists.faint_words() or form.isdigit():
        return "faint"
    return "action" if text.term(form) in wordlists.actions() else None
