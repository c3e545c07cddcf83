"""Clauses: split a query that asks for several things, so that each gets its own hit."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from codemode.search.analysis import text, wordlists
from codemode.search.ranking.ranking import by_shares

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from codemode.search.ranking.ranking import Assessment, Column, ParsedQuery

_CLAUSES = 4  # most clauses of one query; a longer request is a plan and needs one query for each step
_INFORMATIVE = 0.45  # weight above which a word is informative
_LEAST_COVERAGE = 0.75  # share of a clause, by rarity, that its hit must match
_IN_NAME = np.array(0.5, np.float32)  # bonus for a match in the name
_LEAST = np.array(1e-6, np.float32)  # avoids division by zero

_SENTENCE_END = ".!?;\n"
_JOINT = re.compile(
    r"(?=[.!?;\n,abflmnpt])"  # first characters of a joint: the look-ahead skips all others quickly
    r"(?:[.!?;\n]{1,8}\s+|,\s*(?:and\s+)?"
    r"|\b(?:a(?:nd(?: then| also)?|lso|fter(?: that|wards)?|dditionally|s well as)|before|finally|furthermore|lastly"
    r"|moreover|next|plus|then)\b)",
    re.IGNORECASE,
)
_OPENING = frozenset(("also", "then", "please", "i", "we", "need", "want", "would", "like", "to", "can", "could", "you",
                      "me", "us", "the", "a", "an"))  # fmt: skip
_ACTION_WITHIN = 60  # characters after a joint in which an action must begin


def clause_heads(parsed: ParsedQuery, text: str, assessment: Assessment, scores: Column) -> list[int]:
    """Return the position of the best candidate of each clause.

    A query with one clause has no heads. Clauses that no candidate covers sufficiently are left out.
    """
    spans = _spans(text) if len(parsed.groups) > 1 else []
    if len(spans) < 2:
        return []
    informative = [group.place for group in parsed.groups if group.weight > _INFORMATIVE]
    spans = [(start, end) for start, end in spans if any(start <= place < end for place in informative)]
    heads: list[int] = []
    overall = scores / np.maximum.reduce(scores)
    answers = assessment.in_any + _IN_NAME * assessment.in_name
    places = [group.place for group in parsed.groups]
    for start, end in spans:
        rarity = assessment.rarity * np.array([start <= place < end for place in places])
        shares = rarity / np.maximum(np.add.reduce(rarity), _LEAST)
        best = int((by_shares(answers, shares) + overall).argmax())
        if assessment.in_any[best].dot(shares) >= _LEAST_COVERAGE:
            heads.append(best)
        if len(heads) == _CLAUSES:
            break
    return heads


def promote(order: NDArray[np.intp], heads: Sequence[int]) -> NDArray[np.intp]:
    """Move the heads behind the first hit, which stays."""
    if not heads:
        return order
    leading = list(dict.fromkeys([int(order[0]), *heads]))
    return np.array([*leading, *[each for each in order.tolist() if each not in leading]], np.intp)


def _spans(query: str) -> list[tuple[int, int]]:
    """Return the start and end of each clause. A comma or an `and` separates clauses only before another action."""
    spans = []
    start = 0
    for joint in _JOINT.finditer(query):
        begin, end = joint.span()
        if query[begin] in _SENTENCE_END or _opens_with_action(query, end):
            spans.append((start, begin))
            start = end
    return [*spans, (start, len(query))]


def _opens_with_action(query: str, start: int) -> bool:
    for raw in text.words_within(query, start, start + _ACTION_WITHIN):
        word = raw.group().lower()
        if word not in _OPENING:
            return text.term(word) in wordlists.actions()
    return False
