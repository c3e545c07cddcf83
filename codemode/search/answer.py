"""Answer a search request: search the view of one caller and render the hits."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from codemode.search.render import render
from codemode.search.result import SearchAnswer, unavailable_line, wholly_unavailable

if TYPE_CHECKING:
    from collections.abc import Callable

    from codemode.catalog.catalog import Catalog
    from codemode.search.finder import Finder
    from codemode.search.page import Observed
    from codemode.search.query import Hits
    from codemode.search.render import Guarded
    from codemode.search.request import SearchRequest


async def answer_search(
    request: SearchRequest,
    catalog: Catalog,
    finder: Finder,
    *,
    budget_tokens: int,
    observed: Observed,
    guarded: Guarded,
    searched: Callable[[Hits], None],
) -> SearchAnswer:
    """Search a catalog, and render the hits within the budget. `searched` receives the hits."""
    unavailable = unavailable_line(catalog)
    if wholly_unavailable(catalog, request.namespace or request.source):
        return SearchAnswer(f"# {unavailable}", (), 0, note=unavailable)
    find = finder.search_with_look_ups if request.detail == "auto" else finder.search
    hits = await asyncio.to_thread(find, request.query) if finder.uses_embeddings else find(request.query)
    searched(hits)
    hits = replace(hits, note="; ".join(filter(None, (hits.note, unavailable))))
    text = render(hits, budget_tokens=budget_tokens, detail=request.detail, observed=observed, guarded=guarded)
    return SearchAnswer(text, hits.hits, hits.total, tuple(hits.query.queries[at] for at in hits.unsure), hits.note)
