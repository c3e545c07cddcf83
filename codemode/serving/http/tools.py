"""The routes that find tools: `/v1/search`, `/v1/definitions`, `/v1/tools[/{name}]`, `/v1/sources` and `/v1/menu`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Body, Query, Request
from fastapi.responses import Response  # noqa: TC002 -- FastAPI reads it at run time

from codemode.catalog.stubs import full, one_liner
from codemode.model.definitions import Form  # noqa: TC001 -- FastAPI reads it at run time
from codemode.search.query import Query as SearchQuery
from codemode.serving.http.interface import answers
from codemode.serving.http.models import Definitions, Menu, SearchResults, SourceList, ToolDetails, ToolList
from codemode.serving.http.offering import mode_of_http
from codemode.serving.http.requests import MenuRequest, SearchRequest  # noqa: TC001 -- FastAPI reads these at run time
from codemode.serving.web.outgoing import DataResponse
from codemode.settings import ModeName  # noqa: TC001 -- FastAPI reads it at run time
from codemode.sources.loader import source_states
from codemode.text.visible import visible

if TYPE_CHECKING:
    from fastapi import FastAPI

    from codemode.catalog.tool import Tool
    from codemode.service import CodeMode

_SEARCHES: Any = {
    "one": {"summary": "One query", "value": {"queries": ["list clients"]}},
    "plan": {
        "summary": "The steps of a plan, in one namespace",
        "value": {"queries": ["find a client", "freeze a membership"], "namespace": "gym", "limit": 5},
    },
}
_MENUS: Any = {"message": {"summary": "The tools for a message", "value": {"message": "which clients are active?"}}}


def add_tool_routes(app: FastAPI, service: CodeMode, authenticated: Any) -> None:
    """Add the routes. `authenticated` is the dependency that requires a key."""
    _add_search(app, service, authenticated)
    _add_definitions(app, service, authenticated)
    _add_catalog(app, service, authenticated)
    _add_menu(app, service, authenticated)


def _add_search(app: FastAPI, service: CodeMode, authenticated: Any) -> None:
    @app.post("/v1/search", tags=["tools"], dependencies=[authenticated], responses=answers(SearchResults, 413))
    async def search(body: Annotated[SearchRequest, Body(openapi_examples=_SEARCHES)], request: Request) -> Response:
        """Find tools. `text` is for models; `hits` is the same as data."""
        answer = await service.find(body, request.state.caller)
        text = "\n".join([*(f"# {note}" for note in body.notes), answer.text])
        return DataResponse(answer.to_json() | {"text": text})


def _add_definitions(app: FastAPI, service: CodeMode, authenticated: Any) -> None:
    @app.get("/v1/definitions", tags=["tools"], dependencies=[authenticated], responses=answers(Definitions))
    async def list_definitions(request: Request, form: Form = "chat", mode: ModeName | None = None) -> Response:
        """Return the tools for a request to a model, in the form of its API. Send calls to `/v1/search` and so on."""
        chosen = mode_of_http(service, request, mode or "")
        tools = service.tools(request.state.caller, mode=chosen)
        return DataResponse({"mode": chosen, "tools": await tools.definitions(form)})


def _add_catalog(app: FastAPI, service: CodeMode, authenticated: Any) -> None:
    @app.get("/v1/tools", tags=["tools"], dependencies=[authenticated], responses=answers(ToolList))
    async def list_tools(
        request: Request,
        namespace: str | None = None,
        limit: Annotated[int, Query(ge=1, le=1000)] = 100,
        offset: Annotated[int, Query(ge=0)] = 0,
    ) -> Response:
        """List all tools in pages, ordered by id."""
        view = await service.view(request.state.caller)
        if namespace is not None:
            view.catalog.require_available(namespace)
            view.finder.index.check(SearchQuery((), namespace))
        tools = [tool for tool in view.catalog.tools if namespace in (None, tool.namespace)]
        page = sorted(tools, key=lambda tool: tool.id)[offset : offset + limit]
        return DataResponse({"tools": [_brief(tool) for tool in page], "total": len(tools), "offset": offset})

    @app.get("/v1/sources", tags=["tools"], dependencies=[authenticated], responses=answers(SourceList))
    async def list_sources(request: Request) -> Response:
        """List the sources visible to the caller: ready, stale (last known state), or unavailable with a reason."""
        catalog = (await service.view(request.state.caller)).catalog
        return DataResponse({"sources": source_states(service.sources, catalog)})

    @app.get("/v1/tools/{name}", tags=["tools"], dependencies=[authenticated], responses=answers(ToolDetails, 404))
    async def get_tool(name: str, request: Request) -> Response:
        """Return one tool by id or exact alias, with everything a program needs to call it."""
        tool = (await service.view(request.state.caller)).catalog.find(name)
        more = {"description": visible(tool.description), "aliases": list(tool.aliases), "documentation": full(tool)}
        return DataResponse(_brief(tool) | more)


def _add_menu(app: FastAPI, service: CodeMode, authenticated: Any) -> None:
    @app.post("/v1/menu", tags=["tools"], dependencies=[authenticated], responses=answers(Menu, 413))
    async def select_menu(body: Annotated[MenuRequest, Body(openapi_examples=_MENUS)], request: Request) -> Response:
        """Select a menu. `tools` holds chat completion definitions; add `prompt` to the system prompt."""
        caller = request.state.caller
        if not (body.meta_tools or body.calls):
            found = await service.select_menu(body.message, body.history, summary=body.summary, caller=caller)
            return DataResponse({**found.to_json(), "answers": []})
        session = await service.menu_session(caller)
        found = await session.offer(body.message, body.history, body.summary)
        told = [await session.handle(call) for call in body.calls]
        if any(answer is not None and answer.loaded for answer in told):
            found = await session.offer(body.message, body.history, body.summary)
        data = found.to_json()
        return DataResponse({**data, "answers": [None if one is None else one.to_json() for one in told]})


def _brief(tool: Tool) -> dict[str, Any]:
    return {
        "id": tool.id,
        "source": tool.source,
        "summary": visible(tool.summary),
        "effect": tool.effect,
        "tags": list(tool.tags),
        "signature": one_liner(tool),
    }
