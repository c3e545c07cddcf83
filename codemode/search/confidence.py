"""Confidence: how likely it is that the tool searched for exists at all, from how the best hit fits.

A logistic model over five features. Its coefficients and the threshold were fitted on the development sets
(docs/search.md): with the right tool taken out, with queries of another domain, and with nonsense.
"""

from __future__ import annotations

import math
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codemode.search.groups import Group
    from codemode.search.ranking import Column, Look

#: Of the best hit: its `score`; its `sum`, in words that one tool alone has; how much of its name the query says as it
#: stands; the share of the query's words that it answers. Of the query: the share, by rarity, that any hit answers.
COEFFICIENTS = MappingProxyType(
    {
        "score": 0.51,
        "sum": 0.35,
        "name_verbatim": 0.99,
        "words_found": 0.66,
        "within_reach": 1.31,
    }
)
INTERCEPT = -2.91

#: Below this a search is said to be unsure: about one answerable query in twenty lies below.
UNSURE = 0.23

_LEAST = 1e-6  # keeps a share of nothing from dividing by zero


def confidence(groups: Sequence[Group], look: Look, sums: Column, scores: Column, rarest: float) -> float:
    """Between 0 and 1. `rarest` is the rarity of a word that one tool alone has, and of one that no tool has."""
    best = int(scores.argmax())
    values = {
        "score": float(scores[best]),
        "sum": float(sums[best]) / max(rarest, _LEAST),
        "name_verbatim": float(look.features["name_verbatim"][best]),
        "words_found": float(look.features["words_found"][best]),
        "within_reach": _within_reach(groups, look, rarest),
    }
    logit = INTERCEPT + sum(coefficient * values[name] for name, coefficient in COEFFICIENTS.items())
    return 1 / (1 + math.exp(-min(max(logit, -30.0), 30.0)))


def _within_reach(groups: Sequence[Group], look: Look, rarest: float) -> float:
    weight = np.maximum(np.array([group.weight for group in groups]), _LEAST)
    unknown = np.array([not group.alternatives for group in groups])
    rarity = np.where(unknown, weight * rarest, look.rarity)
    found = np.minimum(look.found.max(axis=0) / weight, 1.0)
    return float(found @ rarity / max(float(rarity.sum()), _LEAST))
