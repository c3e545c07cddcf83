"""What calls after earlier queries add to the score of a tool: a bounded amount, and less where words are certain."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

#: Evidence from which on a query is known to be answered, also if it has words that no tool has.
ANSWERS = 0.5


def raised(documents: NDArray[np.intp], learned: Mapping[int, float], certainty: float) -> NDArray[np.float32]:
    """Return how far earlier calls raise documents, from 0 to 1. `certainty` is that of the best hit by words.

    Weak evidence counts less where words answer with certainty: the small difference from the queries before may be
    what matters.
    """
    shares = np.fromiter((learned.get(document, 0.0) for document in documents.tolist()), np.float32, len(documents))
    return np.asarray(shares * (1 - certainty * (1 - shares)), np.float32)
