"""What a journal in SQL does, one transaction a function, without saying to which database or when.

A transaction is a generator: it yields a statement, is sent the rows, and returns its result; what it raises undoes it.
So SQLite carries it out in one go and PostgreSQL across a network, and there is one truth about leases and answers.
Parameters are numbered (`$1`); a conditional `UPDATE … RETURNING` decides who of several was first.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from codemode.errors import (
    ApprovalRefused,
    ExecutionEnded,
    ExecutionNotFound,
    LeaseHeld,
    LeaseLost,
    RequestConflict,
    RequestRepeated,
)
from codemode.executions.journal import (
    OPEN,
    VERDICTS,
    Decision,
    ExecutionStatus,
    JournalEntry,
    Lease,
    NewExecution,
    PendingCall,
    Retention,
    StoredExecution,
)
from codemode.executions.journals import rows
from codemode.executions.journals.key import DigestKey, wrong_key
from codemode.executions.journals.migrations import Dialect, migrations, refuse_newer

#: Values larger than this are kept apart from the entries, so that a page of those holds many. A page of SQLite.
SPILL_BYTES = 4096

#: Executions that one transaction of retention touches: others must not wait long for their turn.
BATCH = 50

_SECOND_US = 1_000_000
_ENDED = "status NOT IN ('queued', 'running', 'paused')"


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement and its parameters."""

    sql: str
    parameters: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class Statements:
    """One statement carried out for each tuple of parameters; it gives no rows."""

    sql: str
    parameters: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True, slots=True)
class Now:
    """The time by the clock that all servers of the store share, as one row of one number."""


Result = TypeVar("Result")
Step = Statement | Statements | Now
Transaction = Generator[Step, Sequence[Any], Result]
IsDead = Callable[[str], bool]
Line = tuple[str, str, bytes | None]


def _now() -> Transaction[int]:
    return int((yield Now())[0][0])


def prepare(version: Transaction[int], dialect: Dialect, note: str, key: DigestKey, store: str) -> Transaction[None]:
    """Bring a store from its `version` to this program's, `note` ({} stands for the number) recording each step.

    Nothing else may be prepared meanwhile. Raises ConfigurationError for a newer store, and for one of another key.
    """
    steps = migrations(dialect)
    reached = yield from version
    refuse_newer(reached, len(steps), store)
    for number, statements in enumerate(steps[reached:], reached + 1):
        for statement in statements:
            yield Statement(statement)
        yield Statement(note.format(number))
    found = yield Statement("SELECT fingerprint FROM journal_key")
    if not found:
        yield Statement("INSERT INTO journal_key VALUES ($1)", (key.fingerprint,))
    elif found[0][0] != key.fingerprint:
        raise wrong_key(store)


def create(execution: NewExecution, server: str, lease_s: float) -> Transaction[Lease]:
    """See `Journal.create`."""
    now = yield from _now()
    made = yield Statement(
        "INSERT INTO executions (id, owner, request_key, request_digest, status, server, lease_until_us, generation,"
        " created_us, updated_us, ended_us) VALUES ($1, $2, $3, $4, 'running', $5, $6, 1, $7, $7, 0)"
        " ON CONFLICT (owner, request_key) WHERE request_key <> '' DO NOTHING RETURNING id",
        (
            execution.id,
            execution.owner,
            execution.request_key,
            execution.request_digest,
            server,
            now + int(lease_s * _SECOND_US),
            now,
        ),
    )
    if not made:
        yield from _refuse_request(execution)
    yield Statement("INSERT INTO contents VALUES ($1, $2, NULL)", (execution.id, rows.given_text(execution)))
    return Lease(execution.id, server, 1)


def _refuse_request(execution: NewExecution) -> Transaction[None]:
    found = yield Statement(
        "SELECT id, request_digest FROM executions WHERE owner = $1 AND request_key = $2",
        (execution.owner, execution.request_key),
    )
    earlier, digest = found[0]
    if digest == execution.request_digest:
        message = f"this request was made before: see execution {earlier}"
        raise RequestRepeated(message, execution=earlier)
    message = f"the idempotency key was used for another request, execution {earlier}; use a new key for a new request"
    raise RequestConflict(message, execution=earlier)


