"""The journal: a write-ahead log of executions, from which another process can continue them.

An execution is one row and an append-only list of entries. One server at a time owns it through a lease. Every write
carries the lease's generation, so a server whose lease was taken over can no longer write (a fencing token, after
Kleppmann, "How to do distributed locking", 2016). Writes survive the death of the process once the method has returned;
with `durability: power` they also survive the death of the machine.

Times are microseconds since the epoch (UTC). All methods raise `JournalUnavailable` if the store cannot be read or
written. Nothing of that method is then recorded, and the caller must not proceed.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self

from codemode.errors import JournalDamaged
from codemode.text.times import microseconds_of, rfc3339

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from codemode.executions.journal.contents import KeptContent
    from codemode.executions.journal.migrations import MigrationPlan
    from codemode.executions.journal.outbox import Outbox
    from codemode.executions.journal.signals import Signals
    from codemode.executions.plans.plan import Plan, PlanVerdict
    from codemode.executions.state.values import StateKey, StateWrite
    from codemode.transports.allowances import Slots
    from codemode.transports.content import Content

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

#: Executions that can continue. All others have ended.
OPEN: tuple[ExecutionStatus, ...] = ("queued", "running", "paused")

#: Keys in an execution's settings: whether a repair repeats reads, `Caller.good_until`, `Caller.read_only`, and the
#: variables that the program was given, digest of its conversation.
FRESH_READS = "fresh_reads"
GOOD_UNTIL = "good_until"
READ_ONLY = "read_only"
INPUTS = "inputs"
CONVERSATION = "conversation"

#: The key in an execution's settings that holds `Caller.label`.
LABEL = "label"

#: Kinds of entries. `started`: a call is about to be sent. `ended`: how it ended. `delivered`: a message sent to the
#: program, in order. `began`: a saved program is about to run. `printed`: output. `paused`, `resumed`, `decided` and
#: `expired`: events from outside the program.
EntryKind = Literal["started", "ended", "delivered", "began", "printed", "paused", "resumed", "decided", "expired"]

#: Questions to a person: may a call be made, how did an earlier call end, or what does a service want to know?
QuestionKind = Literal["approval", "unknown", "input"]

#: Verdicts for `approval` are approved and rejected; for `unknown` committed (with its value), failed and send_again;
#: for `input` answered (with the content of the form as value) and declined.
Verdict = Literal["approved", "rejected", "committed", "failed", "send_again", "answered", "declined"]

VERDICTS: Mapping[QuestionKind, tuple[Verdict, ...]] = {
    "approval": ("approved", "rejected"),
    "unknown": ("committed", "failed", "send_again"),
    "input": ("answered", "declined"),
}


@contextmanager
def readable(what: str, execution: str) -> Iterator[None]:
    """Raise JournalDamaged if reading the journal's data fails."""
    try:
        yield
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
        message = f"{what} of {execution} is damaged in the journal ({type(error).__name__}: {error})"
        raise JournalDamaged(message, execution=execution) from None


def check_types(data: Mapping[str, Any], types: Mapping[str, type | tuple[type, ...]]) -> None:
    """Raise TypeError if a present field has an unexpected type."""
    for name in types.keys() & data.keys():
        if not isinstance(data[name], types[name]):
            message = f"{name} has the unexpected type {type(data[name]).__name__}"
            raise TypeError(message)


