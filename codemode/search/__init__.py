"""Finding tools: text, documents, index, candidates, ranking, hits."""

from codemode.search.answer import BUDGET_TOKENS, Detail, render
from codemode.search.index import Index
from codemode.search.query import Hit, Hits, Query

__all__ = ["BUDGET_TOKENS", "Detail", "Hit", "Hits", "Index", "Query", "render"]
