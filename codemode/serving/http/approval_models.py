"""The response bodies of `/v1/approvals`, see `codemode.serving.http.models`."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from codemode.catalog.tool import Effect  # noqa: TC001 -- pydantic reads these at run time
from codemode.executions.types import card
from codemode.executions.types.records import ExecutionStatus, PendingCall
from codemode.serving.http.record_models import Time, of_record


@of_record(PendingCall)
class Approval(BaseModel):
    """A call that waits for a person, or was decided. A decision must repeat `digest`."""

    effect: Effect | Literal[""]


@of_record(card.Requester)
class Requester(BaseModel):
    """The caller who started an execution."""


class ApprovalSummary(Approval):
    """A call in a list: with who asks, when it expires, and how to answer."""

    requester: Requester
    expires: Time | None
    answers: dict[str, str]


@of_record(card.KnownRecord)
class KnownRecord(BaseModel):
    """A record that the execution has read: by which tool, when, and the fields that name it."""

    read: Time


@of_record(card.CardArgument)
class CardArgument(BaseModel):
    """An argument, what is known of it, and another value that a record of another argument has under its name."""


@of_record(card.CallsMade)
class CallsMade(BaseModel):
    """Calls of one tool that the program has made so far."""


@of_record(card.Change)
class Change(BaseModel):
    """An argument that differs from an earlier call."""


@of_record(card.EarlierApproval)
class EarlierApproval(BaseModel):
    """The last approved call of the same tool with the same argument names."""

    decided: Time


class ApprovalCard(ApprovalSummary):
    """What a person needs to know of a call to decide on it. `text` is the card as plain text."""

    via: str = Field(description="The interface of the decision, with the client's address; for approvers only.")
    details: list[CardArgument]
    so_far: list[CallsMade]
    twins: list[str] = Field(description="Ids of the same call of the same key in other executions.")
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
    """The calls of a continuation that wait for a person, oldest first. `note` says which servers accept it once."""

    approvals: list[Approval]
    note: str
