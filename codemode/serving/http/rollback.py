"""Rollback over HTTP: `/v1/executions/{id}/rollback`."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from fastapi import Request  # noqa: TC002 -- FastAPI reads it at run time
from fastapi.responses import Response  # noqa: TC002 -- FastAPI reads it at run time

from codemode.executions.life.feed import GOES_ON
from codemode.features.rollback.rollback import Rollbacks
from codemode.serving.executions import outcome_json
from codemode.serving.http.executions import accepted_response, credentials_of, wait_s_of
from codemode.serving.http.interface import accepted, answers
from codemode.serving.http.models import AcceptedExecution, Rollback
from codemode.serving.http.requests import ResumeRequest  # noqa: TC001 -- FastAPI reads it at run time
from codemode.serving.web.outgoing import DataResponse
from codemode.serving.web.program_requests import keep_turn

if TYPE_CHECKING:
    from fastapi import FastAPI

    from codemode.gateway.caller import Caller
    from codemode.service import CodeMode


def add_rollback_routes(app: FastAPI, service: CodeMode, authenticated: Any) -> None:
    """Add the route. `authenticated` is the dependency that requires a key."""

    @app.post(
        "/v1/executions/{execution}/rollback",
        tags=["executions"],
        dependencies=[authenticated],
        responses=accepted(AcceptedExecution) | answers(Rollback, 404, 409, 413),
    )
    async def roll_back_execution(execution: str, request: Request, body: ResumeRequest | None = None) -> Response:
        """Undo committed calls, newest first, where a tool names its inverse."""
        caller: Caller = request.state.caller
        found = await service.part(Rollbacks).start(execution, caller, credentials_of(request, service))
        if not found.execution:
            return DataResponse({**asdict(found), "status": "nothing_to_undo", "outcome": None})
        keep_turn(request, service, found.execution, caller)
        stored = await service.executions.wait(
            found.execution, caller, wait_s_of(service, body.wait_s if body else None)
        )
        if stored.status in GOES_ON:
            return accepted_response(found.execution, stored.status)
        return DataResponse({**asdict(found), "status": stored.status, "outcome": outcome_json(stored)})
