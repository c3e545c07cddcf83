"""Clauses: split a query that asks for several things, so that each gets its own hit."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from codemode.search.analysis import text, wordlists
from codemode.search.interpretation.term_weights import is_statement

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_CLAUSES = 4  # most clauses of one query; a longer request is a plan and needs one query for each step

_SENTENCE_END = ".!?;\n"
_JOINT = re.compile(
    r"(?=[.!?;\n,abflmnpt])"  # first characters of a joint: the look-ahead skips all others quickly
    r"(?:[.!?;\n]{1,8}\s+|,\s*(?:and\s+)?"
    r"|\b(?:a(?:nd(?: then| also)?|lso|fter(?: that|wards)?|dditionally|s well as)|before|finally|furthermore|lastly"
    r"|moreover|next|plus|then)\b)",
    re.IGNORECASE,
)
_OPENING = frozenset(("also", "then", "please", "i", "we", "need", "want", "would", "like", "to", "can", "could", "you",
                      "me", "us"))  # fmt: skip
_ACTION_WITHIN = 60  # characters after a joint in which an action must begin
#: A word before a pronoun or an article is a verb: `snooze my alarms`, `tell him`.
_VERB = re.compile(r"[a-z]+\s+(?:an?|the|this|that|these|those|my|our|your|his|her|its|their|me|us|him|them|it)\b")


def clauses(query: str) -> list[str]:
    """Return the first clauses of a query that ask for an action, or nothing if fewer than two do."""
    spans = _spans(query)
    if len(spans) < 2:
        return []
    parts = (query[start:end] for start, end in spans if _opens_with_action(query, start, end))
    requests = list(islice((part for part in parts if len(part.split()) > 1 and not is_statement(part)), _CLAUSES))
    return requests if len(requests) > 1 else []


def promoted(order: NDArray[np.intp], heads: Sequence[int]) -> NDArray[np.intp]:
    """Move the best hits of clauses, the `heads`, behind the first hit, which stays."""
    leading = list(dict.fromkeys((order.item(0), *heads)))
    return np.concatenate((leading, order[~np.isin(order, leading)]))


def _spans(query: str) -> list[tuple[int, int]]:
    """Return the start and end of each clause. A comma or an `and` separates clauses only before another action."""
    spans = []
    start = 0
    for joint in _JOINT.finditer(query):
        begin, end = joint.span()
        if query[begin] in _SENTENCE_END or _opens_with_action(query, end, end + _ACTION_WITHIN):
            spans.append((start, begin))
            start = end
    return [*spans, (start, len(query))]


def _opens_with_action(query: str, start: int, end: int) -> bool:
    """Return whether a verb in its base form is the first word: neither `ensuring` nor `invited` asks for an action."""
    for raw in text.words_within(query, start, end):
        word = raw.group().lower()
        if word in _OPENING:
            continue
        term = text.term(word)
        if len(word) > len(term) + 1 or (word.endswith("s") and not term.endswith("s")):
            return False
        return term in wordlists.actions() or (
            word not in wordlists.stop_words() and bool(_VERB.match(query, raw.start()))
        )
    return False
