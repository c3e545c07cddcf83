"""Confidence: how likely it is that the tool searched for exists at all, from how the best hit fits.

A logistic model over what `evidence` gives. Its coefficients and the threshold were fitted on the development sets
(`benchmarks.search_unsure`, docs/search.md): with the right tool taken out, with queries of another domain, and with
nonsense.
"""

from __future__ import annotations

import math
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from codemode.search.groups import Group
    from codemode.search.ranking import Column, Look

COEFFICIENTS = MappingProxyType(
    {
        "score": 1.1,
        "name_verbatim": 0.64,
        "sum": 0.75,
        "within_reach": 3.8,
        "within_reach_squared": -2.41,
    }
)
INTERCEPT = -3.71

#: Below this a search is said to be unsure: about one answerable query in twenty lies below.
UNSURE = 0.208

_LEAST = 1e-6  # keeps a share of nothing from dividing by zero
_LEAST_SUM = 0.02  # in words that one tool alone has: a lower sum says no more


def evidence(groups: Sequence[Group], look: Look, sums: Column, scores: Column, rarest: float) -> Mapping[str, float]:
    """What speaks for the best hit, by the names of `COEFFICIENTS`.

    Of the hit: its `score`; how much of its name the query says as it stands. Of the query: the logarithm of the
    highest `sum`, in words that one tool alone has; the share, by rarity, that any hit answers (`within_reach`).
    `rarest` is the rarity of a word that one tool alone has, and of one that no tool has.
    """
    best = int(scores.argmax())
    weight = np.maximum(np.array([group.weight for group in groups]), _LEAST)
    is_unknown = np.array([not group.alternatives for group in groups])
    rarity = np.where(is_unknown, weight * rarest, look.rarity)
    shares = rarity / max(float(rarity.sum()), _LEAST)
    reach = float(np.minimum(look.found.max(axis=0) / weight, 1.0) @ shares)
    return {
        "score": float(scores[best]),
        "name_verbatim": float(look.features["name_verbatim"][best]),
        "sum": math.log(max(float(sums.max()) / max(rarest, _LEAST), _LEAST_SUM)),
        "within_reach": reach,
        "within_reach_squared": reach * reach,
    }


def confidence(found: Mapping[str, float]) -> float:
    """What the evidence comes to, between 0 and 1."""
    logit = INTERCEPT + sum(coefficient * found[name] for name, coefficient in COEFFICIENTS.items())
    return 1 / (1 + math.exp(-min(max(logit, -30.0), 30.0)))
