"""Decisions over HTTP on calls that wait for a person: `/v1/approvals[/{id}]`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Body, Request
from fastapi.responses import Response  # noqa: TC002 -- FastAPI reads it at run time

from codemode.executions.journal.base import Decision
from codemode.serving.executions import gone_on
from codemode.serving.http.executions import keep_turn
from codemode.serving.http.interface import answers
from codemode.serving.http.models import ApprovalList, Decisions
from codemode.serving.http.outgoing import DataResponse
from codemode.serving.http.requests import DecisionRequest, DecisionsRequest  # noqa: TC001 -- FastAPI reads them at run time

if TYPE_CHECKING:
    from fastapi import FastAPI

    from codemode.gateway.caller import Caller
    from codemode.service import CodeMode

_DECIDED = answers(Decisions, 404, 409, 413)

_DECISION = {"digest": "d2f1…", "verdict": "approved", "note": "as agreed"}
_ONE: Any = {"approve": {"summary": "Approve a call", "value": _DECISION}}
_SEVERAL: Any = {"approve": {"summary": "Approve calls", "value": {"decisions": [{"id": "ap_1", **_DECISION}]}}}


def add_approval_routes(app: FastAPI, service: CodeMode, authenticated: Any) -> None:
    """Add the routes. `authenticated` is the dependency that requires a key."""

    @app.get("/v1/approvals", tags=["approvals"], dependencies=[authenticated], responses=answers(ApprovalList, 409))
    async def list_approvals(request: Request, execution: str = "") -> Response:
        """List calls that wait for a person, oldest first. Approvers see all calls, other keys their own."""
        waiting = await service.executions.approvals(request.state.caller, execution)
        return DataResponse({"approvals": [call.to_json() for call in waiting]})

    @app.post("/v1/approvals", tags=["approvals"], dependencies=[authenticated], responses=_DECIDED)
    async def decide_several(
        body: Annotated[DecisionsRequest, Body(openapi_examples=_SEVERAL)], request: Request
    ) -> Response:
        """Decide on several calls, all or none."""
        return await _decided(service, request, [decision_of(one.id, one) for one in body.decisions])

    @app.post("/v1/approvals/{approval}", tags=["approvals"], dependencies=[authenticated], responses=_DECIDED)
    async def decide(
        approval: str, body: Annotated[DecisionRequest, Body(openapi_examples=_ONE)], request: Request
    ) -> Response:
        """Decide on one call. An execution with no other pending calls then continues by itself."""
        return await _decided(service, request, [decision_of(approval, body)])


async def _decided(service: CodeMode, request: Request, decisions: list[Decision]) -> Response:
    caller: Caller = request.state.caller
    answered = await service.executions.decide(decisions, caller)
    executions = {}
    for execution in dict.fromkeys(call.execution for call in answered):
        executions[execution] = await gone_on(service, execution, caller)
        if not executions[execution]["reason"]:
            keep_turn(request, service, execution, caller)
    return DataResponse({"approvals": [call.to_json() for call in answered], "executions": executions})


def decision_of(id_: str, body: DecisionRequest) -> Decision:
    """Return the decision in a request. Who decides is the request's caller."""
    return Decision(id_, body.digest, body.verdict, by="", note=body.note, value=body.value)
