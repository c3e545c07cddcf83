"""Remembered decisions over HTTP: `/v1/decisions[/{id}]`. An approval makes one, with `remember`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi import Request  # noqa: TC002 -- FastAPI reads it at run time
from fastapi.responses import Response  # noqa: TC002 -- FastAPI reads it at run time
from pydantic import BaseModel

from codemode.features.decisions.decisions import RememberedDecisions
from codemode.serving.http.interface import answers
from codemode.serving.http.record_models import Time  # noqa: TC001 -- pydantic reads it at run time
from codemode.serving.web.outgoing import DataResponse

if TYPE_CHECKING:
    from fastapi import FastAPI

    from codemode.service import CodeMode


class RememberedDecision(BaseModel):
    """An approval that also covers the same call with the same arguments later, for one key."""

    id: str
    approval: str
    tool: str
    arguments: dict[str, Any]
    owner: str
    reaches: str
    by: str
    note: str
    decided: Time
    expires: Time
    status: str


class RememberedDecisionList(BaseModel):
    """Remembered decisions, oldest first."""

    decisions: list[RememberedDecision]


def add_decision_routes(app: FastAPI, service: CodeMode, authenticated: Any) -> None:
    """Add the routes. `authenticated` is the dependency that requires a key."""

    @app.get(
        "/v1/decisions",
        tags=["approvals"],
        dependencies=[authenticated],
        responses=answers(RememberedDecisionList, 409),
    )
    async def list_decisions(request: Request) -> Response:
        """List the remembered decisions, oldest first. Approvers see all, other keys those for their own calls."""
        part = service.part(RememberedDecisions)
        listed = await part.list(request.state.caller)
        return DataResponse({"decisions": [one.to_json(part.now()) for one in listed]})

    @app.delete(
        "/v1/decisions/{decision}",
        tags=["approvals"],
        dependencies=[authenticated],
        responses=answers(RememberedDecision, 404, 409),
    )
    async def revoke_decision(decision: str, request: Request) -> Response:
        """End a remembered decision. The next such call asks a person. Approvers end any, other keys their own."""
        part = service.part(RememberedDecisions)
        ended = await part.revoke(decision, request.state.caller)
        return DataResponse(ended.to_json(part.now()))
