"""The response bodies of the HTTP API, as its OpenAPI document describes them.

Routes send their data without passing it through these models: validating a large result again would take longer than
encoding it. `tests/integration/codemode/serving/http/test_interface.py` compares them with real answers.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field

import sandbox as records
from codemode.catalog.tool import Effect  # noqa: TC001 -- pydantic reads these at run time
from codemode.executions.types import planned, rollback
from codemode.executions.types.ledger import LedgerEntry
from codemode.executions.types.outcome import ExecutionOutcome
from codemode.executions.types.records import ExecutionStatus  # noqa: TC001
from codemode.serving.http.approval_models import Approval  # noqa: TC001
from codemode.serving.http.record_models import Time, of_record


class Mistake(BaseModel):
    """One mistake in a request: its place and what is wrong there."""

    at: str = Field(examples=["body.code"])
    message: str


class Problem(BaseModel):
    """An error (RFC 9457). `code` is stable, and `type` links to its explanation."""

    type: str = Field(json_schema_extra={"format": "uri"})
    title: str
    status: int
    detail: str = Field(description="What was wrong, where, and what to do next.")
    code: str = Field(examples=["tool_not_found"])
    nearest: list[str] = Field(default=[], description="Valid names close to an unknown one.")
    errors: list[Mistake] = Field(default=[], description="Every mistake in the request.")
    retry_after_s: int | None = Field(default=None, description="Seconds after which to try again.")


class Index(BaseModel):
    """The addresses of this server."""

    name: str
    version: str
    docs: str
    openapi: str
    mcp: str
    console: str | None = None
    health: dict[str, str]
    errors: str


class Health(BaseModel):
    """The process responds. `tools` is the number of tools of the caller, if there is one."""

    status: Literal["ok"]
    tools: int | None = None


class Readiness(BaseModel):
    """The server accepts requests. `degraded`: a source failed, the journal is not writable, or keys are unchecked."""

    status: Literal["ok", "degraded"]
    sources_failed: int = 0
    journal: str = ""
    keys: str = ""


class ToolSummary(BaseModel):
    """A tool in a list."""

    id: str = Field(examples=["gym.clients.get_client"])
    source: str
    summary: str
    effect: Effect
    tags: list[str]
    signature: str = Field(description="One line of Python.")


class ToolDetails(ToolSummary):
    """A tool with everything that a program needs to call it."""

    description: str
    aliases: list[str]
    documentation: str


class ToolList(BaseModel):
    """One page of tools, and the number of all tools."""

    tools: list[ToolSummary]
    total: int
    offset: int


class SourceState(BaseModel):
    """A source. A `stale` one has the tools of its last known state, an `unavailable` one has none."""

    name: str
    state: Literal["ready", "stale", "unavailable"]
    tools: int
    reason: str = ""


class SourceList(BaseModel):
    """The sources that the caller sees."""

    sources: list[SourceState]


class SearchHit(BaseModel):
    """A tool that matches a query."""

    id: str
    summary: str
    namespace: str
    effect: Effect
    score: float
    matched: list[str]
    query: int = Field(description="The position of the query among those asked.")


class SearchResults(BaseModel):
    """One page of hits, best first; `text` is the same for a model. All hits of `unsure` queries may be wrong."""

    text: str
    hits: list[SearchHit]
    total: int
    unsure: list[str]
    note: str


class Definitions(BaseModel):
    """The tools of a mode, in the form of a model's API."""

    mode: str
    tools: list[dict[str, Any]]


class CategoryReason(BaseModel):
    """Why a category is offered."""

    category: str
    kind: str
    score: float


class OfferedTool(CategoryReason):
    """A tool in a menu, and why it is there."""

    id: str
    name: str
    why: str


class MenuCost(BaseModel):
    """The size of the menu and of all tools: definitions, JSON bytes, and estimated tokens."""

    tools: int
    bytes: int
    tokens: int
    all_tools: int
    all_bytes: int
    all_tokens: int


class MetaToolAnswer(BaseModel):
    """The answer to a model's call of a meta-tool."""

    id: str
    name: str
    text: str
    loaded: list[str]


class Menu(BaseModel):
    """Tools for a model that cannot write code. `tools` are chat completion definitions."""

    tools: list[dict[str, Any]]
    summary: str
    prompt: str
    activated: list[CategoryReason]
    related: list[str]
    offered: list[OfferedTool]
    cut: list[str]
    notes: list[str]
    cost: MenuCost
    answers: list[MetaToolAnswer | None]


@of_record(records.Refusal)
class Refusal(BaseModel):
    """Why a program was not run: where, what is wrong, and what to write instead."""


@of_record(records.Failure)
class Failure(BaseModel):
    """Why a program did not complete. `line` counts from 1."""


@of_record(records.Usage)
class Usage(BaseModel):
    """What an execution used: seconds, bytes and counts."""


@of_record(LedgerEntry)
class Call(BaseModel):
    """One call of a program. `start_s` and `duration_s` are seconds since the start of the execution."""

    effect: Effect | Literal[""]


@of_record(planned.PlannedCall)
class PlannedCall(BaseModel):
    """A write, or a call that needs a person, in a dry run. Nothing was sent."""

    effect: Effect


@of_record(ExecutionOutcome)
class Outcome(BaseModel):
    """How an execution ended. A `paused` one has not ended: `pending` lists the calls that need a decision.

    A dry run lists in `planned` the calls that it did not make. `plan` is the id of the plan that this list became, or
    that the program ran under.
    """


class SealedContinuation(BaseModel):
    """A continuation that holds decisions. It takes the place of the one that was sent."""

    continuation: str


class WholeResult(BaseModel):
    """The result of a program."""

    value: Any


class ContentReference(BaseModel):
    """The JSON that stands for an image or file in programs, results and `inputs`. `name` is absent without a name."""

    id: str = Field(alias="$content", examples=["c_5f2b0c6f1e0d4b7a9c3d2e1f00112233"])
    media_type: str = Field(examples=["image/png"])
    name: str = ""
    size_bytes: int


class AcceptedExecution(BaseModel):
    """An execution that continues in the background."""

    id: str
    status: ExecutionStatus


class ExecutionSummary(BaseModel):
    """An execution in a list."""

    id: str
    status: ExecutionStatus
    owner: str
    role: str
    started: Time
    updated: Time
    ended: Time | None
    resume_from: str
    credentials: list[str]
    damage: str


class ExecutionList(BaseModel):
    """One page of executions, newest first."""

    executions: list[ExecutionSummary]


class Execution(ExecutionSummary):
    """An execution with its program, its outcome once there is one, and its pending calls."""

    code: str
    outcome: Outcome | None
    pending: list[Approval]


@of_record(rollback.Step)
class RollbackStep(BaseModel):
    """The inverse of one call."""


@of_record(rollback.Left)
class RollbackRest(BaseModel):
    """A call that is not undone, and why."""


class Rollback(BaseModel):
    """The calls that were undone, and those left. `execution` is the rollback's own execution, "" if there is none."""

    steps: list[RollbackStep]
    left: list[RollbackRest]
    execution: str
    status: ExecutionStatus | Literal["nothing_to_undo"]
    outcome: Outcome | None
