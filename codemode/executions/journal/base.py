"""The journal: what executions have done, written before it happens, so that another process can go on with them.

An execution is one row and a list of entries that only grows. It belongs to one server at a time by a lease; every
write carries the lease's generation, and a server whose lease was taken over cannot write any more (fencing, after
Kleppmann, "How to do distributed locking", 2016). What a method has returned from survives the death of the process,
and with `durability: power` that of the machine.

Times are microseconds since the epoch (UTC). All methods raise `JournalUnavailable` where the store cannot be written
or read: then nothing of that call is recorded, and what would have been done must not be done.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

from codemode.errors import JournalDamaged

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

ExecutionStatus = Literal[
    "queued",
    "running",
    "paused",
    "completed",
    "failed",
    "refused",
    "timed_out",
    "out_of_memory",
    "crashed",
    "cancelled",
    "expired",
]

#: Executions that somebody may still go on with; all others have ended.
OPEN: tuple[ExecutionStatus, ...] = ("queued", "running", "paused")

#: Among the settings of an execution: whether what an earlier one has read is read anew, and `Caller.good_until`.
FRESH_READS = "fresh_reads"
GOOD_UNTIL = "good_until"

#: What an entry tells. `started`: a call is about to leave. `ended`: what became of it. `delivered`: what the program
#: was sent, in that order. `printed`: its output. `paused`, `resumed`, `decided`, `expired`: what happened to the
#: execution from outside.
EntryKind = Literal["started", "ended", "delivered", "printed", "paused", "resumed", "decided", "expired"]

#: What a person is asked: whether a call may be made, or what became of one that was made.
QuestionKind = Literal["approval", "unknown"]

#: Answers to `approval` are approved and rejected; to `unknown` committed (with its value), failed, send_again.
Verdict = Literal["approved", "rejected", "committed", "failed", "send_again"]

VERDICTS: Mapping[QuestionKind, tuple[Verdict, ...]] = {
    "approval": ("approved", "rejected"),
    "unknown": ("committed", "failed", "send_again"),
}


@contextmanager
def readable(what: str, execution: str) -> Iterator[None]:
    """Raises JournalDamaged where what is read makes no sense."""
    try:
        yield
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
        message = f"{what} of {execution} in the journal is damaged ({type(error).__name__}: {error})"
        raise JournalDamaged(message, execution=execution) from None


def check_types(data: Mapping[str, Any], types: Mapping[str, type | tuple[type, ...]]) -> None:
    """Raises TypeError where a field that is there is of another type."""
    for name in types.keys() & data.keys():
        if not isinstance(data[name], types[name]):
            message = f"{name} is of the type {type(data[name]).__name__}"
            raise TypeError(message)


@dataclass(frozen=True, slots=True)
class NewExecution:
    """What is known of an execution before its program runs, and never changes.

    `owner` is the id of the key that started it, `seed` 32 random bytes, `start_us` where the program's clock begins,
    `settings` what its run needs besides (limits; JSON data), `digests` those of what it may use, by name (policy,
    versions; the schemas of tools stand in their `started` entries), `credentials` the names of those that its caller
    brought, never their values. `request_key` is the caller's idempotency key, "" for none, and `request_digest` what
    it was given with.
    """

    id: str
    owner: str
    role: str
    code: str
    seed: bytes
    start_us: int
    settings: Mapping[str, Any] = field(default_factory=dict)
    digests: Mapping[str, str] = field(default_factory=dict)
    credentials: tuple[str, ...] = ()
    resume_from: str = ""
    request_key: str = ""
    request_digest: str = ""


@dataclass(frozen=True, slots=True)
class StoredExecution:
    """An execution as the journal has it. `server` holds it until `lease_until_us`; "" and 0 where nobody does.

    `outcome` is JSON data, None while there is none, and in lists. `ended_us` is 0 while it has not ended. In lists
    `damage` says what of it cannot be read; of `given` there are id, owner and start then.
    """

    given: NewExecution
    status: ExecutionStatus
    server: str
    lease_until_us: int
    created_us: int
    updated_us: int
    ended_us: int
    outcome: Any = None
    damage: str = ""


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to write to one execution. A later one has a higher generation, and ends this one."""

    execution: str
    server: str
    generation: int


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """One thing that happened. `data` is JSON data, small; `value` any number of bytes, kept whole.

    `path` is the call's place in the program's tree of tasks, "" where it is about no call. `sequence` counts from 1
    within the execution and is given by the journal, as is `at_us`.
    """

    kind: EntryKind
    path: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)
    value: bytes | None = None
    sequence: int = 0
    at_us: int = 0

    @property
    def starts_unkeyed_write(self) -> bool:
        """Whether losing this entry could send a write twice: only the journal knows that the call has left."""
        return self.kind == "started" and self.data.get("effect") != "read" and not self.data.get("key")


