"""Confidence: how likely it is that the tool searched for exists at all, from how the best hit fits.

A logistic model over what `evidence` gives. Its coefficients and the threshold were fitted on the development sets
(`benchmarks.search_unsure`, docs/benchmarks/search.md): with the right tool taken out, with queries of another domain,
and with nonsense.
"""

from __future__ import annotations

import math
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from codemode.search.ranking.ranking import saturated

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from codemode.search.analysis.expansion import Group
    from codemode.search.ranking.ranking import Column, Look

COEFFICIENTS = MappingProxyType(
    {
        "score": 1.07,
        "sum": 0.84,
        "in_texts": 1.56,
        "evenness": 4.43,
        "parted": -2.96,
        "unasked": -0.93,
    }
)
INTERCEPT = -2.39

#: Below this a search is said to be unsure: about one answerable query in twenty lies below.
UNSURE = 0.147

_LEAST = 1e-6  # keeps a share of nothing from dividing by zero
_BESIDE = 6  # best hits whose names are set beside each other
_UNASKED = (1.0, 0.5)  # what an unasked word of the best hit counts, and one of the second


def evidence(
    groups: Sequence[Group], look: Look, sums: Column, scores: Column, order: NDArray[np.intp], rarest: float
) -> Mapping[str, float]:
    """What speaks for the best hit, the first of `order`, by the names of `COEFFICIENTS`.

    Its `score`, where words that no tool has count as much of the query as the rarest ones, and its `sum` whatever else
    the query says. Its name, namespace and first sentence explain some words: more of all than of their rarity
    (`evenness`: who has a rare word but not the ordinary ones has it by chance), or one of two that touch and not the
    other (`parted`). Its other texts explain more (`in_texts`). The names of the best hits have words of their own
    (`unasked`). Rarities are shares of `rarest`, that of a word that no tool has.
    """
    first = order[:_BESIDE]
    best = int(first[0])
    rarest = max(rarest, _LEAST)
    words = zip(groups, look.rarity.tolist(), look.headed[best].tolist(), look.found[best].tolist(), strict=True)
    said = evenly = total = explained = found = 0.0
    parts = []
    for group, own, in_head, anywhere in words:
        weight = group.weight or _LEAST
        rarity = own / rarest if group.known else weight
        headed = in_head / weight if in_head < weight else 1.0
        said += weight
        evenly += weight * headed
        total += rarity
        explained += rarity * headed
        found += rarity * (anywhere / weight if anywhere < weight else 1.0)
        parts.append((headed, rarity * (1 - headed)))
    said, total = max(said, _LEAST), max(total, _LEAST)
    summed = sums[best] / rarest
    share, whole = saturated(np.array((summed / total, summed)))
    return {
        "score": float(scores[best] + (share - look.features["sum"][best])),
        "sum": float(whole),
        "in_texts": (found - explained) / math.sqrt(max(len(groups), 1)),
        "evenness": evenly / said - explained / total,
        "parted": _parted(groups, parts) / total,
        "unasked": _unasked(look, first),
    }


def _parted(groups: Sequence[Group], parts: Sequence[tuple[float, float]]) -> float:
    """The most that is missing of a word that touches one that is there: `crossword tool` where a tool is found.
    `parts` are how well each group is answered, and how much is missing of it."""
    most = 0.0
    before, end = (0.0, 0.0), -1
    for group, part in zip(groups, parts, strict=True):
        if group.place - end == 1:
            most = max(most, part[0] * before[1], before[0] * part[1])
        before, end = part, group.place + len(group.surface)
    return most


def _unasked(look: Look, first: NDArray[np.intp]) -> float:
    """Whether the best hits have a word of their own in the name, which the query does not say nor another of them has:
    what tells them from each other is then not what was asked for. It counts by how much it says."""
    ends = [*look.name_ends.tolist(), 0]  # that of none, where the first name begins
    names = [set(look.names[ends[hit - 1] : ends[hit]].tolist()) for hit in first.tolist()]
    asked = look.asked.tolist()
    total = 0.0
    for place, share in enumerate(_UNASKED[: len(names)]):
        own = names[place].difference(asked, *names[:place], *names[place + 1 :])
        total += share * max((look.tells.item(term) for term in own), default=0.0)
    return total


def confidence(found: Mapping[str, float]) -> float:
    """What the evidence comes to, between 0 and 1."""
    logit = INTERCEPT + sum(coefficient * found[name] for name, coefficient in COEFFICIENTS.items())
    return 1 / (1 + math.exp(-min(max(logit, -30.0), 30.0)))
