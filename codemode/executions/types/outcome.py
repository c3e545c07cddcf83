"""The outcome of an execution: one program run against one catalog."""

from __future__ import annotations

import json
import reprlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from codemode.errors import ExecutionFailed
from codemode.executions.types.json_form import json_of, record_of
from codemode.executions.types.ledger import LedgerEntry  # noqa: TC001
from codemode.executions.types.outcome_lines import failure_text, question_line
from codemode.executions.types.planned import PlannedCall  # noqa: TC001
from codemode.executions.types.records import ExecutionStatus, PendingCall  # noqa: TC001 -- `json_form` reads them
from codemode.executions.types.waterfall import outcome_html
from codemode.gateway.call import CallState
from codemode.text.counted import counted
from sandbox import Failure, JsonText, Usage, value_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codemode.executions.types.records import StoredExecution

#: The failure of a program that was cancelled.
CANCELLED = Failure("Cancelled", "the execution was cancelled")

_UNUSED = Usage()


@dataclass(frozen=True, slots=True, repr=False)
class ExecutionOutcome:
    """How an execution ended: the fields of `sandbox.Outcome`, and the ledger in `calls`.

    - `result`: the result of the program; null without one (see `has_value`). Its name in JSON is `value`.
    - `pending`: the calls of a `paused` execution that need a decision. It has not ended.
    - `planned`: the calls that a dry run did not send.
    - `plan`: the id of the plan that `planned` became, or that the program ran under.
    - `continuation`: without a journal, continues a paused execution; else empty.
    """

    JSON_NAMES: ClassVar = {"result": "value"}

    id: str
    status: ExecutionStatus
    result: Any = None
    has_value: bool = False
    output: str = ""
    output_truncated: bool = False
    failure: Failure | None = None
    calls: tuple[LedgerEntry, ...] = ()
    usage: Usage = _UNUSED
    isolation: tuple[str, ...] = ()
    limit: str | None = None
    notes: tuple[str, ...] = ()
    pending: tuple[PendingCall, ...] = ()
    planned: tuple[PlannedCall, ...] = ()
    plan: str = ""
    continuation: str = ""

    @classmethod
    def cancelled(cls, id_: str, calls: tuple[LedgerEntry, ...] = ()) -> Self:
        """Return the outcome of an execution that was cancelled after these calls."""
        return cls(id_, "cancelled", failure=CANCELLED, calls=calls, usage=Usage(calls=len(calls)))

    @classmethod
    def of_stored(cls, stored: StoredExecution) -> Self:
        """Return the outcome of a stored execution. Parts that have not been recorded yet are empty."""
        return cls.from_json({**(stored.outcome or {}), "id": stored.request.id, "status": stored.status})

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

    def sections(self, value: str) -> list[tuple[str, str]]:
        """Return the titles and texts of an outcome without its ledger, for a page. Empty ones are left out.

        `value` is the result as text, which pages shorten as they have room.
        """
        sections = (
            ("Result", value),
            ("Failure", failure_text(self.failure)),
            ("Waits for a decision", "\n".join(map(question_line, self.pending))),
            ("Planned, not sent", "\n".join(map(str, self.planned))),
            ("Plan", self.plan),
            ("Output", self.output.rstrip("\n")),
            ("Notes", "\n".join(self.notes)),
        )
        return [(title, text) for title, text in sections if text]

    def _repr_html_(self) -> str:
        value = json.dumps(self.value, indent=1, ensure_ascii=False) if self.has_value else ""
        title = f"{self.status}: {counted(len(self.calls), 'call')}, {self.usage.wall_s:.2f} s"
        return outcome_html(title, self.sections(value), self.calls)

    def to_json(self) -> dict[str, Any]:
        """Return the outcome as JSON data, the form used by every face. A large value stays a `sandbox.JsonText`."""
        return json_of(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Return the outcome stored as JSON data. Absent fields are empty."""
        return record_of(cls, data)


def unasked(outcome: Any) -> Any:
    """Return the JSON outcome of a paused execution that has since ended: without pending calls."""
    if not outcome or not outcome.get("pending"):
        return outcome
    calls = [{**call, "state": _UNASKED.get(call["state"], call["state"]), "question": ""} for call in outcome["calls"]]
    return {**outcome, "calls": calls, "pending": []}


_UNASKED = {CallState.PENDING: CallState.NOT_STARTED}
