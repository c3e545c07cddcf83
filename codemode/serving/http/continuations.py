"""Paused executions that their callers keep: `/v1/continuations/{approvals|decide|execute}`.

The continuation is sent in the body, as it is a secret and may be large.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from fastapi import Request  # noqa: TC002 -- FastAPI reads it at run time
from fastapi.responses import Response  # noqa: TC002 -- FastAPI reads it at run time

from codemode.features.continuations.continuations import USED_ONCE, Continuations
from codemode.serving.http.approval_models import PendingCalls
from codemode.serving.http.approvals import decision_of
from codemode.serving.http.executions import STOPPING, credentials_of
from codemode.serving.http.interface import answers
from codemode.serving.http.models import Outcome, SealedContinuation
from codemode.serving.http.requests import (  # noqa: TC001 -- FastAPI reads them at run time
    ContinuationDecisionsRequest,
    ContinuationRequest,
    ContinueRequest,
)
from codemode.serving.web.outgoing import DataResponse
from codemode.serving.web.problems import problem
from codemode.serving.web.program_requests import until_disconnect

if TYPE_CHECKING:
    from fastapi import FastAPI

    from codemode.service import CodeMode


def add_continuation_routes(app: FastAPI, service: CodeMode, authenticated: Any) -> None:
    """Add the routes. `authenticated` is the dependency that requires a key."""

    @app.post(
        "/v1/continuations/approvals",
        tags=["continuations"],
        dependencies=[authenticated],
        responses=answers(PendingCalls, 404, 409, 413),
    )
    async def list_continuation_approvals(body: ContinuationRequest, request: Request) -> Response:
        """List the calls of a continuation that wait for a person. The continuation stays usable."""
        waiting = await service.part(Continuations).pending(body.continuation, request.state.caller)
        return DataResponse({"approvals": [call.to_json() for call in waiting], "note": USED_ONCE})

    @app.post(
        "/v1/continuations/decide",
        tags=["continuations"],
        dependencies=[authenticated],
        responses=answers(SealedContinuation, 404, 409, 413),
    )
    async def decide_continuation(body: ContinuationDecisionsRequest, request: Request) -> Response:
        """Decide on calls of a continuation, all or none. Return the continuation that holds the decisions."""
        decisions = [decision_of(one.id, one) for one in body.decisions]
        decided = await service.part(Continuations).decide(body.continuation, decisions, request.state.caller)
        return DataResponse({"continuation": decided})

    @app.post(
        "/v1/continuations/execute",
        tags=["continuations"],
        dependencies=[authenticated],
        responses=answers(Outcome, 404, 409, 413),
    )
    async def execute_continuation(body: ContinueRequest, request: Request) -> Response:
        """Continue a paused execution. Completed calls are not repeated. Closing the connection cancels it."""
        work = service.part(Continuations).execute(
            body.continuation,
            request.state.caller,
            decisions=[decision_of(one.id, one) for one in body.decisions],
            credentials=credentials_of(request, service),
        )
        try:
            outcome = await until_disconnect(request, work)
        except asyncio.CancelledError:  # the server is stopping
            return problem(503, "stopping", STOPPING)
        return DataResponse(outcome.to_json() if outcome is not None else None)