_STORED = (
    "id, given, status, server, lease_until_us, created_us, updated_us, ended_us, {outcome} FROM executions"
    " JOIN contents ON contents.execution = executions.id"
)


def get(execution: str) -> Transaction[StoredExecution]:
    """See `Journal.get`."""
    found = yield Statement(f"SELECT {_STORED.format(outcome='outcome')} WHERE id = $1", (execution,))
    if not found:
        raise ExecutionNotFound(execution)
    return rows.stored(found[0])


def list_executions(owner: str, status: str, limit: int, before: str) -> Transaction[tuple[StoredExecution, ...]]:
    """See `Journal.list`; "" stands for every owner, every status, and the newest."""
    found = yield Statement(
        f"SELECT owner, {_STORED.format(outcome='NULL')} WHERE ($1 = '' OR owner = $1) AND ($2 = '' OR status = $2)"
        " AND ($3 = '' OR (created_us, id) < (SELECT created_us, id FROM executions WHERE id = $3))"
        " ORDER BY created_us DESC, id DESC LIMIT $4",
        (owner, status, before, limit),
    )
    return tuple(rows.listed(row) for row in found)


def claim(execution: str, server: str, lease_s: float, is_dead: IsDead) -> Transaction[Lease]:
    """See `Journal.claim`."""
    now = yield from _now()
    found = yield Statement(
        "SELECT status, server, lease_until_us, generation FROM executions WHERE id = $1", (execution,)
    )
    if not found:
        raise ExecutionNotFound(execution)
    status, holder, until_us, generation = found[0]
    if status not in OPEN:
        message = f"execution {execution} has ended: {status}"
        raise ExecutionEnded(message, execution=execution)
    if holder and until_us > now and not is_dead(holder):
        raise _held(execution, holder)
    taken = yield Statement(
        "UPDATE executions SET status = 'running', server = $1, lease_until_us = $2, generation = generation + 1,"
        " updated_us = $3 WHERE id = $4 AND generation = $5 AND status = $6 RETURNING generation",
        (server, now + int(lease_s * _SECOND_US), now, execution, generation, status),
    )
    if not taken:
        raise _held(execution, "another server, which was first")
    return Lease(execution, server, taken[0][0])


def orphans(is_dead: IsDead) -> Transaction[tuple[str, ...]]:
    """See `Journal.orphans`."""
    now = yield from _now()
    found = yield Statement(
        "SELECT id, server, lease_until_us FROM executions WHERE status IN ('queued', 'running')"
        " ORDER BY created_us, id"
    )
    return tuple(one for one, server, until_us in found if until_us <= now or not server or is_dead(server))


def renew(executions: Collection[str], server: str, lease_s: float) -> Transaction[frozenset[str]]:
    """See `Journal.renew`."""
    now = yield from _now()
    held: list[str] = []
    for execution in sorted(executions):
        found = yield Statement(
            "UPDATE executions SET lease_until_us = $1 WHERE id = $2 AND server = $3 RETURNING id",
            (now + int(lease_s * _SECOND_US), execution, server),
        )
        held.extend(row[0] for row in found)
    return frozenset(held)


#: An entry's place is the number of its execution and its own sequence number in one: its whole key, and a short one,
#: by which entries of one execution stand together.
_SEQUENCE = 0xFFFFFFFF
_MINE = "place BETWEEN number << 32 AND (number + 1) << 32"
_LAST = f"coalesce((SELECT max(place) FROM entries WHERE {_MINE}), number << 32)"
_HELD = f"SELECT {_LAST} FROM executions WHERE id = $1 AND generation = $2 AND server = $3"


def append(writes: Sequence[tuple[Lease, Sequence[Line]]]) -> Transaction[list[int | LeaseLost]]:
    """See `Journal.append`, for several at once; a lease that was lost is told in its place, the others are kept.

    For a database that lets nobody else write meanwhile; PostgreSQL has a statement of its own.
    """
    now = yield from _now()
    lasts: dict[Lease, int | None] = {}
    results: list[int | LeaseLost] = []
    lines: list[tuple[Any, ...]] = []
    blobs: list[tuple[Any, ...]] = []
    for lease, written in writes:
        if lease not in lasts:
            held = yield Statement(_HELD, (lease.execution, lease.generation, lease.server))
            lasts[lease] = held[0][0] if held else None
        place = lasts[lease]
        if place is None:
            results.append(lost(lease))
            continue
        for kind, content, value in written:
            place += 1
            if value is not None and len(value) > SPILL_BYTES:
                blobs.append((place, value))
                value = None
            lines.append((place, kind, now, content, value))
        lasts[lease] = place
        results.append(place & _SEQUENCE)
    if lines:
        yield Statements("INSERT INTO entries VALUES ($1, $2, $3, $4, $5)", tuple(lines))
    if blobs:
        yield Statements("INSERT INTO blobs VALUES ($1, $2)", tuple(blobs))
    return results


