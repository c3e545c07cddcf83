"""The search playground: what a model gets for a query, and why each hit matched."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from starlette.exceptions import HTTPException
from starlette.routing import Route

from codemode.catalog import tokens
from codemode.catalog.tool import Effect
from codemode.errors import WrongArgument
from codemode.search.request import SearchRequest
from codemode.serving.console.roles import looking_as, roles_for

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.requests import Request
    from starlette.responses import Response

    from codemode.gateway.caller import Caller
    from codemode.search.query import Hit
    from codemode.service import CodeMode
    from codemode.serving.console.views import Console

#: The hits of a page, as for a model that asks for more than the default.
SHOWN = 20


def routes(console: Console) -> list[Route]:
    """Return the route `/search`. Each line of `q` is one query, as for the steps of a plan."""
    service = console.service

    async def playground(request: Request) -> Response:
        caller = looking_as(request, service)
        given = {name: request.query_params.get(name, "") for name in ("q", "namespace", "effect", "why")}
        catalog = (await service.view(caller)).catalog
        found = await _found(service, caller, given) if given["q"].strip() else None
        return console.page(
            request,
            "search/playground.html",
            title="Search",
            data={"role": caller.role, "found": found},
            given=given,
            namespaces=sorted(catalog.namespaces),
            effects=[effect.value for effect in Effect],
            roles=roles_for(request, service),
        )

    return [Route("/search", playground)]


async def _found(service: CodeMode, caller: Caller, given: Mapping[str, str]) -> dict[str, Any]:
    """Return the answer to the queries with its explanation. Raises HTTPException."""
    from codemode.search.explanation import shares_of

    queries = [line.strip() for line in given["q"].splitlines() if line.strip()]
    filters: dict[str, Any] = {name: given[name] or None for name in ("namespace", "effect")}
    try:
        request = SearchRequest.checked(queries=queries, limit=SHOWN, **filters)
    except WrongArgument as wrong:
        raise HTTPException(422, str(wrong)) from None
    answer = await service.search(queries, limit=SHOWN, caller=caller, **filters)
    finder = (await service.view(caller)).finder
    query = await service.discovery.query(request, caller)
    look = finder.search(query) if not finder.uses_embeddings else await asyncio.to_thread(finder.search, query)
    each = [replace(query, queries=(text,)) for text in query.queries]
    shares = [await asyncio.to_thread(shares_of, finder.index, one) for one in each]
    return {
        "text": answer.text,
        "tokens": tokens.count(answer.text),
        "budget_tokens": service.settings.search.budget_tokens,
        "total": answer.total,
        "note": answer.note,
        "queries": [
            {
                "query": query,
                "confidence": round(look.confidence[place], 3) if place < len(look.confidence) else 0.0,
                "is_unsure": place in look.unsure,
                "is_empty": place in look.empty,
                "hits": [_hit(hit, shares[place]) for hit in answer.hits if hit.query == place],
            }
            for place, query in enumerate(queries)
        ],
    }


def _hit(hit: Hit, shares: Mapping[str, dict[str, float]]) -> dict[str, Any]:
    from codemode.search.explanation import by_field

    return {
        "id": hit.tool.id,
        "summary": hit.tool.summary,
        "effect": hit.effect.value,
        "score": round(hit.score, 3),
        "exact": hit.exact,
        "matched": by_field(hit.matched),
        "contributions": shares.get(hit.tool.id, {}),
    }
