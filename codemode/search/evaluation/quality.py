"""Search quality: evaluate search on labelled queries, and propose better ranking weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codemode.errors import ConfigurationError
from codemode.search.evaluation.evaluation import evaluate, read_labelled
from codemode.search.evaluation.tuning import propose
from codemode.search.query import Query

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from codemode.catalog.catalog import Catalog
    from codemode.search.evaluation.evaluation import Metrics
    from codemode.search.evaluation.tuning import Proposal
    from codemode.search.finder import Finder

#: Longest wait for the embeddings of the queries, in seconds.
EMBEDDING_S = 600.0


def evaluate_search(finder: Finder, catalog: Catalog, labelled: Path, change: Callable[[str], str]) -> Metrics:
    """Measure search on the labelled queries of a file, each passed through `change`. Raises ConfigurationError."""
    queries = read_labelled(labelled, catalog)
    finder.settle([change(each.query) for each in queries], EMBEDDING_S)
    return evaluate(lambda text: [hit.tool.id for hit in finder.search(Query((change(text),))).hits], queries)


def propose_weights(finder: Finder, catalog: Catalog, labelled: Path) -> Proposal:
    """Propose ranking weights. Raises ConfigurationError for an invalid file, or for too few queries."""
    try:
        return propose(finder.index, read_labelled(labelled, catalog))
    except ValueError as error:
        raise ConfigurationError(str(error)) from None
