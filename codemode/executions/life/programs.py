"""Requests for executions, and the interface that carries them out."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field, replace
from enum import Enum
from keyword import iskeyword
from typing import TYPE_CHECKING, Any, Protocol

from codemode.errors import WrongArgument
from codemode.executions.types.conversation import conversation_key
from codemode.executions.types.ids import may_be_plan
from codemode.executions.types.records import (
    CONVERSATION,
    FRESH_READS,
    GOOD_UNTIL,
    HAD_SECRETS,
    INPUTS,
    LABEL,
    READ_ONLY,
)
from codemode.shared.callbacks import ignore
from codemode.transports.redaction import Redactor
from sandbox import check_inputs, is_blank

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from codemode.catalog.catalog import Catalog
    from codemode.errors import CodeModeError
    from codemode.executions.run.replay.recording import ExecutionRecording
    from codemode.executions.types.ledger import LedgerEntry
    from codemode.executions.types.outcome import ExecutionOutcome
    from codemode.executions.types.record import Record
    from codemode.executions.types.records import NewExecution, PendingCall
    from codemode.gateway.caller import Caller


class Programs(Protocol):
    """Runs programs and knows their dependencies."""

    def role_of(self, given: NewExecution) -> str | None:
        """Return the current role of an execution's owner, None if the owner has none."""
        ...

    async def settings(self, caller: Caller, own: Mapping[str, Any]) -> dict[str, Any]:
        """Return what a run needs for its replay, besides the program and its `own_settings`."""
        ...

    def environment(self, digest: Callable[[Any], str]) -> Mapping[str, str]:
        """Return versions, locations and digests that apply to every program now. `digest` is the journal's."""
        ...

    async def catalog(self, caller: Caller) -> Catalog:
        """Return the tools available to a caller."""
        ...

    async def changes(
        self, recorded: NewExecution, record: Record, role: str | None, digest: Callable[[Any], str]
    ) -> tuple[str, ...]:
        """Return what has changed since the execution was recorded.

        `role` is the owner's current role, None if the owner has none.
        """
        ...

    def moved(self, recorded: NewExecution, digest: Callable[[Any], str]) -> tuple[str, ...]:
        """Return the sources whose calls now go to another location than when the execution was recorded."""
        ...

    def decided(self, call: PendingCall) -> None:
        """Notify the observers of a person's decision."""
        ...

    async def run_unrecorded(self, request: Request, caller: Caller, why: CodeModeError) -> ExecutionOutcome:
        """Run a program that cannot be recorded, for the reason `why`. It may only read, and its outcome says so.

        Raises `sandbox.SandboxError` if no program can run.
        """
        ...

    async def perform(
        self,
        caller: Caller,
        recording: ExecutionRecording,
        *,
        begun: Callable[[], None],
        watch: Callable[[LedgerEntry], None],
    ) -> ExecutionOutcome:
        """Run and record a program. Raises `sandbox.SandboxError` if no program can run."""
        ...


class Purpose(Enum):
    """What a request asks for.

    A program alone runs, or runs dry. `resume_from` alone continues an earlier execution, or with a dry run returns its
    state. Both together repair it. The id of an approved plan runs the plan.
    """

    RUN = "run"
    DRY_RUN = "dry_run"
    REPAIR = "repair"
    PLAN = "plan"
    CONTINUE = "continue"
    STATE = "state"


