"""The request bodies of the HTTP API."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    PrivateAttr,
    model_validator,
)

from codemode.errors import WrongArgument
from codemode.executions.life.programs import Request, require_inputs
from codemode.executions.types.conversation import EXPECTED, LONGEST_ID, is_conversation
from codemode.executions.types.plan import PlanVerdict  # noqa: TC001 -- pydantic reads it at run time
from codemode.executions.types.records import Verdict  # noqa: TC001 -- pydantic reads it at run time
from codemode.model.arguments import read_arguments
from codemode.search.request import SearchRequest as SearchArguments
from codemode.serving.web.program_requests import LONGEST_WAIT_S


def _data(value: Any) -> Any:
    """Reject values that Python's JSON parser accepts but JSON cannot carry: NaN, infinities, lone surrogates."""
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):
        raise ValueError("it is not JSON data") from None
    return value


def _variables(inputs: dict[str, Any]) -> dict[str, Any]:
    """Reject names that a program cannot use as variables."""
    try:
        require_inputs(inputs)
    except WrongArgument as error:
        raise ValueError(str(error)) from None
    return inputs


#: An id or digest of ours. The length limit also makes pydantic reject texts that are not valid Unicode.
Name = Annotated[str, Field(max_length=200)]

#: Seconds after which the answer is 202.
WaitS = Annotated[float | None, Field(ge=0, le=LONGEST_WAIT_S)]


def _conversation(text: str) -> str:
    if text and not is_conversation(text):
        raise ValueError(EXPECTED)
    return text


#: The id of a conversation. The default is none.
Conversation = Annotated[str, Field(max_length=LONGEST_ID), AfterValidator(_conversation)]


class ClientBody(BaseModel):
    """A body that is read as the arguments of a model's call are. `read_arguments` says how."""

    model_config = ConfigDict(extra="forbid")

    _notes: tuple[str, ...] = PrivateAttr(())

    @property
    def notes(self) -> tuple[str, ...]:
        """What was read differently from what was sent."""
        return self._notes

    @model_validator(mode="wrap")
    @classmethod
    def _as_meant(cls, value: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        if not isinstance(value, dict):
            return handler(value)
        arguments, notes = read_arguments(cls, value)
        body = handler(arguments)
        body._notes = notes
        return body


class SearchRequest(SearchArguments, ClientBody):
    """One query, or one for each step of a plan. Filters apply to all queries.

    `namespace` may also be a group (`github.issues`). The answer has `limit` hits, from position `offset` on. Unless
    `introduce` is false, it begins with what the APIs of the hits say about their units, times and other conventions.
    """


class ExecuteRequest(ClientBody):
    """A program in Python.

    `resume_from` with an empty `code` continues an earlier execution of the same key, or returns its outcome. With a
    program it repairs the execution: its committed calls are not repeated, and its reads with `fresh_reads` only. After
    `wait_s` seconds the answer is 202, and the program continues.

    A `dry_run` lists writes in `planned` instead of making them. It is not recorded, so it takes no `wait_s`, and
    ignores an `Idempotency-Key`. Its list becomes a plan: once approved, the program runs with an empty `code` and the
    id in `plan`. A `dry_run` with `resume_from` alone returns the state of an execution.

    Programs of this key with the same `conversation`, an id that the client chooses, share what `store(name, value)`
    keeps, and the previous result as `last`.
    """

    code: str = ""
    resume_from: Name = ""
    fresh_reads: bool = False
    inputs: Annotated[dict[str, Any], AfterValidator(_data), AfterValidator(_variables)] = Field(
        default_factory=dict, description="Variables of the program. A file is the reference from `/v1/content`."
    )
    dry_run: bool = False
    conversation: Conversation = ""
    plan: Name = ""
    wait_s: WaitS = None

    @model_validator(mode="after")
    def _one_purpose(self) -> Self:
        try:
            self.request().purpose(dry_run=self.dry_run)
        except WrongArgument as error:
            raise ValueError(str(error)) from None
        if self.dry_run and self.wait_s is not None:
            raise ValueError("dry_run and wait_s exclude each other: a dry run is not recorded")
        return self

    def request(self, **more: Any) -> Request:
        """Return the request for an execution. `more` are its other fields."""
        return Request(
            self.code,
            resume_from=self.resume_from,
            fresh_reads=self.fresh_reads,
            inputs=self.inputs,
            plan=self.plan,
            conversation=self.conversation,
            **more,
        )


class ResumeRequest(BaseModel):
    """Continue an execution. Send the caller's credentials again as headers."""

    model_config = ConfigDict(extra="forbid")

    wait_s: WaitS = None


class DecisionRequest(BaseModel):
    """A person's decision on a call. `digest` is the digest of the call as it was shown.

    The verdict on a call that waits for approval is approved or rejected. The verdict on a call with an unknown result
    is committed (with its `value`), failed, or send_again. The verdict on a question of a service is answered (with the
    content of the form as `value`) or declined.

    `up_to` approves this many calls of the same tool in this execution, this one included, whatever their arguments.
    `remember` also approves the same call with the same arguments later: in the conversation, or for an hour.
    """

    model_config = ConfigDict(extra="forbid")

    digest: Name
    verdict: Verdict
    note: str = Field(default="", max_length=2_000)
    value: Annotated[Any, AfterValidator(_data)] = None
    up_to: int = Field(default=0, ge=0, le=1_000)
    remember: Literal["", "conversation", "hour"] = ""


class ApprovalDecision(DecisionRequest):
    """One of several decisions."""

    id: Name


class DecisionsRequest(BaseModel):
    """Several decisions, all or none."""

    model_config = ConfigDict(extra="forbid")

    decisions: Annotated[list[ApprovalDecision], Field(min_length=1, max_length=100)]


class PlanDecisionRequest(BaseModel):
    """A person's decision on a plan as a whole. `digest` is the digest of the plan as it was shown."""

    model_config = ConfigDict(extra="forbid")

    digest: Name
    verdict: PlanVerdict
    note: str = Field(default="", max_length=2_000)


#: A sealed continuation. The configuration limits it further.
ContinuationText = Annotated[str, Field(min_length=1, max_length=64 * 1024 * 1024)]


class ContinuationRequest(BaseModel):
    """A sealed continuation of a paused execution."""

    model_config = ConfigDict(extra="forbid")

    continuation: ContinuationText


class ContinuationDecisionsRequest(DecisionsRequest):
    """Decisions on calls of a continuation, all or none."""

    continuation: ContinuationText


class ContinueRequest(ContinuationRequest):
    """Continue an execution, after recording the caller's decisions. Send the caller's credentials again as headers."""

    decisions: Annotated[list[ApprovalDecision], Field(max_length=100)] = []


class MenuRequest(BaseModel):
    """A message and its history, as OpenAI messages.

    With `meta_tools`, the menu includes tools by which a model asks for more tools. Send the model's calls of them in
    `calls`, together with the history. The response has one entry in `answers` for each call, in the same order.
    """

    model_config = ConfigDict(extra="forbid")

    message: str = Field(default="", max_length=100_000)
    history: list[dict[str, Any]] = Field(default_factory=list, max_length=10_000)
    summary: str = Field(default="", max_length=100_000)
    meta_tools: bool = False
    calls: list[dict[str, Any]] = Field(default_factory=list, max_length=100)
