"""Search: find tools by a query in words. Analysis, index, ranking, and the rendering of hits."""

from codemode.search.index.index import Index
from codemode.search.query import Hit, Hits, Query
from codemode.search.render import BUDGET_TOKENS, render
from codemode.search.request import Detail

__all__ = ["BUDGET_TOKENS", "Detail", "Hit", "Hits", "Index", "Query", "render"]
