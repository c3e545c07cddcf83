"""Executions that are recorded: begun, paused for people, taken up again, repaired, cancelled, looked at."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

from codemode.errors import (
    ExecutionEnded,
    ExecutionWaiting,
    JournalUnavailable,
    LeaseLost,
)
from codemode.executions.approvals import Approvals
from codemode.executions.attempts import (
    Attempt,
    Endings,
    is_cancelled,
    keep_leases,
    never_damaged,
    to_their_end,
)
from codemode.executions.executor import new_execution, new_seed, nothing
from codemode.executions.health import JournalHealth
from codemode.executions.journal.base import (
    FRESH_READS,
    GOOD_UNTIL,
    OPEN,
    ExecutionStatus,
    JournalEntry,
    NewExecution,
)
from codemode.executions.launcher import Launcher
from codemode.executions.programs import Request
from codemode.executions.replay.record import Record
from codemode.executions.replay.recording import ExecutionRecording
from codemode.executions.replay.recovery import Recovery
from codemode.executions.replay.reuse import Reuse
from codemode.executions.rollback import Rollback, begin_rollback, plan
from codemode.executions.upkeep import Upkeep
from codemode.executions.visible import VisibleExecutions, refuse_changed
from codemode.executions.watching import Watching
from codemode.gateway.caller import Caller

if TYPE_CHECKING:
    from collections.abc import (
        AsyncGenerator,
        AsyncIterator,
        Callable,
        Collection,
        Mapping,
        Sequence,
    )

    from codemode.executions.events import ExecutionEvent
    from codemode.executions.execution import ExecutionOutcome
    from codemode.executions.journal.base import (
        Decision,
        Journal,
        Lease,
        PendingCall,
        StoredExecution,
    )
    from codemode.executions.programs import Programs
    from codemode.settings import JournalSettings


class Executions:
    """The executions of one journal, as callers may see them; `approvers` are the roles that decide what is asked.

    Whose an execution is, is the id of the key that started it. To anybody else but an approver it does not exist.
    """

    def __init__(
        self,
        journal: Journal,
        programs: Programs,
        settings: JournalSettings,
        approvers: Callable[[], Collection[str]],
    ) -> None:
        self._journal = journal
        self._programs = programs
        self._approvals = Approvals(journal, approvers)
        self._attempts: dict[str, Attempt] = {}
        self._ended = Endings(journal)
        self._visible = VisibleExecutions(journal, self._approvals, self.open)
        self._watching = Watching(journal, self._attempts, self._visible.seen)
        self._upkeep = Upkeep(journal, settings, self._attempts)
        self._launcher = Launcher(journal, programs, self._ended, self._attempts)
        self._opening = asyncio.Lock()
        self._is_open = False
        #: The role of today of who started an execution, None where he has none; without keys of ours that of then.
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
        """Open the journal, and keep the leases of what runs here; whatever is asked first does it.

        Raises ConfigurationError, JournalUnavailable.
        """
        async with self._opening:
            if not self._is_open:
                await self._journal.open()
                self._is_open = True
                self._upkeep.renew(partial(keep_leases, self._journal, self._attempts, self._ended))

    async def aclose(self) -> None:
        """Stop what runs here without an end: whoever comes next takes it up. What was given up comes to its end."""
        await to_their_end(
            [*self._launcher.shielded, *(each.task for each in self._attempts.values() if each.cancelled.is_set())]
        )
        await self._upkeep.aclose()
        tasks = [*self._launcher.shielded, *(attempt.task for attempt in self._attempts.values())]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        with suppress(JournalUnavailable):
            await self._ended.record_late()
        await self._journal.aclose()

    # --- run -----------------------------------------------------------------------------------------------------

    async def execute(self, request: Request, caller: Caller) -> ExecutionOutcome:
        """Run a program to its end or its first pause. Whoever gives up on it cancels it.

        While the journal cannot be written it runs unrecorded, and may only read.
        """
        try:
            execution = await self.start(request, caller)
        except JournalUnavailable as error:
            if request.resume_from:
                raise
            return await self._programs.run_unrecorded(request, caller, error)
        attempt = self._attempts[execution]
        try:
            return await asyncio.shield(attempt.task)
        except asyncio.CancelledError as given_up:
            if attempt.task.cancelled() and not is_cancelled():
                message = f"another server has taken over {execution}, or this one stops"
                raise LeaseLost(message, execution=execution) from None
            attempt.cancelled.set()
            await asyncio.wait((attempt.task,))
            given_up.add_note(
                f"{execution} was cancelled; `codemode executions show {execution}` tells what it has done"
            )
            raise

    async def start(self, request: Request, caller: Caller) -> str:
        """Begin to run a program, and return the id of its execution.

        Raises RequestRepeated, RequestConflict; ExecutionNotFound, LeaseHeld for what is to be repaired.
        """
        await self.open()
        record, reuse = await self._to_repair(request, caller)
        own = {FRESH_READS: request.fresh_reads, GOOD_UNTIL: caller.good_until}
        given = NewExecution(
            id=new_execution(),
            owner=caller.id,
            role=caller.role,
            code=request.code,
            seed=new_seed(),
            start_us=time.time_ns() // 1000,
            settings={**await self._programs.settings(caller), **own},
            digests=self._programs.environment(self._journal.digest),
            credentials=tuple(sorted(request.credentials)),
            resume_from=record.execution if record is not None else "",
            request_key=request.key,
            request_digest=request.digest,
        )
        lease = await self._launcher.create(given)
        recording = ExecutionRecording(self._journal, lease, given, Record(given.id), reuse=reuse)
        who = caller.bringing(request.credentials) if request.credentials else caller
        self._launcher.begin(recording, who, begun=request.begun, watch=request.watch)
        return given.id

    async def _to_repair(self, request: Request, caller: Caller) -> tuple[Record | None, Reuse | None]:
        if not request.resume_from:
            return None, None
        earlier = await self._visible.own(request.resume_from, caller)
        refuse_changed(earlier.given.id, self._programs.moved(earlier.given, self._journal.digest))
        record = await self._visible.record(earlier)
        return record, Reuse(record, fresh_reads=request.fresh_reads)

    # --- take up again -------------------------------------------------------------------------------------------

    async def resume(
        self, execution: str, caller: Caller, credentials: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        """Let a paused execution go on; `wait` tells what comes of it. For its owner, and for approvers.

        Raises ExecutionNotFound, ExecutionEnded, LeaseHeld (it runs), ExecutionWaiting (for people, or credentials),
        ExecutionChanged (nothing was run), JournalDamaged.
        """
        stored = await self._visible.seen(execution, caller)
        if stored.status not in OPEN:
            message = f"{execution} has ended: {stored.status}"
            raise ExecutionEnded(message, execution=execution)
        asked = {question["id"] for question in (stored.outcome or {}).get("pending", ())}
        waiting = [question.id for question in await self._journal.pending(execution=execution)]
        if asked and asked.issubset(waiting):
            message = f"{execution} waits for a decision on {', '.join(waiting)}"
            raise ExecutionWaiting(message, execution=execution)
        absent = sorted(set(stored.given.credentials) - set(credentials))
        if absent:
            message = f"{execution} needs the credentials of its caller again: {', '.join(absent)}"
            raise ExecutionWaiting(message, execution=execution)
        record = await self._visible.record(stored)
        is_own = caller.id == stored.given.owner
        role = caller.role if is_own else self.role_of(stored.given)
        changed = await self._programs.changes(stored.given, record, role, self._journal.digest)
        refuse_changed(execution, changed)
        owner = caller if is_own else self._owner(stored.given)
        lease = await self._journal.claim(execution)
        async with never_damaged(self._journal, lease):
            if record.taken_up:  # from here on it is counted anew
                await self._journal.append(lease, (JournalEntry("resumed", data={"by": caller.id}),))
            await self._take_up(stored, lease, owner, credentials)

    def _owner(self, given: NewExecution) -> Caller:
        """Who started it, where somebody else lets it go on."""
        return Caller(given.owner, given.role, is_let_in=lambda: self.role_of(given) == given.role)

    async def _take_up(
        self,
        stored: StoredExecution,
        lease: Lease,
        owner: Caller,
        credentials: Mapping[str, str],
        *,
        begun: Callable[[], None] = nothing,
    ) -> Attempt:
        """Run it from its record, which is read again: it is ours from the claim on."""
        execution = stored.given.id
        record = await self._visible.record(stored)
        questions = await self._journal.pending(execution=execution, unanswered=False)
        answered = {question.id: question for question in questions if question.verdict is not None}
        reuse = None
        if stored.given.resume_from:
            earlier = await self._visible.record(await self._journal.get(stored.given.resume_from))
            reuse = Reuse(earlier, fresh_reads=stored.given.settings.get(FRESH_READS, False)).without(record)
        recording = ExecutionRecording(self._journal, lease, stored.given, record, answered, reuse, is_resumed=True)
        return self._launcher.begin(recording, owner.bringing(credentials) if credentials else owner, begun=begun)

    async def recover(self) -> tuple[str, ...]:
        """Take up the executions whose server has died, as far as there is room; returns their ids.

        Those that cannot go on by themselves are paused, with a note that says why.
        """
        await self.open()
        return await self.recovery.recover()

    async def _taken_over(
        self, stored: StoredExecution, lease: Lease, begun: Callable[[], None]
    ) -> asyncio.Task[ExecutionOutcome]:
        return (await self._take_up(stored, lease, self._owner(stored.given), {}, begun=begun)).task

    async def orphans(self) -> tuple[str, ...]:
        """Ids of executions that are running for the record, and whose server has ended; the oldest first."""
        await self.open()
        return await self._journal.orphans()

    # --- people --------------------------------------------------------------------------------------------------

    async def approvals(self, caller: Caller, execution: str = "") -> tuple[PendingCall, ...]:
        """Calls that wait for a person, the oldest first: all of them for approvers, else those of the caller.

        Raises ExecutionNotFound.
        """
        await (self._visible.seen(execution, caller) if execution else self.open())
        return await self._approvals.waiting(caller, execution)

    async def decide(self, decisions: Sequence[Decision], caller: Caller) -> tuple[PendingCall, ...]:
        """Answer what is asked, all or none, in the name of `caller`; `resume` lets the executions go on.

        Raises ApprovalRefused: for who has not the role, for who started the execution, for a question that is not
        there or was answered, for other arguments than those that wait.
        """
        await self.open()
        return await self._approvals.decide(decisions, caller)

    # --- look ----------------------------------------------------------------------------------------------------

    async def list(
        self, caller: Caller, *, status: ExecutionStatus | None = None, limit: int = 50, before: str = ""
    ) -> tuple[StoredExecution, ...]:
        """The newest first, without outcomes: those of the caller, or all for approvers. Raises ExecutionNotFound."""
        await (self._visible.seen(before, caller) if before else self.open())
        owner = None if self._approvals.are_up_to(caller) else caller.id
        return await self._journal.list(owner=owner, status=status, limit=limit, before=before)

    async def get(self, execution: str, caller: Caller) -> StoredExecution:
        """One execution with its outcome. Raises ExecutionNotFound, also for one of another key."""
        return await self._visible.seen(execution, caller)

    async def record(self, execution: str, caller: Caller) -> Record:
        """Everything that was recorded of it. Raises ExecutionNotFound, JournalDamaged."""
        return await self._visible.record(await self._visible.seen(execution, caller))

    async def wait(self, execution: str, caller: Caller, timeout_s: float) -> StoredExecution:
        """The execution once it has ended or paused, or as it is when the time is over.

        Raises ExecutionNotFound, and CallerNotLetIn where the rights of its caller have ended meanwhile.
        """
        return await self._watching.wait(execution, caller, timeout_s)

    def events(self, execution: str, caller: Caller, after: int = 0) -> AsyncIterator[ExecutionEvent]:
        """What happens to it, from the entry with the number `after` on, until it ends or pauses.

        Raises ExecutionNotFound, TooSlow.
        """
        return self._watching.events(execution, caller, after)

    def batches(self, execution: str, caller: Caller, after: int = 0) -> AsyncGenerator[tuple[ExecutionEvent, ...]]:
        """The same events, as many at a time as are there and fit into one piece of an answer."""
        return self._watching.batches(execution, caller, after)

    async def cancel(self, execution: str, caller: Caller) -> StoredExecution:
        """End an execution; what was under way is told apart in its outcome. For its owner, and for approvers.

        Raises ExecutionNotFound, ExecutionEnded, and LeaseHeld where it runs on another server.
        """
        stored = await self._visible.seen(execution, caller)
        attempt = self._attempts.get(execution)
        if attempt is not None:
            attempt.cancelled.set()
            await asyncio.wait((attempt.task,))
        else:
            await self._launcher.shield(self._cancelled(stored))
        return await self._visible.stored(execution)

    async def _cancelled(self, stored: StoredExecution) -> None:
        execution = stored.given.id
        lease = await self._journal.claim(execution)
        outcome = {**(stored.outcome or {"id": execution}), "status": "cancelled"}
        await self._journal.finish(lease, "cancelled", outcome)

    async def rollback(
        self, execution: str, caller: Caller, credentials: Mapping[str, str] = MappingProxyType({})
    ) -> Rollback:
        """Begin to take back what an execution has committed, the newest first, where a tool names what does that.

        It is an execution of its own, under the same policy; again, it goes on where the last one failed. Raises
        ExecutionNotFound, also for one of another key, and LeaseHeld while it runs.
        """
        stored = await self._visible.own(execution, caller)
        refuse_changed(execution, self._programs.moved(stored.given, self._journal.digest))
        record = await self._visible.record(stored)
        found = plan(record, await self._programs.catalog(caller))
        if not found.steps:
            return found
        request = Request(found.program(), credentials, key=f"rollback {stored.given.id}", digest=execution)
        return await begin_rollback(found, request, partial(self.start, caller=caller), self._journal)

    # --- chores --------------------------------------------------------------------------------------------------

    async def serve(self) -> None:
        """Take up what dead servers have left, now and from time to time, and let what is old go.

        A journal that cannot be written is tried again. Raises ConfigurationError.
        """
        with suppress(JournalUnavailable):  # it is said below, and tried again
            await self.open()
        self._upkeep.serve(self.recovery, self.open)
