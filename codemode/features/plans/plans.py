"""The plans of one journal: make, read, decide on and use them."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from codemode.errors import ApprovalForbidden, ExecutionWaiting, JournalUnavailable
from codemode.executions.types.ids import may_be_plan, new_plan
from codemode.executions.types.plan import PLAN, Plan
from codemode.executions.types.plan_errors import PlanNotFound, PlanRefused
from codemode.features.feature import FeaturePart
from codemode.features.plans.stage import plan_stage
from codemode.features.plans.table import PlanTable

if TYPE_CHECKING:
    from codemode.executions.life.access import Access
    from codemode.executions.life.programs import Request
    from codemode.executions.run.stage import Staging
    from codemode.executions.types.outcome import ExecutionOutcome
    from codemode.executions.types.plan import PlanVerdict
    from codemode.executions.types.planned import Listing
    from codemode.features.feature import Core
    from codemode.features.plans.stage import PlanStage
    from codemode.gateway.caller import Caller

#: Plans in a list.
_LISTED = 100

#: Largest program and list of a plan, as JSON. Plans are not counted among the bytes of executions.
PLAN_BYTES = 1024 * 1024

_TOO_LARGE = "the list of this dry run takes more than 1 MiB, so it has no plan that could be approved as a whole"
_UNRECORDED = "the journal is unavailable: this dry run has no plan that could be approved"


class Plans(FeaturePart):
    """The plans of one journal, as callers may see them.

    The key that starts a dry run owns its plan; to every other key but an approver's, the plan does not exist.
    """

    def __init__(self, access: Access) -> None:
        self._table = PlanTable(access.journal)
        self._digest = access.journal.digest
        self._programs = access.programs
        self._approvals = access.approvals
        self._opened = access.visible.opened

    @classmethod
    def of(cls, core: Core) -> Self | None:
        """See `FeaturePart`."""
        return cls(core.executions.access) if core.executions is not None else None

    def stage(self, staging: Staging) -> PlanStage | None:
        """See `FeaturePart`."""
        return plan_stage(staging)

    async def listed(
        self, outcome: ExecutionOutcome, listing: Listing, request: Request, caller: Caller
    ) -> ExecutionOutcome:
        """Record the list of a completed dry run as a plan, and return the outcome with the plan's id."""
        if not outcome.ok or not listing.calls:
            return outcome
        made = Plan(
            new_plan(),
            caller.id,
            caller.role,
            request.code,
            tuple(listing.calls),
            tuple(listing.reads),
            digest="",
            environment=self._programs.environment(self._digest),
            inputs=request.inputs,
        )
        content = made.content()
        if len(json.dumps(content)) > PLAN_BYTES:
            return replace(outcome, notes=(*outcome.notes, _TOO_LARGE))
        try:
            await self._opened()
            plan = await self._table.save(replace(made, digest=self._digest(content)))
        except JournalUnavailable:
            return replace(outcome, notes=(*outcome.notes, _UNRECORDED))
        return replace(outcome, plan=plan.id)

    async def get(self, plan: str, caller: Caller) -> Plan:
        """Return a plan of the caller, or any plan to an approver. Raises PlanNotFound."""
        await self._opened()
        if not may_be_plan(plan):
            raise PlanNotFound(plan)
        found = await self._table.get(plan)
        if found.owner != caller.id and not self._approvals.are_up_to(caller):
            raise PlanNotFound(plan)
        return found

    async def list(self, caller: Caller) -> tuple[Plan, ...]:
        """Return the newest 100 plans, newest first: of all keys to approvers, to other callers their own."""
        await self._opened()
        owner = "" if self._approvals.are_up_to(caller) else caller.id
        return await self._table.list(owner, _LISTED)

    async def decide(self, plan: str, digest: str, verdict: PlanVerdict, caller: Caller, *, note: str = "") -> Plan:
        """Record the caller's decision on a plan as it was shown, with this digest.

        Raises PlanNotFound; PlanRefused if the plan has expired, was decided or has another digest; ApprovalForbidden
        if the caller is no approver or started the dry run.
        """
        found = await self.get(plan, caller)
        self._approvals.require_approver(caller)
        if found.owner == caller.id:
            message = f"{plan} belongs to a dry run of the same key; a different person must decide"
            raise ApprovalForbidden(message)
        status = found.status(_now_us())
        if status != "pending":
            message = f"the decision on {plan} was rejected: the plan is {status}"
            raise PlanRefused(message)
        if found.digest != digest:
            message = f"the decision on {plan} was rejected: it is for another list of calls; read the plan again"
            raise PlanRefused(message)
        return await self._table.decide(found, verdict, caller.id, note)

    async def applied(self, request: Request, caller: Caller) -> tuple[Request, dict[str, Any]]:
        """Return a request with the program of its plan, and the settings of the execution that runs under the plan.

        `resume_from` may hold the plan's id too. Raises PlanNotFound; ExecutionWaiting while nobody has decided;
        PlanRefused if the plan was rejected or used, has expired, or has another program.
        """
        name = request.plan or (request.resume_from if may_be_plan(request.resume_from) else "")
        if not name:
            return request, {}
        plan = await self.get(name, caller)
        if plan.owner != caller.id:
            raise PlanNotFound(name)
        status = plan.status(_now_us())
        if status == "pending":
            message = f"{name} waits for a person: an approver approves it with `codemode plans approve {name}`"
            raise ExecutionWaiting(message)
        is_repeated = status == "used" and request.key  # the journal then names the earlier execution
        if status != "approved" and not is_repeated:
            execution = f" by {plan.execution}" if plan.execution else ""
            message = f"{name} cannot be run: it is {status}{execution}; make another dry run for a new plan"
            raise PlanRefused(message, execution=plan.execution)
        if request.code not in ("", plan.code):
            message = f"the program differs from that of {name}: leave the code out, or make another dry run of it"
            raise PlanRefused(message)
        return replace(request, code=plan.code, inputs=plan.inputs, plan=name, resume_from=""), {PLAN: plan.approved()}


def _now_us() -> int:
    return time.time_ns() // 1000