def read(execution: str, after: int, *, values: bool) -> Transaction[tuple[JournalEntry, ...]]:
    """See `Journal.read`."""
    value = "COALESCE(entries.value, blobs.value)" if values else "NULL"
    join = " LEFT JOIN blobs USING (place)" if values else ""
    found = yield Statement(
        f"SELECT place - (number << 32), kind, at_us, content, {value} FROM executions JOIN entries ON {_MINE}{join}"
        " WHERE id = $1 AND place > (number << 32) + $2 ORDER BY place",
        (execution, after),
    )
    return tuple(rows.entry(row, execution) for row in found)


def pause(lease: Lease, pending: Sequence[PendingCall], outcome: Any) -> Transaction[None]:
    """See `Journal.pause`."""
    now = yield from _give_back(lease, "paused", outcome)
    yield Statements(
        "INSERT INTO questions VALUES ($1, $2, $3, $4, $5, $6, '', '{}', 0) ON CONFLICT (id) DO NOTHING",
        tuple((call.id, lease.execution, now, call.digest, call.kind, rows.asked_text(call)) for call in pending),
    )


def finish(lease: Lease, status: ExecutionStatus, outcome: Any) -> Transaction[None]:
    """See `Journal.finish`."""
    yield from _give_back(lease, status, outcome)


def _give_back(lease: Lease, status: ExecutionStatus, outcome: Any) -> Transaction[int]:
    now = yield from _now()
    ended_us = 0 if status in OPEN else now
    given = yield Statement(
        "UPDATE executions SET status = $1, server = '', lease_until_us = 0, updated_us = $2, ended_us = $3"
        " WHERE id = $4 AND generation = $5 AND server = $6 RETURNING id",
        (status, now, ended_us, lease.execution, lease.generation, lease.server),
    )
    if not given:
        raise lost(lease)
    yield Statement(
        "UPDATE contents SET outcome = $1 WHERE execution = $2", (rows.outcome_text(outcome), lease.execution)
    )
    return now


_QUESTION = "questions.id, execution, asked_us, digest, kind, asked, verdict, answer, decided_us"


def pending(execution: str, *, unanswered: bool) -> Transaction[tuple[PendingCall, ...]]:
    """See `Journal.pending`."""
    condition = "verdict = '' AND status = 'paused' AND " if unanswered else ""
    found = yield Statement(
        f"SELECT {_QUESTION} FROM questions JOIN executions ON executions.id = execution"
        f" WHERE {condition}($1 = '' OR execution = $1) ORDER BY asked_us, questions.id",
        (execution,),
    )
    read = rows.pending_call if execution else rows.listed_call
    return tuple(read(row) for row in found)


def decide(decisions: Sequence[Decision]) -> Transaction[tuple[PendingCall, ...]]:
    """See `Journal.decide`."""
    now = yield from _now()
    answered = []
    for decision in decisions:
        execution = yield from _require_open_question(decision)
        taken = yield Statement(
            "UPDATE questions SET verdict = $1, answer = $2, decided_us = $3 WHERE questions.id = $4 AND verdict = ''"
            f" RETURNING {_QUESTION}",
            (decision.verdict, rows.answer_text(decision), now, decision.id),
        )
        if not taken:
            raise _refused(decision, "it has been answered already", execution)
        call = rows.pending_call(taken[0])
        data = {"question": call.id, "verdict": call.verdict, "by": call.by}
        if not (yield from _note(execution, JournalEntry("decided", call.path, data), "paused", now)):
            raise _refused(decision, "its execution is not paused any more", execution)
        answered.append(call)
    return tuple(answered)