@dataclass(frozen=True, slots=True)
class Request:
    """A request for an execution.

    `inputs` are variables of the program, as JSON data. `plan` is the id of an approved plan. `conversation` is the id
    of the conversation whose state the program shares, "" for none. `key` is the caller's idempotency key. `digest` is
    the digest of the request that first used the key. `started` receives the id of the execution once it has one.
    `had_secrets`: see `without_secrets`.
    """

    code: str
    credentials: Mapping[str, str] = field(default_factory=dict, repr=False)
    resume_from: str = ""
    fresh_reads: bool = False
    inputs: Mapping[str, Any] = field(default_factory=dict)
    plan: str = ""
    key: str = ""
    digest: str = ""
    conversation: str = field(default="", repr=False)
    begun: Callable[[], None] = ignore
    started: Callable[[str], None] = ignore
    watch: Callable[[LedgerEntry], None] = ignore
    had_secrets: bool = False

    def without_secrets(self, caller: Caller) -> Request:
        """Return the request with the caller's own secrets redacted, because it is recorded and enters the sandbox."""
        redactor = Redactor(secret for secret in (*caller.secrets, *self.credentials.values()) if secret)
        code, inputs = redactor.data(self.code), redactor.data(dict(self.inputs))
        if code == self.code and inputs == self.inputs:
            return self
        return replace(self, code=code, inputs=inputs, had_secrets=True)

    def settings(self, caller: Caller) -> dict[str, Any]:
        """Return what a replay must know of the request and its caller, as JSON data."""
        own: dict[str, Any] = {
            FRESH_READS: self.fresh_reads,
            GOOD_UNTIL: caller.good_until,
            READ_ONLY: caller.read_only,
        }
        given = {LABEL: caller.label, INPUTS: dict(self.inputs), HAD_SECRETS: self.had_secrets}
        return own | {name: value for name, value in given.items() if value}

    @property
    def needs_journal(self) -> bool:
        """Whether the request refers to something recorded."""
        return bool(self.resume_from or self.plan or self.key)

    def purpose(self, *, dry_run: bool) -> Purpose:
        """Return what the request asks for. Raises WrongArgument if it asks for nothing, or for two things at once."""
        has_code = not is_blank(self.code)
        plan = self.plan or (self.resume_from if may_be_plan(self.resume_from) else "")
        if self.plan and self.resume_from:
            raise WrongArgument("plan and resume_from exclude each other: leave one of them out")
        if dry_run and (plan or (self.resume_from and has_code)):
            name = "resume_from" if self.resume_from else "plan"
            message = f"dry_run and {name} exclude each other: leave one of them out"
            raise WrongArgument(message)
        if plan:
            return Purpose.PLAN
        if self.resume_from:
            return Purpose.STATE if dry_run else Purpose.REPAIR if has_code else Purpose.CONTINUE
        if not has_code:
            raise WrongArgument("give code, a Python program")
        return Purpose.DRY_RUN if dry_run else Purpose.RUN

    def digested(self) -> Request:
        """Return the request with the digest that tells it from others with the same idempotency key."""
        if self.digest:
            return self
        given = [self.code, self.resume_from, self.fresh_reads, *([dict(self.inputs)] if self.inputs else [])]
        given += [each for each in (self.conversation, self.plan) if each]
        return replace(self, digest=hashlib.sha256(json.dumps(given, sort_keys=True).encode()).hexdigest())


def twin_digest(request: Request, caller: Caller) -> str:
    """Return the digest by which a request without a key is the same as an earlier one of the caller.

    Return "" for a request with credentials of the caller: the journal does not know them, so it is like no other.
    """
    if request.credentials:
        return ""
    same = [request.digested().digest, caller.role, caller.read_only]
    return hashlib.sha256(json.dumps(same).encode()).hexdigest()


def require_inputs(inputs: Mapping[str, Any]) -> None:
    """Raise WrongArgument if the names of inputs are no variables, or the values are not JSON data."""
    for name in inputs:
        if not name.isidentifier() or iskeyword(name) or name.startswith("_"):
            message = f"inputs: {name!r} is no name of a variable; expected one such as 'photo'"
            raise WrongArgument(message)
    try:
        check_inputs(inputs)
    except (TypeError, ValueError, RecursionError) as error:
        message = f"inputs: the values must be JSON data: {error}; pass files by the references of keep_content"
        raise WrongArgument(message) from None


def own_settings(request: Request, caller: Caller, digest: Callable[[Any], str]) -> dict[str, Any]:
    """Return what a request and its caller add to the recorded settings. `digest` is the journal's.

    Raises WrongArgument for an invalid conversation.
    """
    own = request.settings(caller)
    conversation = conversation_key(request.conversation, caller.id, digest)
    return {**own, CONVERSATION: conversation} if conversation else own
