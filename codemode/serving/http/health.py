"""The routes that report the state of the server: `/livez`, `/readyz`, `/healthz` and `/metrics`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi import Request  # noqa: TC002 -- FastAPI reads these at run time
from fastapi.responses import JSONResponse, Response

from codemode.observing.metrics import MetricsObserver
from codemode.serving.http.interface import problem_answers
from codemode.serving.http.models import Health, Readiness
from codemode.serving.web.problems import problem

if TYPE_CHECKING:
    from fastapi import FastAPI

    from codemode.service import CodeMode
    from codemode.serving.auth.callers import Callers

_NO_KEYS = "keys cannot be checked now: their database does not answer"
_HEALTH: dict[int | str, dict[str, Any]] = {200: {"model": Health}}
_READINESS: dict[int | str, dict[str, Any]] = {200: {"model": Readiness}, **problem_answers(503)}


def reason_not_ready(app: FastAPI, service: CodeMode) -> str:
    """Return why the server takes no requests now, or "" if it does."""
    if app.state.is_draining:
        return "the server is stopping"
    return "" if service.is_ready else "it is starting"


def add_health_routes(app: FastAPI, service: CodeMode, callers: Callers) -> None:
    """Add the routes, which need no key, and `/metrics`, which does."""

    @app.get("/livez", tags=["health"], responses=_HEALTH)
    async def get_liveness() -> JSONResponse:
        """Report that the process responds. Restart it if this fails."""
        return JSONResponse({"status": "ok"})

    @app.get("/readyz", tags=["health"], responses=_READINESS)
    async def get_readiness() -> JSONResponse:
        """Report whether the server can run programs and is not stopping: send requests here only then.

        The status is `degraded` if a source is unavailable or stale, if the journal is not writable, or if some keys
        cannot be checked. While the journal is not writable, programs may only read. If no key can be checked, every
        request would be answered with 503, and so is this one.
        """
        unchecked = callers.unchecked
        reason = reason_not_ready(app, service) or (_NO_KEYS if unchecked == "all" else "")
        if reason:
            return problem(503, "not_ready", reason)
        failed = _sources_failed(service)
        found: dict[str, Any] = {"sources_failed": failed} if failed else {}
        if unchecked == "stored":
            found["keys"] = "those that `codemode keys` made cannot be checked now"
        if not await _is_writable(service):
            found["journal"] = "not writable: programs may only read"
        return JSONResponse({"status": "degraded", **found} if found else {"status": "ok"})

    @app.get("/healthz", tags=["health"], responses=_HEALTH)
    async def get_health(request: Request) -> JSONResponse:
        """Report that the service is up. With a key, or on a server without keys, include the caller's tool count."""
        caller = request.state.caller
        tools = {"tools": len((await service.view(caller)).catalog)} if caller else {}
        return JSONResponse({"status": "ok", **tools})

    metrics = service.runtime.runner.observers.find(MetricsObserver)
    if metrics is not None:

        @app.get("/metrics", include_in_schema=False)
        async def prometheus() -> Response:
            """Return counters, gauges and histograms in Prometheus format."""
            metrics.state(sources_failed=_sources_failed(service), is_writable=await _is_writable(service))
            text, media_type = metrics.text()
            return Response(text, media_type=media_type)


def _sources_failed(service: CodeMode) -> int:
    return sum(source.failure is not None for source in service.sources.values())


async def _is_writable(service: CodeMode) -> bool:
    """Return whether executions can be recorded, or need no record."""
    return not service.settings.keeps_journal or await service.executions.health.is_writable()
