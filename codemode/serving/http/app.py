"""The HTTP API: the application with its middleware, routes and error handlers, and the MCP endpoint.

Every error is a problem document (RFC 9457) with the error's stable `code`. A failed program is an outcome, not an
error of the service: its status is 200.
"""

from __future__ import annotations

import logging
import os
import uuid
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

from fastapi import Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse  # noqa: TC002 -- FastAPI reads it at run time
from fastapi.security import HTTPBearer
from starlette.exceptions import HTTPException as StarletteHTTPException
from starlette.middleware import Middleware
from starlette.routing import Route

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
from codemode.executions.saved.errors import SavingForbidden, SavingRefused
from codemode.model.modes import ModeRejected
from codemode.observing.metrics import MetricsObserver
from codemode.serving.auth.key_check import SHARED, KeyCheck
from codemode.serving.console.app import add_console
from codemode.serving.console.session import SessionCheck, Sessions
from codemode.serving.http.admission import Admission
from codemode.serving.http.approvals import add_approval_routes
from codemode.serving.http.content import add_content_routes
from codemode.serving.http.continuations import add_continuation_routes
from codemode.serving.http.draining import ClosingWhenDraining, turn_unless_draining
from codemode.serving.http.executions import add_execution_routes
from codemode.serving.http.health import add_health_routes
from codemode.serving.http.intake import Intake
from codemode.serving.http.interface import Api
from codemode.serving.http.offering import offering
from codemode.serving.http.origins import AllowedOrigins
from codemode.serving.http.outgoing import Outgoing
from codemode.serving.http.pages import add_pages
from codemode.serving.http.plans import add_plan_routes
from codemode.serving.http.problems import JOURNAL_AWAY, problem
from codemode.serving.http.request_mistakes import know_query, mistake_of, place_mistake, unread_body
from codemode.serving.http.saved import add_saved_routes
from codemode.serving.http.tools import add_tool_routes
from codemode.serving.mcp.endpoint import PATH, McpEndpoint
from codemode.transports.content import ContentNotFound
from sandbox import SandboxError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from codemode.service import CodeMode
    from codemode.serving.auth.callers import Callers

log = logging.getLogger(__name__)

#: HTTP status of each error class; the first match counts. Other errors come from upstream services: 502.
STATUS: dict[type[CodeModeError], int] = {
    SourceUnavailable: 503,
    ToolNotFound: 404,
    ExecutionNotFound: 404,
    ContentNotFound: 404,
    SearchInvalid: 422,
    RequestConflict: 422,
    ApprovalForbidden: 403,
    SavingForbidden: 403,
    ModeRejected: 403,
    SavingRefused: 409,
    CallerNotLetIn: 401,
    JournalFull: 507,
    JournalUnavailable: 503,
    JournalDamaged: 500,
    ExecutionError: 409,
    ConfigurationError: 409,
}

#: What limits requests that run no program: they have as many places as programs have turns, and no rate.
_OF_LOOKS = {"per_key_rate_per_s": None, "per_key_running": None}

BEARER = HTTPBearer(scheme_name="key", auto_error=False, description="A key of this server.")


def _processors() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def create_app(service: CodeMode, callers: Callers) -> FastAPI:
    """Create the application for these callers. `service` must have been entered."""
    server = service.settings.server
    processors = max(1, _processors() // server.processes)
    admission = Admission(server.load, processors=processors, allowances=service.allowances)
    sessions = Sessions(service.store.value("sessions"))
    mcp = McpEndpoint(service, admission)
    metrics = service.observers.find(MetricsObserver)
    if metrics is not None:
        metrics.limit(server.load.running)

    @asynccontextmanager
    async def running(_: FastAPI) -> AsyncIterator[None]:
        async with mcp.running():
            yield

    app = Api(
        lifespan=running,
        dependencies=[Depends(know_query), Depends(offering(service))],
        middleware=[  # in the order in which it runs
            Middleware(ClosingWhenDraining),
            Middleware(Outgoing),
            Middleware(AllowedOrigins, origins=server.cors_origins, paths=SHARED),
            Middleware(KeyCheck, callers=callers, origins=server.cors_origins),
            Middleware(SessionCheck, callers=callers, sessions=sessions),
            Middleware(
                Intake,
                admission=admission,
                looks=Admission(server.load.model_copy(update=_OF_LOOKS), processors=processors),
                limit_bytes=server.request_limit_bytes,
                upload_bytes=service.settings.content.upload_bytes,
                body_s=server.request_s,
                metrics=metrics,
            ),
        ],
    )
    app.state.is_draining = False
    app.state.admission = admission
    if service.settings.keeps_journal:
        service.executions.role_of = callers.role_of
        service.executions.recovery.turn = partial(turn_unless_draining, app, admission)
    if service.settings.continuations is not None:
        service.continuations.role_of = callers.role_of
    _answer_errors(app)
    add_execution_routes(app, service, Depends(BEARER))  # first, since routes are tried in order
    add_pages(app, has_console=service.settings.console.enabled)
    add_health_routes(app, service, callers)
    add_tool_routes(app, service, Depends(BEARER))
    add_approval_routes(app, service, Depends(BEARER))
    add_content_routes(app, service, Depends(BEARER))
    add_plan_routes(app, service, Depends(BEARER))
    add_continuation_routes(app, service, Depends(BEARER))
    add_saved_routes(app, service, Depends(BEARER))
    app.router.routes.append(Route(PATH, endpoint=mcp))
    if service.settings.console.enabled:
        add_console(app, service, callers, sessions, admission, _status_of)
    return app


def _status_of(error: CodeModeError) -> int:
    return next((status for kind, status in STATUS.items() if isinstance(error, kind)), 502)


def _answer_errors(app: FastAPI) -> None:
    @app.exception_handler(CodeModeError)
    async def known(_: Request, error: CodeModeError) -> JSONResponse:
        status = _status_of(error)
        nearest = {"nearest": list(error.nearest)} if isinstance(error, (ToolNotFound, SearchInvalid)) else {}
        return problem(status, error.code, str(error), **nearest)

    @app.exception_handler(JournalUnavailable)
    async def unrecorded(_: Request, error: JournalUnavailable) -> JSONResponse:
        log.error("%s", error)
        known = {"execution": error.execution} if error.execution else {}
        detail = f"{JOURNAL_AWAY}; the execution is {error.execution}" if known else JOURNAL_AWAY
        return problem(STATUS[JournalUnavailable], error.code, detail, **known)

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
