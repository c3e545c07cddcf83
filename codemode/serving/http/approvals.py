"""Decisions over HTTP on calls that wait for a person: `/v1/approvals[/{id}]`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Body, Query, Request
from fastapi.responses import Response  # noqa: TC002 -- FastAPI reads it at run time

from codemode.executions.types.records import PAGE, Decision
from codemode.features.cards.desk import Cards
from codemode.serving.executions import continue_after_decision
from codemode.serving.http.approval_models import ApprovalCard, ApprovalList, Decisions
from codemode.serving.http.interface import answers
from codemode.serving.http.requests import DecisionRequest, DecisionsRequest  # noqa: TC001 -- FastAPI reads them at run time
from codemode.serving.output.card_text import card_text
from codemode.serving.web.outgoing import DataResponse
from codemode.serving.web.program_requests import keep_turn

if TYPE_CHECKING:
    from fastapi import FastAPI

    from codemode.gateway.caller import Caller
    from codemode.service import CodeMode

_DECIDED = answers(Decisions, 404, 409, 413)

_DECISION = {"digest": "d2f1…", "verdict": "approved", "note": "as agreed"}
_ONE: Any = {"approve": {"summary": "Approve a call", "value": _DECISION}}
_ALL: Any = {"approve_all": {"summary": "Approve up to 20 calls of the tool", "value": {**_DECISION, "up_to": 20}}}
_SEVERAL: Any = {"approve": {"summary": "Approve calls", "value": {"decisions": [{"id": "ap_1", **_DECISION}]}}}


def add_approval_routes(app: FastAPI, service: CodeMode, authenticated: Any) -> None:
    """Add the routes. `authenticated` is the dependency that requires a key."""

    @app.get("/v1/approvals", tags=["approvals"], dependencies=[authenticated], responses=answers(ApprovalList, 409))
    async def list_approvals(
        request: Request, execution: str = "", limit: Annotated[int, Query(ge=1, le=PAGE)] = PAGE, after: str = ""
    ) -> Response:
        """List calls that wait for a person, oldest first. Approvers see all calls, other keys their own.

        `after` is the last id of the previous page. Large calls are listed without their arguments.
        """
        waiting = await service.part(Cards).waiting(request.state.caller, execution, after=after, limit=limit)
        return DataResponse({"approvals": [card.brief() for card in waiting]})

    @app.get(
        "/v1/approvals/{approval}",
        tags=["approvals"],
        dependencies=[authenticated],
        responses=answers(ApprovalCard, 404, 409),
    )
    async def get_approval(approval: str, request: Request) -> Response:
        """Return the card of a pending or decided call: what it does, what is known of it, and how to decide."""
        card = await service.part(Cards).show(approval, request.state.caller)
        return DataResponse({**card.to_json(), "text": card_text(card)})

    @app.post("/v1/approvals", tags=["approvals"], dependencies=[authenticated], responses=_DECIDED)
    async def decide_several(
        body: Annotated[DecisionsRequest, Body(openapi_examples=_SEVERAL)], request: Request
    ) -> Response:
        """Decide on several calls, all or none."""
        return await _decided(service, request, [decision_of(one.id, one) for one in body.decisions])

    @app.post("/v1/approvals/{approval}", tags=["approvals"], dependencies=[authenticated], responses=_DECIDED)
    async def decide(
        approval: str, body: Annotated[DecisionRequest, Body(openapi_examples=_ONE | _ALL)], request: Request
    ) -> Response:
        """Decide on one call. An execution with no other pending calls then continues by itself.

        With `up_to`, the approval also covers other calls of the same tool in this execution, up to this number.
        """
        return await _decided(service, request, [decision_of(approval, body)])


async def _decided(service: CodeMode, request: Request, decisions: list[Decision]) -> Response:
    caller: Caller = request.state.caller
    via = f"http {request.client.host}" if request.client is not None else "http"
    answered = await service.executions.decide([replace(one, via=via) for one in decisions], caller)
    executions = {}
    for execution in dict.fromkeys(call.execution for call in answered):
        executions[execution] = await continue_after_decision(service, execution, caller)
        if not executions[execution]["reason"]:
            keep_turn(request, service, execution, caller)
    return DataResponse({"approvals": [call.to_json() for call in answered], "executions": executions})


def decision_of(id_: str, body: DecisionRequest) -> Decision:
    """Return the decision in a request. Who decides is the request's caller."""
    given: Any = body.model_dump(include={"note", "value", "up_to", "remember"})
    return Decision(id_, body.digest, body.verdict, by="", **given)
