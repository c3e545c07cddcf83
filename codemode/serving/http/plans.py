"""Plans over HTTP: the lists of dry runs, each approved as a whole. `/v1/plans[/{id}]`."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Body, Request
from fastapi.responses import Response  # noqa: TC002 -- FastAPI reads it at run time

from codemode.features.plans.plans import Plans
from codemode.serving.http.interface import answers
from codemode.serving.http.plan_models import Plan, PlanList
from codemode.serving.http.requests import PlanDecisionRequest  # noqa: TC001 -- FastAPI reads it at run time
from codemode.serving.web.outgoing import DataResponse

if TYPE_CHECKING:
    from fastapi import FastAPI

    from codemode.service import CodeMode

_DECISION: Any = {
    "approve": {"summary": "Approve a plan", "value": {"digest": "d2f1…", "verdict": "approved", "note": "as agreed"}}
}


def add_plan_routes(app: FastAPI, service: CodeMode, authenticated: Any) -> None:
    """Add the routes. `authenticated` is the dependency that requires a key."""

    @app.get("/v1/plans", tags=["plans"], dependencies=[authenticated], responses=answers(PlanList, 409))
    async def list_plans(request: Request) -> Response:
        """List the newest 100 plans, newest first. Approvers see all plans, other keys their own."""
        found = await service.part(Plans).list(request.state.caller)
        return DataResponse({"plans": [plan.to_json(_now_us()) for plan in found]})

    @app.get("/v1/plans/{plan}", tags=["plans"], dependencies=[authenticated], responses=answers(Plan, 404, 409))
    async def get_plan(plan: str, request: Request) -> Response:
        """Return one plan: its program and the calls that it lists."""
        found = await service.part(Plans).get(plan, request.state.caller)
        return DataResponse(found.to_json(_now_us()))

    @app.post("/v1/plans/{plan}", tags=["plans"], dependencies=[authenticated], responses=answers(Plan, 404, 409, 413))
    async def decide_on_plan(
        plan: str, body: Annotated[PlanDecisionRequest, Body(openapi_examples=_DECISION)], request: Request
    ) -> Response:
        """Approve or reject a plan as a whole. Nothing runs: its owner then runs the program with `plan`."""
        caller = request.state.caller
        decided = await service.part(Plans).decide(plan, body.digest, body.verdict, caller, note=body.note)
        return DataResponse(decided.to_json(_now_us()))


def _now_us() -> int:
    return time.time_ns() // 1000
