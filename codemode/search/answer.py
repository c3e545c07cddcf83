"""Answer a search request: search the view of one caller and render the hits."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from codemode.errors import SearchInvalid
from codemode.search.introduction import ANSWER_TOKENS, condensed, with_full_names
from codemode.search.render import doubt, render
from codemode.search.result import SearchAnswer, unavailable_line, wholly_unavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from codemode.catalog.catalog import Catalog
    from codemode.search.finder import Finder
    from codemode.search.page import Observed
    from codemode.search.query import Hits, Learned
    from codemode.search.render import Guarded
    from codemode.search.request import SearchRequest
    from codemode.search.result import Accepts

_MOST_INTRODUCTIONS = 3


async def answer_search(
    request: SearchRequest,
    catalog: Catalog,
    finder: Finder,
    *,
    learned: Learned | None,
    budget_tokens: int,
    observed: Observed,
    guarded: Guarded,
    searched: Callable[[Hits], None],
    introductions: Mapping[str, str] = MappingProxyType({}),
    accepts: Accepts | None = None,
) -> SearchAnswer:
    """Search a catalog, and render the hits within the budget. `searched` receives the hits.

    `learned` raises tools by earlier calls. `introductions` are texts by namespace. They add at most 120 tokens for
    each of at most three namespaces. A filter that fits no tool is left out, and the text begins by saying so. With
    `accepts`, the answer has only the sure hits that it accepts. Raises SearchInvalid for other mistakes.
    """
    unavailable = unavailable_line(catalog)
    if wholly_unavailable(catalog, request.namespace or request.source):
        return SearchAnswer(f"# {unavailable}", (), 0, note=unavailable, doubt=unavailable)
    hits, ignored = await _hits(request, learned, finder)
    searched(hits)
    hits = hits if accepts is None else hits.sure(accepts)
    hits = replace(hits, note="; ".join(filter(None, (hits.note, unavailable))))
    text = render(
        hits,
        budget_tokens=budget_tokens,
        detail=request.detail,
        observed=observed,
        guarded=guarded,
        signatures=request.limit if "limit" in request.model_fields_set else None,
    )
    text = "\n".join([*(f"# {why}. Searched without it:" for why in ignored), text])
    unsure = tuple(hits.query.queries[at] for at in hits.unsure)
    answer = SearchAnswer(
        text, hits.hits, hits.total, unsure, hits.note, _introductions(hits, introductions, catalog), doubt(hits)
    )
    return replace(answer, text=answer.introduced(set()), introductions={}) if request.introduce else answer


async def _hits(request: SearchRequest, learned: Learned | None, finder: Finder) -> tuple[Hits, tuple[str, ...]]:
    """Return the hits, and why a filter was left out."""
    find = finder.search_with_look_ups
    ignored: tuple[str, ...] = ()
    while True:
        query = replace(request.query, learned=learned)
        try:
            hits = await asyncio.to_thread(find, query) if finder.uses_embeddings else find(query)
        except SearchInvalid as error:
            if not error.filter:
                raise
            request, ignored = request.model_copy(update={error.filter: None}), (*ignored, str(error))
        else:
            return hits, ignored


def _introductions(hits: Hits, texts: Mapping[str, str], catalog: Catalog) -> dict[str, str]:
    """Return the introductions of the namespaces of the hits, each within its budget."""
    namespaces = [name for name in dict.fromkeys(hit.namespace for hit in hits.hits) if name in texts]
    return {
        name: condensed(with_full_names(texts[name], name, catalog), ANSWER_TOKENS)
        for name in namespaces[:_MOST_INTRODUCTIONS]
    }
