"""What the journal records: executions, their entries, and the questions to people.

Times are microseconds since the epoch (UTC).
"""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 -- `json_form` reads it
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from codemode.errors import JournalDamaged
from codemode.executions.types.json_form import json_of, record_of
from codemode.text.times import has_passed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from codemode.executions.types.remembered import RememberScope

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
HAD_SECRETS = "had_secrets"
INPUTS = "inputs"
CONVERSATION = "conversation"

#: The key in an execution's settings that holds `Caller.label`.
LABEL = "label"

#: The note of an outcome whose program or inputs held a secret.
HELD_SECRETS = (
    "the program or its inputs held a secret of their caller, its key or a credential; it was replaced by [redacted]"
    " before it was recorded and run: send credentials with the request instead"
)

#: Kinds of entries. `started`: a call is about to be sent. `ended`: how it ended. `delivered`: a message sent to the
#: program, in order. `began`: a saved program is about to run. `printed`: output. `paused`, `resumed`, `decided` and
#: `expired`: events from outside the program.
EntryKind = Literal["started", "ended", "delivered", "began", "printed", "paused", "resumed", "decided", "expired"]

#: Questions to a person: may a call be made, how did an earlier call end, what does a service want to know, or will the
#: owner log in?
QuestionKind = Literal["approval", "unknown", "input", "login"]

#: Questions that the owner of an execution answers.
OF_OWNER: tuple[QuestionKind, ...] = ("input", "login")

#: Verdicts for `approval` are approved and rejected; for `unknown` committed (with its value), failed and send_again;
#: for `input` answered (with the content of the form as value) and declined; for `login` answered, which the login
#: itself does, and declined.
Verdict = Literal["approved", "rejected", "committed", "failed", "send_again", "answered", "declined"]

KINDS: tuple[QuestionKind, ...] = ("approval", "unknown", "input", "login")

#: Calls of a page of a list.
PAGE = 100

VERDICTS: Mapping[QuestionKind, tuple[Verdict, ...]] = {
    "approval": ("approved", "rejected"),
    "unknown": ("committed", "failed", "send_again"),
    "input": ("answered", "declined"),
    "login": ("answered", "declined"),
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
    `damage` describes an unreadable execution, whose `given` then has only id, owner and start. `expires_us` is when a
    paused execution expires, 0 for others: from then on, its status is `expired`.
    """

    request: NewExecution
    status: ExecutionStatus
    server: str
    lease_until_us: int
    created_us: int
    updated_us: int
    ended_us: int
    outcome: Any = None
    damage: str = ""
    expires_us: int = 0


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
    - `verdict`: None until decided; `by` and `note` are then the person's.
    - `via`: the interface that the person used.
    - `value`: the value of an unknown call that was decided as committed, or the content of a form.
    - `damage`: in lists, why the call is unreadable.
    - `omitted`: in lists, the bytes of a call that are left out because it is large; 0 if it is whole.
    - `host`: the host that the call goes to.
    - `summary`: what the tool does, in the words of its source when the person was asked.
    - `effect`: the effect of the tool, as the catalog described it then.
    - `operation`: the tool's identity in its source: `POST /salaries/{salaryId}/pay`.
    - `up_to`: the number of calls of this tool that the decision approves; 0: this one.
    - `grant`: the approval whose `up_to` approved this call, or empty.
    - `within`: the saved program of the call, its version and who saved it, or empty.
    - `expires_us`: when an approval of the call is no longer good, 0 before the decision.
    - `planned`: what the plan lists for the arguments that differ from it; None if the call is under no plan, or the
      plan lists no such call.
    - `asks`: the question of a service, for the kind `input`, and the address of the login for the kind `login`.
    - `account`: whose credentials would be sent, where the source has several.
    """

    #: `via` may hold the address of the person who decided. `expires` of a card is when the question expires.
    JSON_NAMES: ClassVar = {"via": "", "expires_us": ""}

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
    within: str = ""
    expires_us: int = 0
    planned: Mapping[str, Any] | None = None
    asks: Mapping[str, Any] | None = None
    omitted: int = 0
    account: str = ""

    def is_outdated(self, now_us: int) -> bool:
        """Return whether the decision let the call be sent, and is too old for that now. Then it is asked again."""
        return self.verdict in ("approved", "send_again") and has_passed(self.expires_us, now_us)

    def to_json(self) -> dict[str, Any]:
        """Return the call as JSON data. The times are `asked` and `decided`, which is None before the decision."""
        return json_of(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Return the call stored as JSON data. Outcomes of earlier versions hold its times in microseconds."""
        return record_of(cls, data)


@dataclass(frozen=True, slots=True)
class Decision:
    """A person's decision on one pending call. `digest` is the digest of the call that the person saw.

    - `via`: the interface that the person used, such as `http 192.0.2.7` or `command line`.
    - `up_to`: the number of calls of the same tool that this decision approves in this execution, this one included.
      0 and 1 approve this call only.
    - `grant`: the id of the call whose `up_to` approved this one, "" for a decision on this call itself.
    - `remember`: how far an approval also covers the same call later, "" for not.
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
    remember: RememberScope | Literal[""] = ""


@dataclass(frozen=True, slots=True)
class Retention:
    """How long executions are kept: ended ones for `age_s` seconds, and at most the newest `count` of each owner."""

    age_s: float
    count: int


@dataclass(frozen=True, slots=True)
class PruneResult:
    """The result of pruning: ids of executions that expired, and the number of ended executions removed."""

    expired: tuple[str, ...]
    removed: int
