"""Intent: whether a query asks to read or to change, by its first words and its actions."""

from __future__ import annotations

import re
from typing import NamedTuple

from codemode.search.analysis import text, wordlists

_ASKED = 1.0  # a question, or an action that reads
_SOUGHT = 3.0  # things by what they have: no write is called so, however many of these are its arguments
_NAMED = 0.5  # things without an action: they are more often read than changed

_OPENING = re.compile(
    r"\W*(?:(?:please|kindly|hi|hey|hello|ok|okay|so|now|just|also|and|then|you|i|i'd|we|us|me|to|let|let's|want|need|like"
    r"|help|(?:can|could|would|will)(?= (?:you|i|we)\b)|how (?=(?:do|can|could|would|should) (?:i|we|you)\b|to\b)"
    r"|(?<=how )(?:do|can|could|would|should))\b\W*)*",
    re.IGNORECASE,
)
_QUESTION = re.compile(
    r"(?:who|whom|whose|who's|which|what|what's|where|where's|when|why|how|any|is|are|was|were|am"
    r"|(?:do|does|did|has|have|had) (?:i|we|you|he|she|it|they|any|anyone|anybody|my|our|your|there"
    r"|this|that|these|those))\b"
    r"|(?:tell|show|give) (?:me|us)\b",
    re.IGNORECASE,
)
_HOW_MANY = re.compile(r"\b(?:how many|number of)\b", re.IGNORECASE)
_PLURAL = re.compile(r"^\W*+(?:\w++\W++){0,3}?[a-z]{2,}[^su\W]s\b", re.IGNORECASE)  # among the first words
#: Which of several things: `which jobs failed`, `are there any jobs`, or only `open jobs`.
_SEVERAL = re.compile(
    r"\W*+(?:(?:which|whose|any|(?:is|are) there(?: any)?)\W++)?(?:\w++\W++){0,2}?[a-z]{2,}[^su\W]s\b", re.IGNORECASE
)
_CLAUSE = re.compile(
    r"'s\b|\b(?:is|are|was|were|has|have|had|will|can|should|must|to|i|we|you|he|she|it|they|him|her|them|us|me|let|give)\b",
    re.IGNORECASE,
)
_LONGEST_PHRASE = 6  # words
_BY = re.compile(r"\w\s+(?:by|whose|where)\b", re.IGNORECASE)  # `client by name`
_SENTENCE_END = re.compile(r"[.!?]\s|\n")
_NEXT_CLAUSE = re.compile(
    r"(?:\b(?:and|or|then|also)|,)\s+(?:(?:and|then|also|to|please)\s+){0,2}([a-z]+)", re.IGNORECASE
)
#: A word before a pronoun or an article is a verb: `point a domain at`, `remind me`.
_VERB = re.compile(
    r"\w+\s+(?:an?|the|this|that|these|those|my|our|your|his|her|its|their|me|us|him|them|it)\b", re.IGNORECASE
)
_NOUN_OF = re.compile(r"\w+\s+of\b", re.IGNORECASE)


class Opening(NamedTuple):
    """The first word of a query that is not left out: its form, its term, its kinds of action, its first character."""

    surface: str
    term: str
    actions: int
    place: int


class Intent(NamedTuple):
    """What a query asks for.

    `leading` are the kinds of action that it begins with, and `actions` all kinds in it, both as bits. `reads` is 1 if
    it asks to read, 0.5 if it only names things, 3 if it names things by what they have,
    and 0 if it may ask for a change. `place` is the first character of
    the leading action, or -1.
    """

    leading: int
    actions: int
    reads: float
    place: int = -1


def intent(query: str, opening: Opening | None, actions: int) -> Intent:
    """Return what a query asks for.

    `actions` are the kinds of action of all its words. A request of several sentences, or one that also changes
    something, is not taken for one to read.
    """
    leading = opening.actions if opening else 0
    if leading and opening is not None and _is_noun(query, opening):
        leading, actions = 0, actions & ~leading
    match = _OPENING.match(query)
    is_question = bool(_QUESTION.match(query, match.end() if match else 0))
    several = bool(_SENTENCE_END.search(query.rstrip())) or _changes_too(query)
    place = opening.place if leading and opening is not None else -1
    if leading & wordlists.reading():
        return Intent(_of_any_number(query, leading), actions, 0.0 if several else _ASKED, place)
    if leading or several:
        return Intent(leading, actions, 0.0, place)
    if is_question:
        return Intent(_asked_for(query), actions, _ASKED)
    is_sought = bool(_BY.search(query))
    is_verb = opening is not None and bool(_VERB.match(query, opening.place))
    if (actions and not is_sought) or is_verb or not _is_phrase(query):
        return Intent(0, actions, 0.0)
    return Intent(_asked_for(query), 0, _SOUGHT if is_sought else _NAMED)


def _asked_for(query: str) -> int:
    """Return the kinds of action that a question or a phrase asks for without naming one, or 0 if that is open."""
    if _HOW_MANY.search(query):
        return wordlists.kind("count")
    return wordlists.kind("list") | wordlists.kind("search") if _SEVERAL.match(query) else 0


def _is_phrase(query: str) -> bool:
    """Return whether a query only names things, in a few words without a verb."""
    return len(query.split()) <= _LONGEST_PHRASE and not _CLAUSE.search(query)


def _of_any_number(query: str, leading: int) -> int:
    """Add the other kinds that read: `find`, `get` and `query` are one verb. One thing is not read for several."""
    one, listed, searched = map(wordlists.kind, ("read", "list", "search"))
    if not leading & (one | searched):
        return leading
    return (leading | listed | searched) & ~(one if _PLURAL.search(query) else 0)


def _is_noun(query: str, opening: Opening) -> bool:
    """Return whether the opening word names a thing: `schedule of a deployment`, `charges`."""
    if opening.actions & wordlists.reading():
        return False
    is_plural = opening.surface.endswith("s") and not opening.term.endswith("s")
    return is_plural or bool(_NOUN_OF.match(query, opening.place))


def _changes_too(query: str) -> bool:
    """Return whether another clause begins with an action that only changes: `list users and delete the old ones`."""
    reading, kinds = wordlists.reading(), wordlists.actions()
    firsts = [kinds.get(text.term(match[1].lower()), 0) for match in _NEXT_CLAUSE.finditer(query)]
    return any(kind and not kind & reading for kind in firsts)
