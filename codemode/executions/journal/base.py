"""The journal: a write-ahead log of executions, from which another process can continue them.

An execution is one row and an append-only list of entries. One server at a time owns it through a lease. Every write
carries the lease's generation, so a server whose lease was taken over can no longer write (a fencing token, after
Kleppmann, "How to do distributed locking", 2016). Writes survive the death of the process once the method has returned;
with `durability: power` they also survive the death of the machine.

Times are microseconds since the epoch (UTC). All methods raise `JournalUnavailable` if the store cannot be read or
written. Nothing of that method is then recorded, and the caller must not proceed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from codemode.executions.types.records import KINDS, PAGE

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from codemode.executions.journal.migrations import MigrationPlan
    from codemode.executions.journal.signals import Signals
    from codemode.executions.journal.sql.outbox import Outbox
    from codemode.executions.journal.sql.tables import Tables
    from codemode.executions.types.records import (
        Decision,
        ExecutionStatus,
        JournalEntry,
        Lease,
        NewExecution,
        PendingCall,
        PruneResult,
        QuestionKind,
        Retention,
        StoredExecution,
    )
    from codemode.transports.allowances import Slots


class Journal(Protocol):
    """A store of executions, from the perspective of one server. Methods may run concurrently on one event loop.

    `server` is the unique id under which this journal holds leases. `outbox` has the messages to people, `signals`
    those to the other servers. `slots` counts the rates that servers share, None if they share none. `tables` is what
    a feature makes its own table object from.
    """

    server: str
    outbox: Outbox
    signals: Signals
    slots: Slots | None
    tables: Tables

    async def open(self) -> None:
        """Connect and migrate the store to this version.

        Raises ConfigurationError if the store is too new, was created with another key, or must be migrated by hand.
        """
        ...

    async def aclose(self) -> None:
        """Write what is queued, and disconnect."""
        ...

    async def last_loss_us(self) -> int:
        """Return when the store last ended without writing its last moments to the disk, in µs since the epoch.

        0 if that never happened, is not known, or lost nothing because every commit waits. Raises JournalUnavailable.
        """
        ...

    def digest(self, value: Any) -> str:
        """Return the keyed digest of canonical JSON data, as 64 hexadecimal digits. All servers of a store agree."""
        ...

    async def create(self, execution: NewExecution) -> Lease:
        """Record a new execution as `running` and return a lease of `lease_s` seconds.

        Raises RequestRepeated, with the id of the earlier execution, if the owner has used the request key before, and
        RequestForgotten if that execution was removed.
        Raises RequestConflict if the key was used for another request. Raises JournalFull if unremovable data fills the
        allowed space, or too many executions of the owner are paused. Raises PlanRefused if the plan that it runs under
        was already used.
        """
        ...

    async def get(self, execution: str) -> StoredExecution:
        """Return an execution with its outcome. Raises ExecutionNotFound."""
        ...

    async def list(
        self, *, owner: str | None = None, status: ExecutionStatus | None = None, limit: int = 50, before: str = ""
    ) -> tuple[StoredExecution, ...]:
        """Return executions without outcomes, newest first. `before` is the last id of the previous page.

        Of a request above 16 KiB only id, owner, role and start are read. An unreadable execution is listed with its
        `damage`.
        """
        ...

    async def heads(self, executions: Collection[str]) -> dict[str, StoredExecution]:
        """Return executions by id as in lists: without outcomes, and without large programs. Unknown ids are absent."""
        ...

    async def claim(self, execution: str, *, by_force: bool = False, is_orphan: bool = False) -> Lease:
        """Take the lease of an open execution that has none, or whose server is dead. Its status becomes `running`.

        With `by_force`, also take it from a server that is alive: it can then write and send nothing more. With
        `is_orphan`, do not take it if it is paused: another server may have taken it over and paused it meanwhile.
        Among concurrent claims one succeeds. Raises LeaseHeld, ExecutionEnded, ExecutionNotFound.
        """
        ...

    async def orphans(self) -> tuple[str, ...]:
        """Return the ids of `running` or `queued` executions whose server is dead, oldest first."""
        ...

    async def renew(self, executions: Collection[str]) -> frozenset[str]:
        """Extend this server's leases of these executions. Return the ids that it still holds.

        Call it several times within `lease_s` for running executions. Other leases run out.
        """
        ...

    async def release(self, executions: Collection[str]) -> None:
        """Give up this server's leases of these executions, which stay open: `orphans` returns them at once."""
        ...

    async def append(self, lease: Lease, entries: Sequence[JournalEntry], *, at_once: bool = False) -> int:
        """Append entries in order, all or none. Return the last sequence number.

        Appends made in the same event-loop iteration are batched. Pass `at_once=True` to skip waiting for others
        while there are none. An empty append only checks the lease. Raises LeaseLost.
        """
        ...

    async def read(
        self, execution: str, *, after: int = 0, values: bool = True, most: int | None = None
    ) -> tuple[JournalEntry, ...]:
        """Return the first `most` entries with a sequence number above `after`, in order.

        Without `values`, each `value` is None.
        """
        ...

    async def pause(self, lease: Lease, pending: Sequence[PendingCall], outcome: Any) -> None:
        """Release the lease and set the status `paused`, waiting for decisions on `pending`. Raises LeaseLost."""
        ...

    async def finish(self, lease: Lease, status: ExecutionStatus, outcome: Any) -> None:
        """Release the lease and record the end. Undecided questions are withdrawn. Raises LeaseLost."""
        ...

    async def pending(
        self, *, execution: str = "", unanswered: bool = True, question: str = ""
    ) -> tuple[PendingCall, ...]:
        """Return pending calls, oldest first. `unanswered=False` includes decided calls.

        `execution` and `question` limit the result to one execution, and to the call with this id.

        An unreadable call is listed with its `damage`. With `execution`, it raises JournalDamaged instead.
        """
        ...

    async def waiting(
        self,
        *,
        owner: str = "",
        execution: str = "",
        after: str = "",
        limit: int = PAGE,
        kinds: Sequence[QuestionKind] = KINDS,
    ) -> tuple[PendingCall, ...]:
        """Return brief calls that wait for a person, oldest first. `after` is the last id of the previous page.

        `owner`, `execution` and `kinds` limit the result. Large calls are listed with `omitted` bytes, and unreadable
        ones with their `damage`.
        """
        ...

    async def decide(self, decisions: Sequence[Decision]) -> tuple[PendingCall, ...]:
        """Record decisions, all or none. Return the decided calls, and append a `decided` entry for each.

        Raises ApprovalRefused if a question is unknown or already answered, its execution is not paused, the digest
        differs, the verdict does not fit the question's kind, or the same call of the same program was approved
        while this one waited.
        """
        ...

    async def prune(self, retention: Retention) -> PruneResult:
        """Apply retention, and remove expired content and values. Running and waiting executions are kept."""
        ...


class StoredJournal(Journal, Protocol):
    """A journal in a store of its own, which commands check and migrate."""

    async def migration_plan(self) -> MigrationPlan:
        """Return what `open` would migrate. Changes nothing. Raises ConfigurationError if the store is too new."""
        ...

    async def damages(self) -> tuple[str, ...]:
        """Return descriptions of structural damage to the store. This takes long. Reads check the seals."""
        ...
