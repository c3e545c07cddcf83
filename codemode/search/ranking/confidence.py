"""Confidence: the probability that the catalog has a tool for the query, estimated from the best hit.

A logistic model over the features of `evidence`. Its coefficients and the threshold were fitted on the development sets
(`benchmarks.search_unsure`, docs/benchmarks/search.md). Negative examples are queries whose right tool was removed,
queries of other domains, and nonsense. A few words that no tool has are reason enough to be unsure.
"""

from __future__ import annotations

import math
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from codemode.search.analysis import wordlists
from codemode.search.ranking.ranking import saturated

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from codemode.search.interpretation.expansion import Group
    from codemode.search.ranking.ranking import Assessment, Column

COEFFICIENTS = MappingProxyType(
    {
        "score": 0.89,
        "sum": 1.03,
        "in_texts": 1.29,
        "evenness": 3.85,
        "parted": -1.97,
        "unasked": -0.89,
    }
)
INTERCEPT = -2.45

#: A search with a lower confidence is reported as unsure. In no set are more than 5 % of the answerable queries.
UNSURE = 0.085

#: The same for a query of a few words, times the share of its things that no tool has. `book flight` has one thing.
UNSURE_OF_UNKNOWN = 0.45

_FEW = 5  # words; of more, some are mostly unknown
_MOSTLY = 0.65  # least share of unknown things

_LEAST = 1e-6  # avoids division by zero
_BESIDE = 6  # best hits whose names are compared
_UNASKED = (1.0, 0.5)  # weights of unasked words in the first and the second hit


def evidence(
    groups: Sequence[Group],
    assessment: Assessment,
    sums: Column,
    scores: Column,
    order: NDArray[np.intp],
    rarest: float,
    things: Sequence[Group],
) -> Mapping[str, float]:
    """Return the features of the best hit, the first of `order`. Keys are those of `COEFFICIENTS`, and `unknown`.

    The head of a tool is its name, namespace and first sentence. `rarest` is the rarity of a word that no tool has;
    other rarities are shares of it. `things` are those of the query (`things_of`).

    - `score`: the ranking score, with unknown words of the query counted as the rarest.
    - `sum`: the saturated BM25F sum, not divided by the rarity of the query.
    - `in_texts`: the rarity of the words that match only outside the head, over the root of the number of words.
    - `evenness`: how far the head covers more of the words than of their rarity. A hit that matches a rare word but
      none of the common ones matches by chance.
    - `parted`: how strongly one of two adjacent words matches the head while the other does not.
    - `unasked`: words of the best names that the query does not contain.
    - `unknown`: the share of things that no tool has, of a query of few words; else 0.
    """
    first = order[:_BESIDE]
    best = int(first[0])
    rarest = max(rarest, _LEAST)
    words = zip(
        groups,
        assessment.rarity.tolist(),
        assessment.in_head[best].tolist(),
        assessment.in_any[best].tolist(),
        strict=True,
    )
    weights = evenly = total = explained = covered = 0.0
    parts = []
    for group, own, head_share, anywhere in words:
        weight = group.weight or _LEAST
        rarity = own / rarest if group.known else weight
        in_head = head_share / weight if head_share < weight else 1.0
        weights += weight
        evenly += weight * in_head
        total += rarity
        explained += rarity * in_head
        covered += rarity * (anywhere / weight if anywhere < weight else 1.0)
        parts.append((in_head, rarity * (1 - in_head)))
    weights, total = max(weights, _LEAST), max(total, _LEAST)
    summed = sums[best] / rarest
    share, whole = saturated(np.array((summed / total, summed)))
    return {
        "score": float(scores[best] + (share - assessment.features["sum"][best])),
        "sum": float(whole),
        "in_texts": (covered - explained) / math.sqrt(max(len(groups), 1)),
        "evenness": evenly / weights - explained / total,
        "parted": _parted(groups, parts) / total,
        "unasked": _unasked(assessment, first),
        "unknown": sum(map(_is_unknown, things)) / len(things) if things and len(groups) <= _FEW else 0.0,
    }


def _parted(groups: Sequence[Group], parts: Sequence[tuple[float, float]]) -> float:
    """Return the largest uncovered rarity beside a covered word: `crossword tool`, where only `tool` matches.

    `parts` are the coverage and the uncovered rarity of each group.
    """
    most = 0.0
    before, end = (0.0, 0.0), -1
    for group, part in zip(groups, parts, strict=True):
        if group.place - end == 1:
            most = max(most, part[0] * before[1], before[0] * part[1])
        before, end = part, group.place + len(group.surface)
    return most


def _unasked(assessment: Assessment, first: NDArray[np.intp]) -> float:
    """Return the weight of the name words that only one of the best hits has and that the query does not contain.

    Such words distinguish the hits from each other by something the query did not ask for.
    """
    ends = [*assessment.name_ends.tolist(), 0]  # index -1 is the start of the first name
    names = [set(assessment.names[ends[hit - 1] : ends[hit]].tolist()) for hit in first.tolist()]
    query_terms = assessment.query_terms.tolist()
    total = 0.0
    for place, share in enumerate(_UNASKED[: len(names)]):
        own = names[place].difference(query_terms, *names[:place], *names[place + 1 :])
        total += share * max((assessment.significances.item(term) for term in own), default=0.0)
    return total


def unknown_of(things: Sequence[Group], query: str) -> tuple[str, ...]:
    """Return the things of a query that no tool has: the query itself for a word that stands for it (`who am I`)."""
    return tuple(group.surface if group.place < len(query) else query.strip() for group in things if _is_unknown(group))


def _is_unknown(group: Group) -> bool:
    """Return whether no tool has a word, nor what it is a misspelling of."""
    return not group.known and not (group.corrected and group.alternatives)


def things_of(groups: Sequence[Group], query: str) -> list[Group]:
    """Return the words of a query that are no actions, names or numbers. The places of the groups refer to `query`."""
    return [
        group
        for group in groups
        if group.place <= len(query)  # words behind that were added to the query
        and not (group.surface.isdigit() or wordlists.kinds_of(group.surface) or _is_name(query, group.place))
    ]


def _is_name(query: str, place: int) -> bool:
    return place > 0 and query[place : place + 1].isupper()


def least_confidence(unknown: float, unsure: float = UNSURE) -> float:
    """Return the confidence below which a search is unsure, from the feature `unknown`."""
    return max(unsure, UNSURE_OF_UNKNOWN * unknown) if unknown >= _MOSTLY else unsure


def confidence(features: Mapping[str, float]) -> float:
    """Return the confidence that `evidence` amounts to, between 0 and 1; 0 without a hit."""
    if not features:
        return 0.0
    logit = INTERCEPT + sum(coefficient * features[name] for name, coefficient in COEFFICIENTS.items())
    return 1 / (1 + math.exp(-min(max(logit, -30.0), 30.0)))
