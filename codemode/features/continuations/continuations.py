"""Executions without a journal: each has its own in memory, which a paused execution's caller keeps, sealed.

The rules are those of the journal: the same replay, the same approvers, the same checks for what has changed. Two
things are weaker. A continuation is used once by servers that share a state folder; one elsewhere does not know. And
if the process dies while a program runs, nobody knows which of its calls were made since the last pause.
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, Self

from codemode.executions.journal.sqlite.memory import MemoryJournal
from codemode.executions.life.executions import Executions
from codemode.executions.types.outcome import ExecutionOutcome
from codemode.features.continuations.errors import ContinuationInvalid
from codemode.features.continuations.used import Used
from codemode.features.feature import FeaturePart
from sandbox import Failure

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence

    from codemode.executions.life.programs import Programs, Request
    from codemode.executions.types.records import Decision, PendingCall
    from codemode.features.continuations.seal import Sealer, SealingKey
    from codemode.features.feature import Core
    from codemode.gateway.caller import Caller
    from codemode.settings import JournalSettings

#: Longest time of one run, in seconds. The limits of the program end it long before.
_RUN_S = 2 * 3600.0

#: What a person who decides must know.
USED_ONCE = (
    "this continuation is accepted once, by servers that share this server's state folder; a server with another state"
    " folder and the same key would make the calls again"
)


class Continuations(FeaturePart):
    """Starts programs, and continues those that paused. `approvers` returns the roles that decide on pending calls."""

    absent: ClassVar[str] = "continuations need a key: set `continuations.key` in the configuration"

    def __init__(
        self,
        sealer: Sealer,
        programs: Programs,
        settings: JournalSettings,
        project: str,
        approvers: Callable[[], Collection[str]],
        used: Used,
    ) -> None:
        self._sealer = sealer
        self._programs = programs
        self._settings = settings
        self._project = project
        self._approvers = approvers
        self._used = used
        self._empty = b""

    @classmethod
    def of(cls, core: Core) -> Self | None:
        """See `FeaturePart`."""
        wanted = core.settings.continuations
        if wanted is None:
            return None
        from codemode.features.continuations.seal import Sealer, SealingKey

        settings = core.settings
        keys = [SealingKey(core.secrets.text(one)) for one in (wanted.key, *wanted.old_keys)]
        sealer = Sealer(keys, settings.project, expires_s=wanted.expires_s, limit_bytes=wanted.limit_bytes)
        return cls(sealer, core.runner, settings.journal, settings.project, core.approvers, Used(core.store))

    async def run(self, request: Request, caller: Caller) -> ExecutionOutcome:
        """See `Part`. The program shares no state, which a continuation does not carry."""
        return await self.start(replace(request, conversation=""), caller)

    async def start(self, request: Request, caller: Caller) -> ExecutionOutcome:
        """Run a program to its end or its first pause. A paused outcome carries its `continuation`."""
        async with self._executions(self._sealer.key, await self._new()) as (journal, executions):
            outcome = await executions.execute(request, caller)
            return self._carrying(outcome, journal, self._sealer.key)

    async def pending(self, continuation: str, caller: Caller) -> tuple[PendingCall, ...]:
        """Return the calls that wait for a decision. The continuation stays usable.

        Raises ContinuationInvalid, and ExecutionNotFound if the caller is neither the owner nor an approver.
        """
        opened = self._sealer.open(continuation)
        async with self._executions(opened.key, opened.image) as (_, executions):
            return await executions.approvals(caller, opened.execution)

    async def decide(self, continuation: str, decisions: Sequence[Decision], caller: Caller) -> str:
        """Record decisions of `caller`, all or none. Return the continuation that holds them and takes the place.

        Raises ContinuationInvalid, ExecutionNotFound, and ApprovalRefused or ApprovalForbidden as
        `Executions.decide` does.
        """
        opened = self._sealer.open(continuation)
        await self._used.take(opened)
        try:
            async with self._executions(opened.key, opened.image) as (journal, executions):
                await executions.decide(decisions, caller)
                return self._sealer.seal(opened.execution, journal.image(), opened.key, expires=opened.expires)
        except BaseException:
            await self._used.give_back(opened)
            raise

    async def execute(
        self,
        continuation: str,
        caller: Caller,
        *,
        decisions: Sequence[Decision] = (),
        credentials: Mapping[str, str] = MappingProxyType({}),
    ) -> ExecutionOutcome:
        """Continue a program to its end or its next pause, after recording `decisions` of the caller.

        Raises ContinuationInvalid, and the errors of `Executions.decide` and `Executions.resume`. After an error the
        continuation stays usable, as nothing was run.
        """
        opened = self._sealer.open(continuation)
        await self._used.take(opened)
        async with self._executions(opened.key, opened.image) as (journal, executions):
            try:
                if decisions:
                    await executions.decide(decisions, caller)
                await executions.resume(opened.execution, caller, credentials)
            except BaseException:
                await self._used.give_back(opened)
                raise
            stored = await executions.wait(opened.execution, caller, _RUN_S)
            return self._carrying(ExecutionOutcome.of_stored(stored), journal, opened.key)

    async def _new(self) -> bytes:
        """Return an empty journal. Its tables are created once, as this takes milliseconds."""
        if not self._empty:
            journal = MemoryJournal(self._sealer.key.digests, project=self._project)
            await journal.open()
            self._empty = journal.image()
            await journal.aclose()
        return self._empty

    @asynccontextmanager
    async def _executions(self, key: SealingKey, image: bytes) -> AsyncIterator[tuple[MemoryJournal, Executions]]:
        """Yield the executions of a journal in memory. Leaving ends those that still run."""
        expire_s = self._settings.expire_s
        journal = MemoryJournal(key.digests, project=self._project, image=image, expire_s=expire_s)
        executions = Executions(journal, self._programs, self._settings, self._approvers)
        executions.role_of = self._programs.role_of
        await executions.open()
        try:
            yield journal, executions
        finally:
            await executions.aclose()

    def _carrying(self, outcome: ExecutionOutcome, journal: MemoryJournal, key: SealingKey) -> ExecutionOutcome:
        """Return a paused outcome with its continuation, or as failed if that is too large."""
        if outcome.status != "paused":
            return outcome
        try:
            sealed = self._sealer.seal(outcome.id, journal.image(), key)
            return replace(outcome, continuation=sealed, notes=(*outcome.notes, USED_ONCE))
        except ContinuationInvalid as error:
            hint = "calls that the ledger shows as committed took effect; the pending calls were not sent"
            failure = Failure("ContinuationTooLarge", str(error), hint=hint)
            return replace(outcome, status="failed", failure=failure, pending=())