@dataclass(frozen=True, slots=True)
class NewExecution:
    """The fixed facts of an execution, known before its program runs.

    - `owner`: the id of the key that started it.
    - `seed`: 32 random bytes.
    - `start_us`: the start of the program's clock.
    - `settings`: what else the run needs, such as limits, as JSON data.
    - `digests`: versions and digests of its dependencies, by name. Tool definitions are in `started` entries.
    - `credentials`: the names of the credentials that the caller brought, never their values.
    - `request_key`, `request_digest`: the caller's idempotency key, "" for none, and the digest of the request.
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
    """An execution as stored. `server` holds the lease until `lease_until_us`; "" and 0 if there is no lease.

    `outcome` is JSON data, None before the first pause or end, and in lists. `ended_us` is 0 until the end. In lists,
    `damage` describes an unreadable execution, whose `given` then has only id, owner and start.
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
    """The right to write to one execution. A later lease has a higher generation and revokes this one."""

    execution: str
    server: str
    generation: int


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """One entry. `data` is small JSON data. `value` is bytes of any size, stored unchanged.

    `path` is the call's position in the tree of the program's tasks, "" if the entry concerns no call. The journal
    assigns `sequence`, which counts from 1 within the execution, and `at_us`.
    """

    kind: EntryKind
    path: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)
    value: bytes | None = None
    sequence: int = 0
    at_us: int = 0

    @property
    def starts_unkeyed_write(self) -> bool:
        """Whether losing this entry could repeat a write. Without a key, only the journal knows of the call."""
        return self.kind == "started" and self.data.get("effect") != "read" and not self.data.get("key")


