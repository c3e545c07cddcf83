"""The HTTP API: `POST /v1/search`, `/v1/menu`, `GET /v1/tools[/{name}]`, `/v1/sources`, executions, `/mcp`,
`GET /livez`, `/readyz`, `/healthz`, `/openapi.json`.

Every error is a problem document (RFC 9457) with the error's stable `code`. A failed program is an outcome, not an
error of the service: its status is 200.
"""

from __future__ import annotations

import logging
import os
import uuid
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from fastapi import Depends, FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from fastapi.security import HTTPBearer
from starlette.exceptions import HTTPException as StarletteHTTPException
from starlette.middleware import Middleware
from starlette.routing import Route

from codemode.catalog.stubs import full, one_liner
from codemode.errors import (
    ApprovalForbidden,
    CallerNotLetIn,
    CodeModeError,
    ConfigurationError,
    ExecutionError,
    ExecutionNotFound,
    JournalDamaged,
    JournalFull,
    JournalUnavailable,
    RequestConflict,
    SearchInvalid,
    SourceUnavailable,
    ToolNotFound,
)
from codemode.observing.metrics import MetricsObserver
from codemode.search.query import Query as SearchQuery
from codemode.search.request import SearchRequest  # noqa: TC001 -- FastAPI reads it at run time
from codemode.serving.auth.key_check import KeyCheck
from codemode.serving.http.admission import Admission, turn_of_orphan
from codemode.serving.http.executions import add_execution_routes
from codemode.serving.http.intake import Intake
from codemode.serving.http.menu import add_menu_route
from codemode.serving.http.outgoing import Outgoing
from codemode.serving.http.problems import problem
from codemode.serving.http.request_mistakes import know_query, mistake_of, place_mistake, unread_body
from codemode.serving.mcp.http import PATH, McpHttp
from codemode.sources.loader import source_states
from codemode.text.visible import visible
from sandbox import SandboxError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from codemode.catalog.tool import Tool
    from codemode.service import CodeMode
    from codemode.serving.auth.callers import Callers

T = TypeVar("T")

log = logging.getLogger(__name__)

#: HTTP status of each error class; the first match counts. Other errors come from upstream services: 502.
STATUS: dict[type[CodeModeError], int] = {
    SourceUnavailable: 503,
    ToolNotFound: 404,
    ExecutionNotFound: 404,
    SearchInvalid: 422,
    RequestConflict: 422,
    ApprovalForbidden: 403,
    CallerNotLetIn: 401,
    JournalFull: 507,
    JournalUnavailable: 503,
    JournalDamaged: 500,
    ExecutionError: 409,
    ConfigurationError: 409,
}

BEARER = HTTPBearer(auto_error=False, description="An API key of this server")


def _processors() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def create_app(service: CodeMode, callers: Callers) -> FastAPI:
    """Create the application for these callers. `service` must have been entered."""
    server = service.settings.server
    admission = Admission(server.load, processors=_processors())
    mcp = McpHttp(service, admission)

    @asynccontextmanager
    async def running(_: FastAPI) -> AsyncIterator[None]:
        async with mcp.running():
            yield

    app = FastAPI(
        title="codemode",
        version="1",
        lifespan=running,
        dependencies=[Depends(know_query)],
        middleware=[  # in the order in which it runs
            Middleware(Outgoing),
            Middleware(KeyCheck, callers=callers),
            Middleware(Intake, admission=admission, limit_bytes=server.request_limit_bytes, body_s=server.request_s),
        ],
    )
    app.state.is_draining = False
    if service.settings.keeps_journal:
        service.executions.role_of = callers.role_of
        service.executions.recovery.turn = partial(turn_of_orphan, admission)
    app.router.routes.append(Route(PATH, endpoint=mcp))
    _answer_errors(app)
    _add_health(app, service)
    _add_routes(app, service, Depends(BEARER))
    add_execution_routes(app, service, Depends(BEARER))
    add_menu_route(app, service, Depends(BEARER))
    return app


def _add_health(app: FastAPI, service: CodeMode) -> None:
    @app.get("/livez", tags=["operation"])
    async def livez() -> dict[str, Any]:
        """Report that the process responds. Restart it if this fails."""
        return {"status": "ok"}

    @app.get("/readyz", tags=["operation"])
    async def readyz() -> JSONResponse:
        """Report whether the server can run programs and is not stopping: send requests here only then.

        The status is `degraded` if a source is unavailable or stale, or if the journal is not writable. While it is
        not writable, programs may only read.
        """
        if app.state.is_draining or not service.is_ready:
            return problem(503, "not_ready", "the server is stopping" if app.state.is_draining else "it is starting")
        lacking = sum(source.failure is not None for source in service.sources.values())
        found: dict[str, Any] = {"sources_lacking": lacking} if lacking else {}
        if service.settings.keeps_journal and not await service.executions.health.is_writable():
            found["journal"] = "not writable: programs may only read"
        return JSONResponse({"status": "degraded", **found} if found else {"status": "ok"})

    metrics = service.observers.find(MetricsObserver)
    if metrics is not None:

        @app.get("/metrics", tags=["operation"], include_in_schema=False)
        async def prometheus() -> Response:
            """Return counters and histograms in Prometheus format."""
            text, media_type = metrics.text()
            return Response(text, media_type=media_type)

    @app.get("/healthz", tags=["operation"])
    async def healthz(request: Request) -> dict[str, Any]:
        """Report that the service is up. With a key, or on a server without keys, include the caller's tool count."""
        caller = request.state.caller
        return {"status": "ok"} | ({"tools": len((await service.view(caller)).catalog)} if caller else {})


