"""A plan: the program of a dry run and the calls that it listed, for a person to approve as a whole."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Self

from codemode.executions.types.json_form import json_of, record_of
from codemode.executions.types.planned import PlannedCall
from codemode.text.times import has_passed, rfc3339

if TYPE_CHECKING:
    from collections.abc import Mapping

#: The key of the approved plan in the settings of an execution that runs under it.
PLAN = "plan"

PlanVerdict = Literal["approved", "rejected"]
PlanStatus = Literal["pending", "approved", "rejected", "used", "expired"]


@dataclass(frozen=True, slots=True)
class Plan:
    """The list of a dry run. Times are microseconds since the epoch (UTC).

    - `owner`, `role`: the key that started the dry run, and its role.
    - `calls`: the calls that a person approves.
    - `reads`: reads that were not sent, because their arguments hold placeholders. They need no approval.
    - `digest`: the journal's keyed digest of program and calls, which a decision must repeat.
    - `inputs`: the variables that the program was given.
    - `environment`: versions and digests of everything that the dry run depended on, by name.
    - `verdict`, `by`, `note`: the decision of a person; "" before it.
    - `execution`: the execution that ran under the plan, "" if there is none. A plan is used once.
    - `expires_us`: counted from its creation, and then from the decision.
    """

    id: str
    owner: str
    role: str
    code: str
    calls: tuple[PlannedCall, ...]
    reads: tuple[PlannedCall, ...]
    digest: str
    environment: Mapping[str, str]
    inputs: Mapping[str, Any] = field(default_factory=dict)
    created_us: int = 0
    verdict: PlanVerdict | Literal[""] = ""
    by: str = ""
    note: str = ""
    decided_us: int = 0
    execution: str = ""
    expires_us: int = 0

    @property
    def program_sha256(self) -> str:
        """The SHA-256 of the program, in hexadecimal digits."""
        return hashlib.sha256(self.code.encode("utf-8", "surrogatepass")).hexdigest()

    def status(self, now_us: int) -> PlanStatus:
        """Return the status at a time."""
        if self.execution:
            return "used"
        if self.verdict == "rejected":
            return "rejected"
        return "expired" if has_passed(self.expires_us, now_us) else self.verdict or "pending"

    def content(self) -> dict[str, Any]:
        """Return what is fixed when the plan is made, as JSON data."""
        return {
            "role": self.role,
            "code": self.code,
            "calls": [json_of(call) for call in self.calls],
            "reads": [json_of(call) for call in self.reads],
            "digest": self.digest,
            "environment": dict(self.environment),
            "inputs": dict(self.inputs),
        }

    def to_json(self, now_us: int) -> dict[str, Any]:
        """Return the plan as JSON data, the form used by every face."""
        return {
            "id": self.id,
            "status": self.status(now_us),
            "owner": self.owner,
            "role": self.role,
            "code": self.code,
            "program_sha256": self.program_sha256,
            "inputs": dict(self.inputs),
            "calls": [json_of(call) for call in self.calls],
            "digest": self.digest,
            "created": rfc3339(self.created_us),
            "expires": rfc3339(self.expires_us),
            "by": self.by,
            "note": self.note,
            "decided": rfc3339(self.decided_us) if self.decided_us else None,
            "execution": self.execution,
        }

    def approved(self) -> dict[str, Any]:
        """Return what an execution needs to run under the plan, as JSON data. See `ApprovedPlan`."""
        content = self.content()
        fixed = {"id": self.id, "by": self.by, "expires_us": self.expires_us}
        return {**fixed, "calls": content["calls"], "reads": content["reads"]}


@dataclass(frozen=True, slots=True)
class ApprovedPlan:
    """A plan as recorded with the execution that runs under it. `by` is the id of the approver's key.

    From `expires_us` on, the plan covers no further call.
    """

    id: str
    by: str
    calls: tuple[PlannedCall, ...]
    reads: tuple[PlannedCall, ...]
    expires_us: int

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Return the plan stored as JSON data."""
        calls, reads = (tuple(record_of(PlannedCall, call) for call in data[name]) for name in ("calls", "reads"))
        return cls(data["id"], data["by"], calls, reads, data.get("expires_us", 0))
