"""Confidence: how likely it is that the tool searched for exists at all, from how the best hit fits.

A logistic model over what `evidence` gives. Its coefficients and the threshold were fitted on the development sets
(`benchmarks.search_unsure`, docs/search.md): with the right tool taken out, with queries of another domain, and with
nonsense.
"""

from __future__ import annotations

import math
from operator import mul, sub
from types import MappingProxyType
from typing import TYPE_CHECKING

from codemode.search.ranking import saturated

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from codemode.search.groups import Group
    from codemode.search.ranking import Column, Look

COEFFICIENTS = MappingProxyType(
    {
        "score": 1.05,
        "name_verbatim": 0.75,
        "beside": 0.63,
        "in_texts": 1.81,
        "evenness": 6.53,
        "missing": -2.01,
        "unknown": -0.64,
    }
)
INTERCEPT = -1.75

#: Below this a search is said to be unsure: about one answerable query in twenty lies below.
UNSURE = 0.2

_LEAST = 1e-6  # keeps a share of nothing from dividing by zero


def evidence(groups: Sequence[Group], look: Look, sums: Column, scores: Column, rarest: float) -> Mapping[str, float]:
    """What speaks for the best hit, by the names of `COEFFICIENTS`.

    Its `score`, where words that no tool has count as much of the query as the rarest ones; how much of its name the
    query says as it stands. Its name, namespace and first sentence explain some words of the query: those that stand
    beside each other, by the rarer of the two (`beside`); how much more of all words than of their rarity (`evenness`:
    who has a rare word but not the ordinary ones has it by chance); all but a largest share (`missing`). Its other
    texts explain more (`in_texts`), but no words that no tool has (`unknown`). Rarities are shares of `rarest`, that of
    a word that no tool has.
    """
    best = int(scores.argmax())
    weights = [max(group.weight, _LEAST) for group in groups]
    rarities = [
        (own if group.known else weight * rarest) / max(rarest, _LEAST)
        for group, weight, own in zip(groups, weights, look.rarity.tolist(), strict=True)
    ]
    headed = _shares(look.headed[best], weights)
    found = _shares(look.found[best], weights)
    explained = list(map(mul, rarities, headed))
    total, weight = max(sum(rarities), _LEAST), sum(weights)
    saturates = saturated(sums[best] / (total * rarest)) - look.features["sum"][best]
    unknown = (each * (1 - share) for group, each, share in zip(groups, weights, found, strict=True) if not group.known)
    return {
        "score": float(scores[best] + saturates),
        "name_verbatim": float(look.features["name_verbatim"][best]),
        "beside": sum(map(min, explained, explained[1:])),
        "in_texts": (sum(map(mul, rarities, found)) - sum(explained)) / math.sqrt(len(groups)),
        "evenness": sum(map(mul, weights, headed)) / weight - sum(explained) / total,
        "missing": max(map(sub, rarities, explained)) / total,
        "unknown": sum(unknown) / weight,
    }


def _shares(answers: Column, weights: Sequence[float]) -> list[float]:
    """How well groups are answered, where each counts the same."""
    return [min(answer / weight, 1.0) for answer, weight in zip(answers.tolist(), weights, strict=True)]


def confidence(found: Mapping[str, float]) -> float:
    """What the evidence comes to, between 0 and 1."""
    logit = INTERCEPT + sum(coefficient * found[name] for name, coefficient in COEFFICIENTS.items())
    return 1 / (1 + math.exp(-min(max(logit, -30.0), 30.0)))