def _require_open_question(decision: Decision) -> Transaction[str]:
    """The execution that a decision is about. Raises ApprovalRefused where there is no such question."""
    found = yield Statement(
        "SELECT execution, digest, kind, verdict, status FROM questions JOIN executions ON executions.id = execution"
        " WHERE questions.id = $1",
        (decision.id,),
    )
    if not found:
        raise _refused(decision, "there is no such question", "")
    execution, digest, kind, verdict, status = found[0]
    if verdict:
        raise _refused(decision, f"it has been answered already: {verdict}", execution)
    if status != "paused":
        raise _refused(decision, f"its execution is {status}, not paused", execution)
    if digest != decision.digest:
        raise _refused(decision, "it was given for other arguments; look at the call again", execution)
    if decision.verdict not in VERDICTS[kind]:
        raise _refused(decision, f"it can be answered by {', '.join(VERDICTS[kind])}", execution)
    return str(execution)


def _note(execution: str, entry: JournalEntry, status: ExecutionStatus, now: int) -> Transaction[bool]:
    """Append an entry from outside to an execution that nobody holds; whether it has that status.

    The first statement locks it. What another has appended meanwhile is seen by the next one alone (READ COMMITTED).
    """
    mine = yield Statement(
        "UPDATE executions SET updated_us = $1 WHERE id = $2 AND status = $3 RETURNING id", (now, execution, status)
    )
    if mine:
        last = yield Statement(f"SELECT {_LAST} FROM executions WHERE id = $1", (execution,))
        kind, content, value = rows.line(entry)
        yield Statement("INSERT INTO entries VALUES ($1, $2, $3, $4, $5)", (last[0][0] + 1, kind, now, content, value))
    return bool(mine)


def expire(retention: Retention) -> Transaction[tuple[str, ...]]:
    """End some of the paused executions that have waited too long; returns their ids."""
    now = yield from _now()
    found = yield Statement(
        "SELECT id FROM executions WHERE status = 'paused' AND updated_us <= $1 ORDER BY updated_us LIMIT $2",
        (now - int(retention.paused_s * _SECOND_US), BATCH),
    )
    expired = []
    for (execution,) in found:
        if (yield from _note(execution, JournalEntry("expired"), "paused", now)):
            yield Statement("UPDATE executions SET status = 'expired', ended_us = $1 WHERE id = $2", (now, execution))
            expired.append(execution)
    return tuple(expired)


def remove(retention: Retention) -> Transaction[int]:
    """Remove some of the ended executions that are too old or too many; returns how many."""
    now = yield from _now()
    old = yield Statement(
        f"SELECT id FROM executions WHERE {_ENDED} AND ended_us <= $1 LIMIT $2",
        (now - int(retention.age_s * _SECOND_US), BATCH),
    )
    many = yield Statement(
        f"SELECT id FROM executions WHERE {_ENDED} ORDER BY ended_us DESC LIMIT $1 OFFSET $2",
        (BATCH, retention.count),
    )
    doomed = tuple({row[0]: (row[0],) for row in (*old, *many)}.values())
    for statement in _REMOVE:
        yield Statements(statement, doomed)
    return len(doomed)


_OF_ONE = f"WHERE place IN (SELECT place FROM executions JOIN {{}} ON {_MINE} WHERE id = $1)"
_REMOVE = (
    f"DELETE FROM entries {_OF_ONE.format('entries')}",
    f"DELETE FROM blobs {_OF_ONE.format('blobs')}",
    "DELETE FROM questions WHERE execution = $1",
    "DELETE FROM contents WHERE execution = $1",
    "DELETE FROM executions WHERE id = $1",
)


def _held(execution: str, holder: str) -> LeaseHeld:
    message = f"execution {execution} is being worked on by {holder}; ask again when it has ended or paused"
    return LeaseHeld(message, execution=execution)


def lost(lease: Lease) -> LeaseLost:
    """The error of a server that writes to what another has taken over."""
    message = f"execution {lease.execution} is no longer held by {lease.server}; nothing was recorded"
    return LeaseLost(message, execution=lease.execution)


def _refused(decision: Decision, why: str, execution: str) -> ApprovalRefused:
    return ApprovalRefused(f"the answer to {decision.id} is refused: {why}", execution=execution)
