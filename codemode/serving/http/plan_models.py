"""The response bodies of the routes of plans. See `models`."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from codemode.executions.types.plan import PlanStatus  # noqa: TC001 -- pydantic reads these at run time
from codemode.serving.http.models import PlannedCall  # noqa: TC001
from codemode.serving.http.record_models import Time  # noqa: TC001


class Plan(BaseModel):
    """The list of a dry run, which a person approves as a whole. A decision must repeat `digest`.

    `execution` ran under the plan, which is used once. A plan that is `pending` or `approved` expires.
    """

    id: str
    status: PlanStatus
    owner: str
    role: str
    code: str
    program_sha256: str
    inputs: dict[str, Any]
    calls: list[PlannedCall]
    digest: str
    created: Time
    expires: Time
    by: str
    note: str
    decided: Time | None
    execution: str


class PlanList(BaseModel):
    """Plans, newest first."""

    plans: list[Plan]