def _add_routes(app: FastAPI, service: CodeMode, authenticated: Any) -> None:
    @app.post("/v1/search", tags=["tools"], dependencies=[authenticated])
    async def search(body: SearchRequest, request: Request) -> dict[str, Any]:
        """Find tools. `text` is for models; `hits` is the same as data."""
        answer = await service.search(**body.model_dump(), caller=request.state.caller)
        return answer.to_json()

    @app.get("/v1/tools", tags=["tools"], dependencies=[authenticated])
    async def list_tools(
        request: Request,
        namespace: str | None = None,
        limit: Annotated[int, Query(ge=1, le=1000)] = 100,
        offset: Annotated[int, Query(ge=0)] = 0,
    ) -> dict[str, Any]:
        """List all tools in pages, ordered by id."""
        view = await service.view(request.state.caller)
        if namespace is not None:
            view.catalog.require_available(namespace)
            view.finder.index.check(SearchQuery((), namespace))
        tools = [tool for tool in view.catalog.tools if namespace in (None, tool.namespace)]
        page = sorted(tools, key=lambda tool: tool.id)[offset : offset + limit]
        return {"tools": [_brief(tool) for tool in page], "total": len(tools), "offset": offset}

    @app.get("/v1/sources", tags=["tools"], dependencies=[authenticated])
    async def list_sources(request: Request) -> dict[str, Any]:
        """List the sources visible to the caller: ready, stale (last known state), or unavailable with a reason."""
        return {"sources": source_states(service.sources, (await service.view(request.state.caller)).catalog)}

    @app.get("/v1/tools/{name}", tags=["tools"], dependencies=[authenticated])
    async def get_tool(name: str, request: Request) -> dict[str, Any]:
        """Return one tool by id or exact alias, with everything a program needs to call it."""
        tool = (await service.view(request.state.caller)).catalog.get(name)
        return {
            **_brief(tool),
            "description": visible(tool.description),
            "aliases": list(tool.aliases),
            "documentation": full(tool),
        }


def _brief(tool: Tool) -> dict[str, Any]:
    return {
        "id": tool.id,
        "source": tool.source,
        "summary": visible(tool.summary),
        "effect": tool.effect,
        "tags": list(tool.tags),
        "signature": one_liner(tool),
    }


def _answer_errors(app: FastAPI) -> None:
    @app.exception_handler(CodeModeError)
    async def known(_: Request, error: CodeModeError) -> JSONResponse:
        status = next((status for kind, status in STATUS.items() if isinstance(error, kind)), 502)
        nearest = {"nearest": list(error.nearest)} if isinstance(error, (ToolNotFound, SearchInvalid)) else {}
        return problem(status, error.code, str(error), **nearest)

    @app.exception_handler(JournalUnavailable)
    async def unrecorded(_: Request, error: JournalUnavailable) -> JSONResponse:
        log.error("%s", error)  # the message names folders and hosts, so clients get a general one
        detail = "executions cannot be recorded or read now; check what was done, and try again later"
        return problem(STATUS[JournalUnavailable], error.code, detail)

    @app.exception_handler(SandboxError)
    async def unavailable(_: Request, error: SandboxError) -> JSONResponse:
        return problem(503, "sandbox_unavailable", str(error))

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        mistakes = [mistake_of(e, request) for e in error.errors()]
        detail = "; ".join(f"{mistake['at']}: {mistake['message']}" for mistake in mistakes)
        return problem(422, "request_invalid", detail, errors=mistakes)

    @app.exception_handler(Exception)
    async def unexpected(_: Request, error: Exception) -> JSONResponse:
        reference = uuid.uuid4().hex
        log.error("unexpected error %s", reference, exc_info=error)
        return problem(500, "internal_error", f"internal error; the server log has details under {reference}")

    @app.exception_handler(StarletteHTTPException)
    async def http(request: Request, error: StarletteHTTPException) -> JSONResponse:
        codes = {404: "not_found", 405: "method_not_allowed", 413: "request_too_large"}
        if isinstance(error.__cause__, (ValueError, RecursionError)):  # how FastAPI reports an unreadable body
            return problem(422, "request_invalid", unread_body(error.__cause__))
        code = codes.get(error.status_code, "request_invalid")
        answer = problem(error.status_code, code, place_mistake(error, request) or str(error.detail))
        answer.headers.update(error.headers or {})
        return answer
