"""Recorded executions: start, pause, resume, repair, cancel and read them."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from codemode.errors import (
    ConfigurationError,
    ExecutionEnded,
    ExecutionWaiting,
    JournalUnavailable,
    LeaseHeld,
    LeaseLost,
    ProgramWaiting,
)
from codemode.executions.life.access import Access
from codemode.executions.life.approvals import Approvals
from codemode.executions.life.attempts import (
    STOPPING_S,
    Attempt,
    OutcomeRecorder,
    cancel,
    crash_on_damage,
    is_cancelled,
    keep_leases,
    to_their_end,
)
from codemode.executions.life.cancellation import Cancellation
from codemode.executions.life.health import JournalHealth
from codemode.executions.life.launcher import Launcher
from codemode.executions.life.programs import Request, own_settings, twin_digest
from codemode.executions.life.recovery import Recovery
from codemode.executions.life.upkeep import Upkeep
from codemode.executions.life.visible import VisibleExecutions, refuse_changed
from codemode.executions.life.watching import Watching
from codemode.executions.run.executor import new_seed
from codemode.executions.run.replay.recording import ExecutionRecording
from codemode.executions.run.replay.reuse import Reuse
from codemode.executions.types.ids import new_execution
from codemode.executions.types.outcome import ExecutionOutcome, unasked
from codemode.executions.types.plan import PLAN
from codemode.executions.types.record import Record
from codemode.executions.types.records import (
    FRESH_READS,
    OPEN,
    PAGE,
    READ_ONLY,
    ExecutionStatus,
    JournalEntry,
    NewExecution,
)
from codemode.gateway.caller import Caller
from codemode.shared.callbacks import ignore

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Mapping, Sequence

    from codemode.executions.journal.base import Journal
    from codemode.executions.life.part import Part
    from codemode.executions.life.programs import Programs
    from codemode.executions.types.events import ExecutionEvent
    from codemode.executions.types.records import Decision, Lease, PendingCall, StoredExecution
    from codemode.settings import JournalSettings


#: Calls of one execution that wait for a person: no program has made more.
MOST_ASKED = 100_000


class Executions:
    """The executions of one journal, as callers may see them.

    `approvers` returns the roles that decide on pending calls. The key that starts an execution owns it; to every other
    key but an approver's, the execution does not exist. `digest` is the journal's keyed digest.
    """

    def __init__(
        self,
        journal: Journal,
        programs: Programs,
        settings: JournalSettings,
        approvers: Callable[[], Collection[str]],
    ) -> None:
        self._journal = journal
        self.digest = journal.digest
        self._programs = programs
        self._approvals = Approvals(journal, approvers, programs.decided)
        #: What features do for these executions.
        self.parts: Sequence[Part] = ()
        self._attempts: dict[str, Attempt] = {}
        self._ended = OutcomeRecorder(journal)
        self._visible = VisibleExecutions(journal, self._approvals, self.open)
        #: What features work on.
        self.access = Access(journal, programs, self._approvals, self._visible)
        self._watching = Watching(journal, self._attempts, self._visible.seen)
        self._upkeep = Upkeep(journal, settings, self._attempts)
        self._launcher = Launcher(journal, programs, self._ended, self._attempts)
        self._cancellation = Cancellation(journal, self._attempts, self._launcher, self._visible, self._watching)
        self._opening = asyncio.Lock()
        self._is_open = False
        #: Returns the current role of an execution's owner, None if the owner has none. Without codemode's own keys,
        #: the recorded role stays valid.
        self.role_of: Callable[[NewExecution], str | None] = lambda given: given.role
        self.health = JournalHealth(journal, self.open, self._ended.are_late)
        self.recovery = Recovery(
            journal,
            programs,
            is_here=lambda execution: execution in self._attempts or execution in self._ended,
            record=self._visible.record,
            role_of=lambda given: self.role_of(given),
            resumed=self._taken_over,
        )

    async def open(self) -> None:
        """Open the journal and start renewing leases. Every operation calls this first.

        Raises ConfigurationError, JournalUnavailable.
        """
        async with self._opening:
            if not self._is_open:
                await self._journal.open()
                self._is_open = True
                for part in self.parts:
                    part.opened()
                self._upkeep.renew(partial(keep_leases, self._journal, self._attempts, self._ended))

    async def finish(self, within_s: float) -> None:
        """Wait until the executions that run here have ended or paused, at most `within_s` seconds."""
        if self._attempts:
            await asyncio.wait([attempt.task for attempt in self._attempts.values()], timeout=within_s)

    async def aclose(self) -> None:
        """Stop running executions without recording an end, so that another server can recover them.

        Cancelled executions run to their end first.
        """
        await to_their_end(
            [*self._launcher.shielded, *(each.task for each in self._attempts.values() if each.cancelled.is_set())]
        )
        stopping = asyncio.create_task(self._stop())
        await asyncio.wait((stopping,), timeout=STOPPING_S)
        await self._journal.aclose()  # what still waits for the journal fails now
        await stopping

    async def _stop(self) -> None:
        for part in self.parts:
            await part.aclose()
        await self._upkeep.aclose()
        stopped = list(self._attempts)
        tasks = [*self._launcher.shielded, *(attempt.task for attempt in self._attempts.values())]
        await cancel(tasks)
        await self._ended.hand_over(stopped)

    # --- run ---------------------------------------------------------------------------------------------------

    async def execute(self, request: Request, caller: Caller) -> ExecutionOutcome:
        """Run a program to its end or its first pause. Cancelling this call cancels the execution.

        If the journal is unavailable, the program runs unrecorded and may only read.
        """
        try:
            execution = await self.start(request, caller)
        except JournalUnavailable as error:
            if request.resume_from or request.plan:
                raise
            return await self._programs.run_unrecorded(request, caller, error)
        except ProgramWaiting as twin:
            request.started(twin.execution)
            return await self._joined(twin, caller)
        request.started(execution)
        attempt = self._attempts[execution]
        try:
            return await asyncio.shield(attempt.task)
        except asyncio.CancelledError as given_up:
            if attempt.task.cancelled() and not is_cancelled():
                message = f"{execution} stopped here: another server has taken it over, or this server is shutting down"
                raise LeaseLost(message, execution=execution) from None
            attempt.cancelled.set()
            await asyncio.wait((attempt.task,))
            given_up.add_note(
                f"{execution} was cancelled; `codemode executions show {execution}` lists the calls that it made"
            )
            raise

    async def _joined(self, twin: ProgramWaiting, caller: Caller) -> ExecutionOutcome:
        """Return the outcome of the execution that waits with the same program, with a note."""
        stored = await self._visible.own(twin.execution, caller)
        data = {**(stored.outcome or {}), "id": twin.execution, "status": stored.status}
        outcome = ExecutionOutcome.from_json(data)
        return replace(outcome, notes=(*outcome.notes, str(twin)))

    async def start(self, request: Request, caller: Caller) -> str:
        """Start a program and return the id of its execution.

        Raises RequestRepeated, ProgramWaiting, RequestConflict; ExecutionNotFound and LeaseHeld for the execution to
        repair; what the features raise in `Part.applied`.
        """
        await self.open()
        request = request.without_secrets(caller)
        request, added = await self._applied(request.digested() if request.key else request, caller)
        record, reuse = await self._to_repair(request, caller)
        own = own_settings(request, caller, self._journal.digest)
        new = NewExecution(
            id=new_execution(),
            owner=caller.id,
            role=caller.role,
            code=request.code,
            seed=new_seed(),
            start_us=time.time_ns() // 1000,
            settings={**await self._programs.settings(caller, own), **own, **added},
            digests=self._programs.environment(self._journal.digest),
            credentials=tuple(sorted(request.credentials)),
            resume_from=record.execution if record is not None else "",
            request_key=request.key,
            request_digest=request.digest if request.key else twin_digest(request, caller),
        )
        lease = await self._launcher.create(new)
        recording = ExecutionRecording(self._journal, lease, new, Record(new.id), reuse=reuse)
        who = caller.bringing(request.credentials) if request.credentials else caller
        self._launcher.begin(recording, who, begun=request.begun, watch=request.watch)
        return new.id

    async def _applied(self, request: Request, caller: Caller) -> tuple[Request, dict[str, Any]]:
        """Return a request as the features change it, and the settings that they add. Raises ConfigurationError."""
        added: dict[str, Any] = {}
        for part in self.parts:
            request, settings = await part.applied(request, caller)
            added |= settings
        if request.plan and PLAN not in added:
            message = f"this service has no plans, so {request.plan} cannot be run"
            raise ConfigurationError(message)
        return request, added

    async def _to_repair(self, request: Request, caller: Caller) -> tuple[Record | None, Reuse | None]:
        if not request.resume_from:
            return None, None
        earlier = await self._visible.own(request.resume_from, caller)
        refuse_changed(earlier.request.id, self._programs.moved(earlier.request, self._journal.digest))
        record = await self._visible.record(earlier)
        return record, Reuse(record, fresh_reads=request.fresh_reads)

    # --- continue ----------------------------------------------------------------------------------------------

    async def resume(
        self, execution: str, caller: Caller, credentials: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        """Continue a paused execution. Its owner and approvers may do this; `wait` returns the outcome.

        Raises ExecutionNotFound, ExecutionEnded, LeaseHeld if it is running, ExecutionWaiting if it needs decisions or
        credentials, ExecutionChanged (nothing was run), JournalDamaged.
        """
        stored = await self._visible.seen(execution, caller)
        if stored.status not in OPEN:
            message = f"{execution} has ended: {stored.status}"
            raise ExecutionEnded(message, execution=execution)
        for part in self.parts:
            await part.resuming(execution)
        asked_ids = {question["id"] for question in (stored.outcome or {}).get("pending", ())}
        waiting = [one.id for one in await self._journal.waiting(execution=execution, limit=MOST_ASKED)]
        if asked_ids and asked_ids.issubset(waiting):
            message = f"{execution} waits for decisions on {', '.join(waiting)}"
            raise ExecutionWaiting(message, execution=execution)
        absent = sorted(set(stored.request.credentials) - set(credentials))
        if absent:
            message = f"{execution} needs its caller's credentials again: {', '.join(absent)}"
            raise ExecutionWaiting(message, execution=execution)
        record = await self._visible.record(stored)
        is_own = caller.id == stored.request.owner
        role = caller.role if is_own else self.role_of(stored.request)
        changed = await self._programs.changes(stored.request, record, role, self._journal.digest)
        refuse_changed(execution, changed)
        owner = caller if is_own else self.owner(stored.request)
        lease = await self._journal.claim(execution)
        async with crash_on_damage(self._journal, lease):
            if record.taken_up:  # recovery counts attempts since the last resume
                await self._journal.append(lease, (JournalEntry("resumed", data={"by": caller.id}),))
            await self._take_up(stored, lease, owner, credentials)

    def owner(self, recorded: NewExecution) -> Caller:
        """Return the owner, for an execution that someone else resumes."""
        return Caller(
            recorded.owner,
            recorded.role,
            is_authorized=lambda: self.role_of(recorded) == recorded.role,
            read_only=recorded.settings.get(READ_ONLY, False),
        )

    async def _take_up(
        self,
        stored: StoredExecution,
        lease: Lease,
        owner: Caller,
        credentials: Mapping[str, str],
        *,
        begun: Callable[[], None] = ignore,
    ) -> Attempt:
        """Run a claimed execution. Read its record again, because it may have grown before the claim."""
        execution = stored.request.id
        record = await self._visible.record(stored)
        questions = await self._journal.pending(execution=execution, unanswered=False)
        answered = {question.id: question for question in questions if question.verdict is not None}
        reuse = None
        if stored.request.resume_from:
            earlier = await self._visible.record(await self._journal.get(stored.request.resume_from))
            reuse = Reuse(earlier, fresh_reads=stored.request.settings.get(FRESH_READS, False)).without(record)
        recording = ExecutionRecording(self._journal, lease, stored.request, record, answered, reuse, is_resumed=True)
        return self._launcher.begin(recording, owner.bringing(credentials) if credentials else owner, begun=begun)

    async def recover(self) -> tuple[str, ...]:
        """Recover executions whose server has died, as far as there is capacity. Return their ids.

        An execution that cannot continue by itself is paused, with a note that gives the reason.
        """
        await self.open()
        return await self.recovery.recover()

    async def _taken_over(
        self, stored: StoredExecution, lease: Lease, begun: Callable[[], None]
    ) -> asyncio.Task[ExecutionOutcome]:
        return (await self._take_up(stored, lease, self.owner(stored.request), {}, begun=begun)).task

    async def orphans(self) -> tuple[str, ...]:
        """Return the ids of executions recorded as running whose server has ended, oldest first."""
        await self.open()
        return await self._journal.orphans()

    # --- approvals ---------------------------------------------------------------------------------------------

    async def approvals(
        self, caller: Caller, execution: str = "", *, after: str = "", limit: int = PAGE
    ) -> tuple[PendingCall, ...]:
        """Return pending calls, oldest first: of all executions to approvers, to other callers of their own.

        All whole calls of one `execution`, or a page of brief ones: `after` is the last id of the previous page.
        Raises ExecutionNotFound.
        """
        if execution:
            await self._visible.seen(execution, caller)
            return await self._journal.pending(execution=execution)
        await self.open()
        return await self._approvals.waiting(caller, after=after, limit=limit)

    async def named(self, ids: Collection[str], caller: Caller) -> tuple[PendingCall, ...]:
        """Return those of these calls that wait for a person and that the caller sees."""
        await self.open()
        calls = [call for id_ in ids for call in await self._journal.pending(question=id_)]
        if self.sees_all(caller):
            return tuple(calls)
        owned = await self._journal.heads({call.execution for call in calls})
        return tuple(call for call in calls if owned[call.execution].request.owner == caller.id)

    async def waits_for(self, execution: str, caller: Caller) -> tuple[str, ...]:
        """Return the ids of the calls of an execution that wait for a person. Raises ExecutionNotFound."""
        await self._visible.seen(execution, caller)
        return tuple(one.id for one in await self._approvals.waiting(caller, execution, limit=MOST_ASKED))

    async def decide(self, decisions: Sequence[Decision], caller: Caller) -> tuple[PendingCall, ...]:
        """Record decisions of `caller` on pending calls, all or none. `resume` then continues the executions.

        Raises ApprovalRefused if a call is not pending, was already decided, or has other arguments; ApprovalForbidden
        if the caller is no approver or started the execution.
        """
        await self.open()
        for part in self.parts:
            await part.deciding(decisions)
        decided = await self._approvals.decide(decisions, caller)
        for part in self.parts:
            await part.decided(decisions, decided, caller)
        return decided

    async def explain(self, execution: str, why: str) -> None:
        """Add a note to the outcome of a paused execution that waits for no decision, unless it has it."""
        with suppress(LeaseHeld, ExecutionEnded):  # it has continued elsewhere
            stored = await self._visible.stored(execution)
            outcome = unasked(stored.outcome) or {"id": execution}
            notes = outcome.get("notes", [])
            if stored.status != "paused" or why in notes:
                return
            lease = await self._journal.claim(execution)
            outcome = {**outcome, "status": "paused", "notes": [*notes, why], "pending": []}
            await self._journal.pause(lease, (), outcome)

    # --- read --------------------------------------------------------------------------------------------------

    def sees_all(self, caller: Caller) -> bool:
        """Return whether the caller is an approver, who sees the executions of all keys."""
        return self._approvals.are_up_to(caller)

    async def list(
        self,
        caller: Caller,
        *,
        owner: str = "",
        status: ExecutionStatus | None = None,
        limit: int = 50,
        before: str = "",
    ) -> tuple[StoredExecution, ...]:
        """Return executions without outcomes, newest first. Approvers see all, or those of one `owner`.

        Other callers see their own. Raises ExecutionNotFound if `before` is unknown.
        """
        await (self._visible.seen(before, caller) if before else self.open())
        owned_by = (owner or None) if self.sees_all(caller) else caller.id
        return await self._journal.list(owner=owned_by, status=status, limit=limit, before=before)

    async def recorded(self, ids: Collection[str]) -> Collection[str]:
        """Return those of these executions, of all keys, that the journal has. Raises JournalUnavailable."""
        await self.open()
        return (await self._journal.heads(ids)).keys()

    async def get(self, execution: str, caller: Caller) -> StoredExecution:
        """Return an execution with its outcome. Raises ExecutionNotFound, also for an execution of another key."""
        return await self._visible.seen(execution, caller)

    async def outcome(self, execution: str, caller: Caller) -> Mapping[str, Any]:
        """Return the outcome of the caller's own execution as JSON data, empty if it has none.

        Raises ExecutionNotFound, and LeaseHeld while it runs.
        """
        return (await self._visible.own(execution, caller)).outcome or {}

    async def record(self, execution: str, caller: Caller) -> Record:
        """Return the record of an execution. Raises ExecutionNotFound, JournalDamaged."""
        return await self._visible.record(await self._visible.seen(execution, caller))

    async def wait(self, execution: str, caller: Caller, timeout_s: float) -> StoredExecution:
        """Return the execution once it has ended or paused, or as it is after `timeout_s` seconds.

        Raises ExecutionNotFound, and CredentialsRevoked if the caller's access ends meanwhile.
        """
        return await self._watching.wait(execution, caller, timeout_s)

    def events(self, execution: str, caller: Caller, after: int = 0) -> AsyncIterator[ExecutionEvent]:
        """Yield events after the sequence number `after`, until the execution ends or pauses.

        Raises ExecutionNotFound, TooSlow.
        """
        return self._watching.events(execution, caller, after)

    def batches(self, execution: str, caller: Caller, after: int = 0) -> AsyncGenerator[tuple[ExecutionEvent, ...]]:
        """Yield the same events in batches that each fit into one chunk of a response."""
        return self._watching.batches(execution, caller, after)

    async def cancel(self, execution: str, caller: Caller) -> StoredExecution:
        """Cancel an execution. Its owner and approvers may do this. The outcome shows calls in flight as unknown.

        An execution on another server is cancelled by that server. If it does not answer, it can record and send
        nothing more. Raises ExecutionNotFound, ExecutionEnded.
        """
        return await self._cancellation.cancel(execution, caller)

    # --- upkeep ------------------------------------------------------------------------------------------------

    async def serve(self) -> None:
        """Recover orphaned executions now and regularly, and remove old executions.

        An unavailable journal is retried. Raises ConfigurationError.
        """
        with suppress(JournalUnavailable):  # the upkeep tasks report and retry it
            await self.open()
        self._upkeep.serve(self.recovery, self.open)
