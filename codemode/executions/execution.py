"""The outcome of an execution: one program run against one catalog."""

from __future__ import annotations

import json
import reprlib
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Self

from codemode.errors import ExecutionFailed
from codemode.executions.journal.records import PendingCall
from codemode.executions.ledger import LedgerEntry
from codemode.executions.planned import PlannedCall
from codemode.executions.waterfall import outcome_html
from codemode.gateway.call import CallState
from codemode.text.counted import counted
from sandbox import Failure, JsonText, Refusal, Usage, value_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codemode.executions.journal.records import ExecutionStatus


@dataclass(frozen=True, slots=True, repr=False)
class ExecutionOutcome:
    """How an execution ended: the fields of `sandbox.Outcome`, and the ledger in `calls`.

    A `paused` execution has not ended. `pending` lists the calls that need a decision, by id and with a reason. Without
    a journal, `continuation` continues it. After a dry run, `planned` lists the calls that were not sent. `plan` is the
    id of the plan that this list became, or that the program ran under.
    """

    id: str
    status: ExecutionStatus
    result: Any
    has_value: bool
    output: str
    output_truncated: bool
    failure: Failure | None
    calls: tuple[LedgerEntry, ...]
    usage: Usage
    isolation: tuple[str, ...]
    limit: str | None
    notes: tuple[str, ...]
    pending: tuple[PendingCall, ...] = ()
    planned: tuple[PlannedCall, ...] = ()
    plan: str = ""
    continuation: str = ""

    @property
    def value(self) -> Any:
        """The result as JSON data. Decoding a large result takes time, see `sandbox.JsonText`."""
        return value_of(self.result)

    @property
    def ok(self) -> bool:
        """Whether the program completed."""
        return self.status == "completed"

    def raise_for_status(self) -> Self:
        """Return the outcome of a completed program. Raises ExecutionFailed for any other."""
        if self.ok:
            return self
        if self.pending:
            waiting = counted(len(self.pending), "call")
            why = f"{waiting} pending, for a person to decide: {', '.join(call.id for call in self.pending)}"
        else:
            why = self.failure.message if self.failure is not None else "see the outcome"
        message = f"the program did not complete ({self.status}): {why}"
        raise ExecutionFailed(message, execution=self.id, outcome=self)

    def __repr__(self) -> str:
        shown = f" value={reprlib.repr(self.value)}" if self.has_value and not isinstance(self.result, JsonText) else ""
        failure = f" {self.failure.type}: {self.failure.message!r}" if self.failure is not None else ""
        return f"<ExecutionOutcome {self.id} {self.status}{shown}{failure} calls={len(self.calls)}>"

    def _repr_html_(self) -> str:
        failure = f"{self.failure.type}: {self.failure.message}" if self.failure is not None else ""
        value = json.dumps(self.value, indent=1, ensure_ascii=False) if self.has_value else ""
        title = f"{self.status}: {counted(len(self.calls), 'call')}, {self.usage.wall_s:.2f} s"
        return outcome_html(title, (value, failure, self.output), self.calls)

    def to_json(self) -> dict[str, Any]:
        """Return the outcome as JSON data, the form used by every face. A large value stays a `sandbox.JsonText`."""
        fields = _fields_of(self)
        return {
            **{("value" if name == "result" else name): value for name, value in fields.items()},
            "status": str(self.status),
            "failure": asdict(self.failure) if self.failure is not None else None,
            "usage": _fields_of(self.usage),
            "calls": tuple(call._asdict() for call in self.calls),
            "pending": tuple(call.to_json() for call in self.pending),
            "planned": tuple(_fields_of(call) for call in self.planned),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> ExecutionOutcome:
        """Return the outcome stored as JSON data. Absent fields are empty."""
        failure = data.get("failure")
        return cls(
            id=data["id"],
            status=data["status"],
            result=data.get("value"),
            has_value=data.get("has_value", False),
            output=data.get("output", ""),
            output_truncated=data.get("output_truncated", False),
            failure=failure and Failure(**{**failure, "refusals": tuple(Refusal(**r) for r in failure["refusals"])}),
            calls=tuple(LedgerEntry(**{**call, "state": CallState(call["state"])}) for call in data.get("calls", ())),
            usage=Usage(**data.get("usage", {})),
            isolation=tuple(data.get("isolation", ())),
            limit=data.get("limit"),
            notes=tuple(data.get("notes", ())),
            pending=tuple(PendingCall.from_json(call) for call in data.get("pending", ())),
            planned=tuple(PlannedCall(**call) for call in data.get("planned", ())),
            plan=data.get("plan", ""),
            continuation=data.get("continuation", ""),
        )


def unasked(outcome: Any) -> Any:
    """Return the JSON outcome of a paused execution that has since ended: without pending calls."""
    if not outcome or not outcome.get("pending"):
        return outcome
    calls = [{**call, "state": _UNASKED.get(call["state"], call["state"]), "question": ""} for call in outcome["calls"]]
    return {**outcome, "calls": calls, "pending": []}


_UNASKED = {CallState.PENDING: CallState.NOT_STARTED}


def _fields_of(record: ExecutionOutcome | PlannedCall | Usage) -> dict[str, Any]:
    """Return the fields uncopied. `asdict` copies each value, which can take longer than the call itself."""
    return {name: getattr(record, name) for name in record.__slots__}