@dataclass(frozen=True, slots=True)
class PendingCall:
    """A call that waits for a person: the question, and the answer once it is given.

    `arguments` are as shown (secrets as digests), `digest` is the keyed digest of the exact ones, which an answer must
    repeat. `verdict` is None while nobody has answered; `by` is who did, `note` what he said with it, and `value` the
    value of an unknown call that he says was committed (JSON data). `damage` says in lists of all why there is no call.
    `host` is where the call goes.
    """

    id: str
    execution: str
    path: str
    tool: str
    arguments: Mapping[str, Any]
    digest: str
    reason: str
    kind: QuestionKind = "approval"
    asked_us: int = 0
    verdict: Verdict | None = None
    by: str = ""
    note: str = ""
    value: Any = None
    decided_us: int = 0
    damage: str = ""
    host: str = ""


@dataclass(frozen=True, slots=True)
class Decision:
    """A person's answer to one pending call; `digest` must be that of the call as the person saw it."""

    id: str
    digest: str
    verdict: Verdict
    by: str
    note: str = ""
    value: Any = None


@dataclass(frozen=True, slots=True)
class Retention:
    """How long executions are kept: ended ones for `age_s` after their end, and the newest `count` of them at most.

    Paused ones become `expired`, which is an end, after `paused_s` without an answer.
    """

    age_s: float
    count: int
    paused_s: float


@dataclass(frozen=True, slots=True)
class Pruned:
    """What retention did: ids of paused executions that have become `expired`, and how many ended ones were removed."""

    expired: tuple[str, ...]
    removed: int


class Journal(Protocol):
    """A store of executions, as one server sees it; its methods may be called concurrently on one event loop.

    `server` is the id under which it holds leases, and no other journal's ever.
    """

    server: str

    async def open(self) -> None:
        """Connect, and bring the store to this program's version.

        Raises ConfigurationError for a store of a newer version, or one made with another key.
        """
        ...

    async def aclose(self) -> None:
        """Write what waits to be written, and disconnect."""
        ...

    def digest(self, value: Any) -> str:
        """Keyed digest of JSON data in canonical form (64 hexadecimal digits); the same on every server of a store."""
        ...

    async def create(self, execution: NewExecution) -> Lease:
        """Record a new execution as `running`, held by this server for the time that is configured (`lease_s`).

        Raises RequestRepeated, with the id of the earlier execution, where its owner has used the request key before,
        and RequestConflict where that was with another request. Raises JournalFull where what may not be removed takes
        all the space that it may take.
        """
        ...

    async def get(self, execution: str) -> StoredExecution:
        """One execution with its outcome. Raises ExecutionNotFound."""
        ...

    async def list(
        self, *, owner: str | None = None, status: ExecutionStatus | None = None, limit: int = 50, before: str = ""
    ) -> tuple[StoredExecution, ...]:
        """The newest first, without outcomes; `before` is the id of the last one of the page before.

        What is damaged of one is said in its place.
        """
        ...

    async def claim(self, execution: str) -> Lease:
        """Take an open execution that nobody holds, or whose holder is dead; it is `running` from then on.

        Of several at once one wins. Raises LeaseHeld, ExecutionEnded, ExecutionNotFound.
        """
        ...

    async def orphans(self) -> tuple[str, ...]:
        """Ids of executions that are `running` or `queued` and whose holder is dead, the oldest first."""
        ...

    async def renew(self, executions: Collection[str]) -> frozenset[str]:
        """Extend this server's leases of these executions; returns the ids of those that it still holds.

        To be called several times within `lease_s`, for what runs here. What is not named is free once its time is up.
        """
        ...

    async def append(self, lease: Lease, entries: Sequence[JournalEntry], *, at_once: bool = False) -> int:
        """Write entries, all or none, in this order; returns the last one's sequence number.

        Those that come within one turn of the event loop are written together, but for the first; who knows that there
        are no others asks for his `at_once`, and saves the look for them. No entries write nothing, and ask whether
        the lease holds. Raises LeaseLost.
        """
        ...

    async def read(
        self, execution: str, *, after: int = 0, values: bool = True, most: int | None = None
    ) -> tuple[JournalEntry, ...]:
        """The entries with a sequence number above `after`, in order, the first `most` of them.

        Without `values` each `value` is None.
        """
        ...

    async def pause(self, lease: Lease, pending: Sequence[PendingCall], outcome: Any) -> None:
        """Give the execution back as `paused`, waiting for answers to `pending`. Raises LeaseLost."""
        ...

    async def finish(self, lease: Lease, status: ExecutionStatus, outcome: Any) -> None:
        """Give the execution back as ended. Questions that nobody has answered are withdrawn. Raises LeaseLost."""
        ...

    async def pending(self, *, execution: str = "", unanswered: bool = True) -> tuple[PendingCall, ...]:
        """Calls that wait for a person, the oldest first; with `unanswered=False` those that were answered too.

        What is damaged is said in its place, and raises JournalDamaged where one execution is asked for.
        """
        ...

    async def decide(self, decisions: Sequence[Decision]) -> tuple[PendingCall, ...]:
        """Record answers, all or none; returns the calls as answered, and appends a `decided` entry for each.

        Raises ApprovalRefused where there is no such question, it has been answered, its execution is not paused, its
        digest is another, or the verdict is none for its kind.
        """
        ...

    async def prune(self, retention: Retention) -> Pruned:
        """Apply retention. What runs, and what waits for a person within its time, is never touched."""
        ...

    async def damages(self) -> tuple[str, ...]:
        """What of the store's structure is damaged, a sentence each; a long look. Seals are compared by reading."""
        ...
