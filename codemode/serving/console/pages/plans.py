"""Plans: the lists of dry runs, which an approver approves as a whole."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, get_args

from starlette.exceptions import HTTPException
from starlette.routing import Route

from codemode.executions.types.plan import PlanVerdict
from codemode.features.plans.plans import Plans
from codemode.serving.console.forms import form_of
from codemode.serving.console.session import caller_of
from codemode.text.program_title import program_title

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from codemode.service import CodeMode
    from codemode.serving.console.views import Console


def has_plans(_: Request, service: CodeMode) -> bool:
    """Show the section where plans are recorded."""
    return service.runtime.features.find(Plans) is not None


def routes(console: Console) -> list[Route]:
    """Return the routes below `/plans`."""
    service = console.service

    async def list_(request: Request) -> Response:
        now_us = time.time_ns() // 1000
        listed = await service.part(Plans).list(caller_of(request))
        rows = [{**plan.to_json(now_us), "title": program_title(plan.code) or plan.id} for plan in listed]
        return console.page(request, "plans/list.html", title="Plans", data={"plans": rows})

    async def show(request: Request) -> Response:
        caller = caller_of(request)
        plan = await service.part(Plans).get(request.path_params["id"], caller)
        decides = service.executions.sees_all(caller) and plan.owner != caller.id
        return console.page(
            request,
            "plans/plan.html",
            title=program_title(plan.code) or plan.id,
            data={"plan": plan.to_json(time.time_ns() // 1000)},
            lines=[(line, "") for line in plan.code.splitlines()],
            decides=decides,
        )

    async def decide(request: Request) -> Response:
        form, id_ = await form_of(request), request.path_params["id"]
        verdict: Any = form.get("verdict", "")
        if verdict not in get_args(PlanVerdict):
            raise HTTPException(422, "verdict: choose one of the buttons")
        note = form.get("note", "")
        await service.part(Plans).decide(id_, form.get("digest", ""), verdict, caller_of(request), note=note)
        return console.redirect(request, "plans", id_, message=f"The plan is {verdict}.")

    return [Route("/plans", list_), Route("/plans/{id}", show), Route("/plans/{id}", decide, methods=["POST"])]
