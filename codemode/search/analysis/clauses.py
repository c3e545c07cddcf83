"""Clauses: the several wishes of one sentence, so that each gets a hit of its own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from codemode.search.analysis import text, wordlists
from codemode.search.ranking.ranking import by_shares

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from codemode.search.ranking.ranking import Column, Look, Question

_CLAUSES = 4  # looked at in one query; a request with more is a plan, to be searched step by step
_LEAST_WORDS = 2  # that tell something; a shorter clause says too little to stand alone
_TELLING = 0.45  # weight of a word that tells something
_FOUND = 0.75  # share of a clause, by rarity, that a hit of its own must answer
_IN_NAME = np.array(0.5, np.float32)  # what an answer in the name adds
_LEAST = np.array(1e-6, np.float32)  # keeps a share of nothing from dividing by zero
_OVERALL = np.array(0.1, np.float32)  # what the score for the whole query adds, so that ties go to it

_SENTENCE_END = ".!?;\n"
_JOINT = re.compile(
    r"(?=[.!?;\n,abflmnpt])"  # what a joint may begin with: most characters are passed over at once
    r"(?:[.!?;\n]+\s+|,\s*(?:and\s+)?"
    r"|\b(?:a(?:nd(?: then| also)?|lso|fter(?: that|wards)?|dditionally|s well as)|before|finally|furthermore|lastly"
    r"|moreover|next|plus|then)\b)",
    re.IGNORECASE,
)
_OPENING = frozenset(("also", "then", "please", "i", "we", "need", "want", "would", "like", "to", "can", "could", "you",
                      "me", "us", "the", "a", "an"))  # fmt: skip
_LOOKED_AT = 60  # characters after a joint in which an action must begin


def clause_heads(question: Question, text: str, look: Look, scores: Column) -> list[int]:
    """The place of the best candidate of each clause, where a query has several and one answers most of it."""
    spans = _spans(text) if len(question.groups) >= 2 * _LEAST_WORDS else []
    if len(spans) < 2:
        return []
    telling = [group.place for group in question.groups if group.weight > _TELLING]
    spans = [
        (start, end) for start, end in spans if len([0 for place in telling if start <= place < end]) >= _LEAST_WORDS
    ]
    if not spans:
        return []
    heads: list[int] = []
    overall = _OVERALL * scores / np.maximum.reduce(scores)
    answers = look.found + _IN_NAME * look.named
    places = [group.place for group in question.groups]
    for start, end in spans:
        rarity = look.rarity * np.array([start <= place < end for place in places])
        shares = rarity / np.maximum(np.add.reduce(rarity), _LEAST)
        best = int((by_shares(answers, shares) + overall).argmax())
        if look.found[best].dot(shares) >= _FOUND:
            heads.append(best)
        if len(heads) == _CLAUSES:
            break
    return heads


def fill(order: NDArray[np.intp], heads: Sequence[int], page: int) -> NDArray[np.intp]:
    """`order` with the heads that are not on its first page put at the end of that page. The first stays first."""
    if not heads:
        return order
    first = order[:page].tolist()
    added = [head for head in dict.fromkeys(heads) if head not in first]
    if not added:
        return order
    place = max(1, len(first) - len(added))
    rest = [each for each in order[place:].tolist() if each not in added]
    return np.array([*first[:place], *added, *rest], np.intp)


def _spans(query: str) -> list[tuple[int, int]]:
    """Where the clauses of a query start and end. A comma or an `and` parts only before another action."""
    spans = []
    start = 0
    for joint in _JOINT.finditer(query):
        begin, end = joint.span()
        if query[begin] in _SENTENCE_END or _opens_with_action(query, end):
            spans.append((start, begin))
            start = end
    return [*spans, (start, len(query))]


def _opens_with_action(query: str, start: int) -> bool:
    for raw in text.words_within(query, start, start + _LOOKED_AT):
        word = raw.group().lower()
        if word not in _OPENING:
            return text.term(word) in wordlists.actions()
    return False
