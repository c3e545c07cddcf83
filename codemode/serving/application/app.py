"""The HTTP API, the MCP endpoint and the console, behind one stack of middleware."""

from __future__ import annotations

import os
from contextlib import asynccontextmanager
from functools import partial
from pkgutil import resolve_name
from typing import TYPE_CHECKING

from fastapi import Depends, FastAPI
from fastapi.responses import JSONResponse
from fastapi.security import HTTPBearer
from starlette.middleware import Middleware
from starlette.routing import Route

from codemode.observing.metrics import MetricsObserver
from codemode.serving.auth.key_check import SHARED, KeyCheck
from codemode.serving.auth.protected_resource import METADATA, ProtectedResource
from codemode.serving.console.app import add_console
from codemode.serving.console.session import SessionCheck, Sessions
from codemode.serving.http.approvals import add_approval_routes
from codemode.serving.http.content import add_content_routes
from codemode.serving.http.draining import ClosingWhenDraining, turn_unless_draining
from codemode.serving.http.errors import answer_errors, status_of
from codemode.serving.http.executions import add_execution_routes
from codemode.serving.http.health import add_health_routes
from codemode.serving.http.intake import Intake
from codemode.serving.http.interface import Api
from codemode.serving.http.offering import offering
from codemode.serving.http.origins import AllowedOrigins
from codemode.serving.http.pages import add_pages
from codemode.serving.http.request_mistakes import know_query
from codemode.serving.http.tools import add_tool_routes
from codemode.serving.mcp.endpoint import McpEndpoint
from codemode.serving.web.admission import Admission
from codemode.serving.web.outgoing import Outgoing
from codemode.serving.web.paths import MCP
from codemode.serving.web.problems import problem
from codemode.transports.oauth.client_document import PATH as CLIENT_DOCUMENT
from codemode.transports.oauth.client_document import client_address, client_document

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.requests import Request
    from starlette.responses import Response

    from codemode.service import CodeMode
    from codemode.serving.auth.callers import Callers

#: What limits requests that run no program: they have as many places as programs have turns, and no rate.
_OF_LOOKS = {"per_key_rate_per_s": None, "per_key_running": None}

BEARER = HTTPBearer(scheme_name="key", auto_error=False, description="A key of this server.")


def _processors() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


async def _resource_metadata(resource: ProtectedResource, request: Request) -> Response:
    """Return the metadata that clients log in by, to pages of all origins: it is public."""
    metadata = resource.metadata(request.path_params["part"])
    if metadata is None:
        return problem(404, "not_found", "there is no such protected resource")
    return JSONResponse(metadata, headers={"Access-Control-Allow-Origin": "*", "Cache-Control": "max-age=3600"})


async def _client_document(public_url: str, _: Request) -> Response:
    """Return the document by which issuers know codemode as a client of theirs: it is public."""
    return JSONResponse(client_document(public_url), headers={"Cache-Control": "max-age=3600"})


def create_app(service: CodeMode, callers: Callers) -> FastAPI:
    """Create the application for these callers. `service` must have been entered."""
    server = service.settings.server
    resource = ProtectedResource.of(server)
    processors = max(1, _processors() // server.processes)
    admission = Admission(server.load, processors=processors, allowances=service.runtime.allowances)
    sessions = Sessions(service.store.value("sessions"))
    mcp = McpEndpoint(service, admission)
    metrics = service.runtime.runner.observers.find(MetricsObserver)
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
            Middleware(KeyCheck, callers=callers, origins=server.cors_origins, resource=resource),
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
    service.runtime.know_roles(callers.role_of)
    if service.settings.keeps_journal:
        service.executions.recovery.turn = partial(turn_unless_draining, app, admission)
    answer_errors(app)
    add_execution_routes(app, service, Depends(BEARER))  # first, since routes are tried in order
    add_pages(app, has_console=service.settings.console.enabled)
    add_health_routes(app, service, callers)
    add_tool_routes(app, service, Depends(BEARER))
    add_approval_routes(app, service, Depends(BEARER))
    add_content_routes(app, service, Depends(BEARER))
    for routes in service.runtime.features.routes:
        resolve_name(f"codemode.serving.{routes}")(app, service, Depends(BEARER))
    app.router.routes.append(Route(MCP, endpoint=mcp))
    if resource is not None:
        app.router.routes.append(Route(f"{METADATA}{{part:path}}", partial(_resource_metadata, resource)))
    if client_address(server.public_url):
        app.router.routes.append(Route(CLIENT_DOCUMENT, partial(_client_document, server.public_url)))
    if service.settings.console.enabled:
        add_console(app, service, callers, sessions, admission, status_of)
    return app
