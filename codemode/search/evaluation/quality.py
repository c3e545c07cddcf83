"""Search quality: evaluate the configured search on labelled queries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codemode.search.evaluation.evaluation import evaluate
from codemode.search.query import Query

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from codemode.search.evaluation.evaluation import LabelledQuery, Metrics
    from codemode.search.finder import Finder

#: Longest wait for the embeddings of the queries, in seconds.
EMBEDDING_S = 600.0


def evaluate_search(finder: Finder, queries: Sequence[LabelledQuery], change: Callable[[str], str]) -> Metrics:
    """Measure search on labelled queries, each passed through `change`."""
    finder.settle([change(each.query) for each in queries], EMBEDDING_S)
    return evaluate(lambda text: [hit.tool.id for hit in finder.search(Query((change(text),))).hits], queries)
