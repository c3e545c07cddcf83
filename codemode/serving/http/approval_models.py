"""The response bodies of `/v1/approvals`, see `codemode.serving.http.models`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, BaseModel, Field

from codemode.catalog.tool import Effect  # noqa: TC001 -- pydantic reads these at run time
from codemode.executions.journal.records import ExecutionStatus, QuestionKind, Verdict  # noqa: TC001

#: A time in UTC with milliseconds (RFC 3339).
Time = Annotated[AwareDatetime, Field(examples=["2026-11-25T09:30:00.125Z"])]


class Approval(BaseModel):
    """A call that waits for a person, or was decided. A decision must repeat `digest`."""

    id: str
    execution: str
    path: str
    tool: str
    arguments: dict[str, Any]
    digest: str
    reason: str
    kind: QuestionKind
    host: str
    asked: Time | None
    verdict: Verdict | None
    by: str
    note: str
    value: Any
    decided: Time | None
    damage: str
    asks: dict[str, Any] | None = Field(description="The question of a service, for the kind `input`.")
    summary: str = Field(description="What the tool does, in the words of its source.")
    effect: Effect | Literal[""]
    operation: str = Field(description="The operation in its source: `POST /salaries/{salaryId}/pay`.")
    up_to: int = Field(description="The number of calls of this tool that the decision approves; 0: this one.")
    grant: str = Field(description="The approval whose `up_to` approved this call, or empty.")


class Requester(BaseModel):
    """The caller who started an execution."""

    id: str
    label: str
    role: str


class ApprovalSummary(Approval):
    """A call in a list: with who asks, when it expires, and how to answer."""

    requester: Requester
    expires: Time | None
    answers: dict[str, str]


class KnownRecord(BaseModel):
    """A record that the execution has read: by which tool, when, and the fields that name it."""

    tool: str
    path: str
    read: Time
    fields: dict[str, str | float | bool]


class CardArgument(BaseModel):
    """An argument, what is known of it, and another value that a record of another argument has under its name."""

    name: str
    value: Any
    record: KnownRecord | None
    contrast: str | float | bool | None


class CallsMade(BaseModel):
    """Calls of one tool that the program has made so far."""

    tool: str
    state: str
    count: int


class Change(BaseModel):
    """An argument that differs from an earlier call."""

    name: str
    before: Any
    now: Any


class EarlierApproval(BaseModel):
    """The last approved call of the same tool with the same argument names."""

    id: str
    execution: str
    by: str
    decided: Time
    changes: list[Change]


class ApprovalCard(ApprovalSummary):
    """What a person needs to know of a call to decide on it. `text` is the card as plain text."""

    via: str = Field(description="The interface of the decision, with the client's address; for approvers only.")
    details: list[CardArgument]
    so_far: list[CallsMade]
    earlier: EarlierApproval | None
    text: str


class ApprovalList(BaseModel):
    """Calls that wait for a person, oldest first."""

    approvals: list[ApprovalSummary]


class Continuation(BaseModel):
    """The status of an execution after a decision. `reason` says why it does not continue yet."""

    status: ExecutionStatus
    reason: str


class Decisions(BaseModel):
    """The decided calls, and the status of each of their executions by id."""

    approvals: list[Approval]
    executions: dict[str, Continuation]


class PendingCalls(BaseModel):
    """The calls of a continuation that wait for a person, oldest first."""

    approvals: list[Approval]