@dataclass(frozen=True, slots=True)
class PendingCall:
    """A question to a person about one call, with the answer once there is one.

    - `arguments`: the arguments as shown; secrets are digests.
    - `digest`: the keyed digest of the exact arguments, which a decision must repeat.
    - `verdict`: None until decided; `by` and `note` are then the person's, and `via` is the interface they used.
    - `value`: the value of an unknown call that was decided as committed, or the content of a form, as JSON data.
    - `damage`: in lists, why the call is unreadable.
    - `host`: the host that the call goes to.
    - `summary`, `effect`, `operation`: what the tool does, as the catalog described it when the person was asked.
      `operation` is the tool's identity in its source, such as `POST /salaries/{salaryId}/pay`.
    - `up_to`, `grant`: as in `Decision`.
    - `asks`: the question of a service (kind `input`), see `codemode.transports.questions.InputRequired`.
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
    summary: str = ""
    effect: str = ""
    operation: str = ""
    via: str = ""
    up_to: int = 0
    grant: str = ""
    asks: Mapping[str, Any] | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the call as JSON data. The times are `asked` and `decided`, which is None before the decision.

        `via` is left out: it may hold the address of the person who decided.
        """
        fields = {name: getattr(self, name) for name in self.__slots__ if not name.endswith("_us") and name != "via"}
        times = {"asked": self.asked_us, "decided": self.decided_us}
        return fields | {name: rfc3339(at_us) if at_us else None for name, at_us in times.items()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Return the call stored as JSON data. Outcomes of earlier versions hold its times in microseconds."""
        fields = dict(data)
        for name in ("asked", "decided"):
            text = fields.pop(name, None)
            if text is not None:
                fields[f"{name}_us"] = microseconds_of(text)
        return cls(**fields)


@dataclass(frozen=True, slots=True)
class Decision:
    """A person's decision on one pending call. `digest` is the digest of the call that the person saw.

    - `via`: the interface that the person used, such as `http 192.0.2.7` or `command line`.
    - `up_to`: the number of calls of the same tool that this decision approves in this execution, this one included.
      0 and 1 approve this call only.
    - `grant`: the id of the call whose `up_to` approved this one, "" for a decision on this call itself.
    """

    id: str
    digest: str
    verdict: Verdict
    by: str
    note: str = ""
    value: Any = None
    via: str = ""
    up_to: int = 0
    grant: str = ""


@dataclass(frozen=True, slots=True)
class Retention:
    """How long executions are kept: ended ones for `age_s` seconds, and at most the newest `count` of them.

    Paused ones end as `expired` after `paused_s` seconds without a decision.
    """

    age_s: float
    count: int
    paused_s: float


@dataclass(frozen=True, slots=True)
class Pruned:
    """The result of pruning: ids of executions that expired, and the number of ended executions removed."""

    expired: tuple[str, ...]
    removed: int


class Journal(Protocol):
    """A store of executions, from the perspective of one server. Methods may run concurrently on one event loop.

    `server` is the unique id under which this journal holds leases. `outbox` has the messages to people, `signals`
    those to the other servers. `slots` counts the rates that servers share, None if they share none.
    """

    server: str
    outbox: Outbox
    signals: Signals
    slots: Slots | None

    async def open(self) -> None:
        """Connect and migrate the store to this version.

        Raises ConfigurationError if the store is too new, was created with another key, or must be migrated by hand.
        """
        ...

    async def migration_plan(self) -> MigrationPlan:
        """Return what `open` would migrate. Changes nothing. Raises ConfigurationError if the store is too new."""
        ...

    async def aclose(self) -> None:
        """Write what is queued, and disconnect."""
        ...

    def digest(self, value: Any) -> str:
        """Return the keyed digest of canonical JSON data, as 64 hexadecimal digits. All servers of a store agree."""
        ...

    async def create(self, execution: NewExecution) -> Lease:
        """Record a new execution as `running` and return a lease of `lease_s` seconds.

        Raises RequestRepeated, with the id of the earlier execution, if the owner has used the request key before.
        Raises RequestConflict if the key was used for another request. Raises JournalFull if unremovable data fills the
        allowed space. Raises PlanRefused if the plan that it runs under was already used.
        """
        ...

    async def get(self, execution: str) -> StoredExecution:
        """Return an execution with its outcome. Raises ExecutionNotFound."""
        ...

    async def list(
        self, *, owner: str | None = None, status: ExecutionStatus | None = None, limit: int = 50, before: str = ""
    ) -> tuple[StoredExecution, ...]:
        """Return executions without outcomes, newest first. `before` is the last id of the previous page.

        An unreadable execution is listed with its `damage`.
        """
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

    async def approved(self, *, owner: str = "", most: int = 100) -> tuple[PendingCall, ...]:
        """Return the calls that were approved last, newest first. `owner` limits them to one owner's executions."""
        ...

    async def decide(self, decisions: Sequence[Decision]) -> tuple[PendingCall, ...]:
        """Record decisions, all or none. Return the decided calls, and append a `decided` entry for each.

        Raises ApprovalRefused if a question is unknown or already answered, its execution is not paused, the digest
        differs, or the verdict does not fit the question's kind.
        """
        ...

    async def store_state(self, lease: Lease, path: str, write: StateWrite) -> int:
        """Store a value of a conversation. The same path of an execution stores only once.

        Return 0, or the bytes by which the value would exceed the owner's limit: it is then not stored. Raises
        LeaseLost.
        """
        ...

    async def load_state(self, key: StateKey) -> bytes | None:
        """Return a stored value as JSON, None if there is none or it has expired."""
        ...

    async def state_names(self, owner: str, conversation: str) -> tuple[str, ...]:
        """Return the names of a conversation's stored values, in order."""
        ...

    async def save_plan(self, plan: Plan) -> Plan:
        """Record a new plan and return it with its time. Each owner's newest 100 plans are kept."""
        ...

    async def plan(self, plan: str) -> Plan:
        """Return a plan. Raises PlanNotFound, JournalDamaged."""
        ...

    async def plans(self, owner: str, limit: int) -> tuple[Plan, ...]:
        """Return the plans of an owner, newest first; of all owners if `owner` is empty."""
        ...

    async def decide_plan(self, plan: Plan, verdict: PlanVerdict, by: str, note: str) -> Plan:
        """Record a decision on a plan and return the plan. Raises PlanRefused if it was already decided."""
        ...

    async def prune(self, retention: Retention) -> Pruned:
        """Apply retention, and remove expired content and values. Running and waiting executions are kept."""
        ...

    async def keep_content(self, owner: str, content: Content, *, keep_s: float, limit_bytes: int) -> None:
        """Store an image or file for `keep_s` seconds. Remove the owner's oldest content beyond `limit_bytes`."""
        ...

    async def find_content(self, owner: str, id_: str) -> Content | None:
        """Return an owner's content by id, None if it is not stored or has expired."""
        ...

    async def contents(self, owner: str, *, limit: int = 50) -> tuple[KeptContent, ...]:
        """Return the owner's content without its data, newest first."""
        ...

    async def damages(self) -> tuple[str, ...]:
        """Return descriptions of structural damage to the store. This takes long. Reads check the seals."""
        ...
