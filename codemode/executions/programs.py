"""Requests for executions, and the interface that carries them out."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from keyword import iskeyword
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

from codemode.errors import WrongArgument
from codemode.executions.executor import nothing
from codemode.executions.journal.base import FRESH_READS, GOOD_UNTIL, INPUTS, READ_ONLY
from codemode.executions.ledger import unwatched

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from codemode.catalog.catalog import Catalog
    from codemode.errors import CodeModeError
    from codemode.executions.execution import ExecutionOutcome
    from codemode.executions.journal.base import NewExecution
    from codemode.executions.ledger import LedgerEntry
    from codemode.executions.replay.record import Record
    from codemode.executions.replay.recording import ExecutionRecording
    from codemode.gateway.caller import Caller


class Programs(Protocol):
    """Runs programs and knows their dependencies."""

    async def settings(self, caller: Caller) -> dict[str, Any]:
        """Return what a run needs for its replay, besides the program."""
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


@dataclass(frozen=True, slots=True)
class Request:
    """A request for an execution.

    `inputs` are variables of the program, as JSON data. `key` is the caller's idempotency key, `digest` the digest of
    the request that first used it.
    """

    code: str
    credentials: Mapping[str, str] = field(default_factory=dict, repr=False)
    resume_from: str = ""
    fresh_reads: bool = False
    inputs: Mapping[str, Any] = field(default_factory=dict)
    key: str = ""
    digest: str = ""
    begun: Callable[[], None] = nothing
    watch: Callable[[LedgerEntry], None] = unwatched

    def settings(self, caller: Caller) -> dict[str, Any]:
        """Return what a replay must know of the request and its caller, as JSON data."""
        own = {FRESH_READS: self.fresh_reads, GOOD_UNTIL: caller.good_until, READ_ONLY: caller.read_only}
        return {**own, INPUTS: dict(self.inputs)} if self.inputs else own


def request_digest(
    code: str, resume_from: str, *, fresh_reads: bool, inputs: Mapping[str, Any] = MappingProxyType({})
) -> str:
    """Return the digest that tells a repeated request from a different one with the same idempotency key."""
    given = [code, resume_from, fresh_reads, *([dict(inputs)] if inputs else [])]
    return hashlib.sha256(json.dumps(given, sort_keys=True).encode()).hexdigest()


def require_inputs(inputs: Mapping[str, Any]) -> None:
    """Raise WrongArgument if the names of inputs are no variables, or the values are not JSON data."""
    for name in inputs:
        if not name.isidentifier() or iskeyword(name) or name.startswith("_"):
            message = f"inputs: {name!r} is no name of a variable; expected one such as 'photo'"
            raise WrongArgument(message)
    try:
        json.dumps(dict(inputs), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        message = f"inputs: the values must be JSON data: {error}; pass files by the references of keep_content"
        raise WrongArgument(message) from None
