"""Confidence: how likely it is that the tool searched for exists at all, from how the best hit fits.

A logistic model over six features. Its coefficients and the threshold were fitted on the development sets
(docs/search.md): with the right tool taken out, with queries of another domain, and with nonsense.
"""

from __future__ import annotations

import math
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from codemode.search.ranking import Column

COEFFICIENTS = MappingProxyType(
    {
        "words_found": 3.4,
        "name_covered": 0.9,
        "summary_covered": 0.9,
        "name_verbatim": 0.65,
        "name_in_order": 0.6,
        "lead": 1.35,
    }
)
INTERCEPT = -2.95

#: Below this a search is said to be unsure: about one answerable query in twenty lies below.
UNSURE = 0.28

_BEHIND = 9  # the hit that the best one is compared with


def confidence(features: Mapping[str, Column], scores: Column, order: NDArray[np.intp]) -> float:
    """Between 0 and 1, for candidates with these features and scores, `order` being their places from best to worst."""
    best = order[0]
    behind = scores[order[min(_BEHIND, len(order) - 1)]]
    lead = float(1 - behind / scores[best]) if scores[best] > 0 else 0.0
    values = {name: float(features[name][best]) for name in COEFFICIENTS if name != "lead"} | {"lead": lead}
    logit = INTERCEPT + sum(COEFFICIENTS[name] * value for name, value in values.items())
    return 1 / (1 + math.exp(-float(np.clip(logit, -30, 30))))
