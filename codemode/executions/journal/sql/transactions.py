"""The transactions of a SQL journal, one function each, independent of the database.

A transaction is a generator: it yields a statement, receives the rows, and returns its result. An exception rolls it
back. SQLite executes it in one step, PostgreSQL across a network, and both share the rules for leases and decisions.
Parameters are numbered (`$1`). A conditional `UPDATE … RETURNING` decides which of several writers is first.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any

from codemode.errors import (
    ExecutionEnded,
    ExecutionNotFound,
    LeaseHeld,
    LeaseLost,
    RequestRepeated,
)
from codemode.executions.journal.sql import plans, rows
from codemode.executions.journal.sql.outbox import note_unknown
from codemode.executions.journal.sql.request_keys import conflict, require_unspent
from codemode.executions.journal.sql.space import BATCH, Bounds, add, require_room, settle
from codemode.executions.journal.sql.statements import Statement, Statements, Transaction, now_us
from codemode.executions.journal.sql.twins import require_no_twin
from codemode.executions.types.plan import PLAN
from codemode.executions.types.records import (
    OPEN,
    ExecutionStatus,
    JournalEntry,
    Lease,
    NewExecution,
    PendingCall,
    StoredExecution,
)
from codemode.text.times import has_passed

if TYPE_CHECKING:
    from codemode.executions.journal.seals import Seals
    from codemode.executions.journal.sql.group import Write

#: Values above this size are stored apart, so that one page holds many entries. One page of SQLite.
SPILL_BYTES = 4096

_SECOND_US = 1_000_000


IsDead = Callable[[str], bool]


def create(
    seals: Seals, execution: NewExecution, server: str, lease_s: float, bounds: Bounds, expire_us: int
) -> Transaction[Lease]:
    """See `Journal.create`."""
    now = yield from now_us()
    yield from require_no_twin(seals.project, execution, expire_us)
    named = (seals.project, execution.owner, execution.request_key, execution.request_digest)
    inserted = yield Statement(
        "INSERT INTO executions (id, project, owner, request_key, request_digest, status, server, lease_until_us,"
        " generation, created_us, updated_us, ended_us) VALUES ($1, $2, $3, $4, $5, 'running', $6, $7, 1, $8, $8, 0)"
        " ON CONFLICT (project, owner, request_key) WHERE request_key <> '' DO NOTHING RETURNING number",
        (execution.id, *named, server, now + int(lease_s * _SECOND_US), now),
    )
    if not inserted:
        yield from _refuse_request(seals.project, execution)
    if execution.request_key:
        yield from require_unspent(seals.project, execution)
    yield from require_room(seals.project, execution.owner, bounds)
    if PLAN in execution.settings:
        yield from plans.use(seals.project, execution.settings[PLAN]["id"], execution.id, now - expire_us)
    text = rows.given_text(execution)
    yield Statement(
        "INSERT INTO contents (execution, given, seal) VALUES ($1, $2, $3)",
        (execution.id, text, seals.seal(b"given", inserted[0][0], *named, text)),
    )
    return Lease(execution.id, server, 1)


def _refuse_request(project: str, execution: NewExecution) -> Transaction[None]:
    matching = yield Statement(
        "SELECT id, request_digest FROM executions WHERE project = $1 AND owner = $2 AND request_key = $3",
        (project, execution.owner, execution.request_key),
    )
    earlier, digest = matching[0]
    if digest == execution.request_digest:
        message = f"this request was already made: see execution {earlier}"
        raise RequestRepeated(message, execution=earlier)
    raise conflict(earlier)


_STORED = (
    "id, given, status, server, lease_until_us, created_us, updated_us, ended_us, {outcome}, contents.seal, number,"
    " project, owner, request_key, request_digest, outcome_seal, sealed_to,"
    " (SELECT seal FROM entries WHERE place = (number << 32) + sealed_to)"
    " FROM executions JOIN contents ON contents.execution = executions.id"
)


def get(seals: Seals, execution: str, expire_us: int) -> Transaction[StoredExecution]:
    """See `Journal.get`."""
    now = yield from now_us()
    matching = yield Statement(
        f"SELECT {_STORED.format(outcome='outcome')} WHERE id = $1 AND project = $2", (execution, seals.project)
    )
    if not matching:
        raise ExecutionNotFound(execution)
    return rows.at(now, rows.stored(matching[0], seals), expire_us)


#: Columns of a list: owner, size of the request, and those of `_STORED`, with the beginning of a large request alone.
_LISTED = "owner, length(given), " + _STORED.format(outcome="NULL").replace(
    " given,", f" CASE WHEN length(given) <= {rows.MOST_LISTED} THEN given ELSE substr(given, 1, {rows.HEAD}) END,", 1
)


def heads(seals: Seals, executions: Collection[str], expire_us: int) -> Transaction[dict[str, StoredExecution]]:
    """See `Journal.heads`."""
    now = yield from now_us()
    found: dict[str, StoredExecution] = {}
    for execution in executions:
        for row in (yield Statement(f"SELECT {_LISTED} WHERE id = $1 AND project = $2", (execution, seals.project))):
            found[execution] = rows.at(now, rows.listed(row, seals), expire_us)
    return found


def list_executions(
    seals: Seals, expire_us: int, owner: str, status: str, limit: int, before: str
) -> Transaction[tuple[StoredExecution, ...]]:
    """See `Journal.list`. An empty string means every owner, every status, or the newest."""
    now = yield from now_us()
    listed = yield Statement(
        f"SELECT {_LISTED} WHERE project = $5 AND ($1 = '' OR owner = $1)"
        " AND ($2 = '' OR CASE WHEN status = 'paused' AND updated_us <= $6 THEN 'expired' ELSE status END = $2)"
        " AND ($3 = '' OR (created_us, id) < (SELECT created_us, id FROM executions WHERE id = $3))"
        " ORDER BY created_us DESC, id DESC LIMIT $4",
        (owner, status, before, limit, seals.project, now - expire_us),
    )
    return tuple(rows.at(now, rows.listed(row, seals), expire_us) for row in listed)


def claim(
    project: str,
    execution: str,
    server: str,
    lease_s: float,
    is_dead: IsDead,
    *,
    expire_us: int,
    is_orphan: bool = False,
) -> Transaction[Lease]:
    """See `Journal.claim`."""
    now = yield from now_us()
    matching = yield Statement(
        "SELECT status, server, lease_until_us, generation, updated_us FROM executions WHERE id = $1 AND project = $2",
        (execution, project),
    )
    if not matching:
        raise ExecutionNotFound(execution)
    status, holder, until_us, generation, updated_us = matching[0]
    if status == "paused" and has_passed(updated_us + expire_us, now):
        status = "expired"
    if status not in OPEN:
        message = f"execution {execution} has ended: {status}"
        raise ExecutionEnded(message, execution=execution)
    if holder and until_us > now and not is_dead(holder):
        raise _held(execution, holder)
    if is_orphan and status == "paused":
        raise _held(execution, "another server, which has paused it")
    updated = yield Statement(
        "UPDATE executions SET status = 'running', server = $1, lease_until_us = $2, generation = generation + 1,"
        " updated_us = $3 WHERE id = $4 AND generation = $5 AND status = $6 RETURNING generation",
        (server, now + int(lease_s * _SECOND_US), now, execution, generation, status),
    )
    if not updated:
        raise _held(execution, "another server")
    return Lease(execution, server, updated[0][0])


def orphans(project: str, is_dead: IsDead) -> Transaction[tuple[str, ...]]:
    """See `Journal.orphans`."""
    now = yield from now_us()
    candidates = yield Statement(
        "SELECT id, server, lease_until_us FROM executions WHERE project = $1 AND status IN ('queued', 'running')"
        " ORDER BY created_us, id",
        (project,),
    )
    return tuple(id_ for id_, server, until_us in candidates if until_us <= now or not server or is_dead(server))


def renew(executions: Collection[str], server: str, lease_s: float) -> Transaction[frozenset[str]]:
    """See `Journal.renew`."""
    now = yield from now_us()
    held: list[str] = []
    for execution in sorted(executions):
        renewed = yield Statement(
            "UPDATE executions SET lease_until_us = $1 WHERE id = $2 AND server = $3 RETURNING id",
            (now + int(lease_s * _SECOND_US), execution, server),
        )
        held.extend(row[0] for row in renewed)
    return frozenset(held)


def release(executions: Collection[str], server: str) -> Transaction[None]:
    """See `Journal.release`."""
    for execution in sorted(executions):
        yield Statement(
            "UPDATE executions SET server = '', lease_until_us = 0 WHERE id = $1 AND server = $2 RETURNING id",
            (execution, server),
        )


#: An entry's place combines the number of its execution and its sequence number. It is a short primary key that keeps
#: the entries of one execution together.
SEQUENCE = 0xFFFFFFFF
_MINE = "place BETWEEN number << 32 AND (number + 1) << 32"
_LAST = f"coalesce((SELECT max(place) FROM entries WHERE {_MINE}), number << 32)"
_HELD = f"SELECT {_LAST} FROM executions WHERE id = $1 AND generation = $2 AND server = $3"
_SEAL = "SELECT coalesce((SELECT seal FROM entries WHERE place = $2), contents.seal) FROM contents WHERE execution = $1"


def held(seals: Seals, lease: Lease) -> Transaction[tuple[int, bytes] | None]:
    """Return the place and seal of an execution's last entry, None if the lease is lost."""
    last_places = yield Statement(_HELD, (lease.execution, lease.generation, lease.server))
    if not last_places:
        return None
    place, known = last_places[0][0], seals.lasts.get(lease)
    return known if known and known[0] == place else (place, (yield from _seal_at(lease.execution, place)))


def _seal_at(execution: str, place: int) -> Transaction[bytes]:
    """Return the seal of an entry, or that of the fixed facts before the first entry."""
    seal_rows = yield Statement(_SEAL, (execution, place))
    return bytes(seal_rows[0][0] or b"")


_ENTRY = "INSERT INTO entries (place, kind, at_us, content, value, seal) VALUES ($1, $2, $3, $4, $5, $6)"


def _last(execution: str, known: tuple[int, bytes] | None = None) -> Transaction[tuple[int, bytes]]:
    """Return the place and seal of the last entry of a locked execution. `known` saves reading the seal."""
    last_places = yield Statement(f"SELECT {_LAST} FROM executions WHERE id = $1", (execution,))
    place = last_places[0][0]
    return known if known and known[0] == place else (place, (yield from _seal_at(execution, place)))


def append(seals: Seals, writes: Sequence[Write]) -> Transaction[list[int | LeaseLost]]:
    """See `Journal.append`, for several leases. A lost lease is returned in its position; the other writes are kept.

    The database must exclude concurrent writes; PostgreSQL has its own statement.
    """
    now = yield from now_us()
    lasts: dict[Lease, tuple[int, bytes] | None] = {}
    results: list[int | LeaseLost] = []
    lines: list[tuple[Any, ...]] = []
    blobs: list[tuple[Any, ...]] = []
    for lease, written, _ in writes:
        if lease not in lasts:
            lasts[lease] = yield from held(seals, lease)
        last = lasts[lease]
        if last is None:
            results.append(lost(lease))
            continue
        place, seal = last
        for line in written:
            kind, content, value = line
            place += 1
            seal = seals.entry(seal, place & SEQUENCE, line)
            if value is not None and len(value) > SPILL_BYTES:
                blobs.append((place, value))
                value = None
            lines.append((place, kind, now, content, value, seal))
        lasts[lease] = (place, seal)
        results.append(place & SEQUENCE)
    if lines:
        yield Statements(_ENTRY, tuple(lines))
    if blobs:
        yield Statements("INSERT INTO blobs VALUES ($1, $2)", tuple(blobs))
    for lease, last in lasts.items():
        if last is not None:
            seals.lasts.remember(lease, last)
    return results


def read(
    seals: Seals, execution: str, after: int, *, values: bool, most: int | None
) -> Transaction[tuple[JournalEntry, ...]]:
    """See `Journal.read`. A read from the start with values compares each entry with its seal."""
    value = "COALESCE(entries.value, blobs.value)" if values else "NULL"
    join = " LEFT JOIN blobs USING (place)" if values else ""
    limit = "" if most is None else f" LIMIT {most:d}"
    entry_rows = yield Statement(
        f"SELECT place - (number << 32), kind, at_us, content, {value}, entries.seal, number FROM executions"
        f" JOIN entries ON {_MINE}{join} WHERE id = $1 AND project = $3 AND place > (number << 32) + $2 ORDER BY place"
        + limit,
        (execution, after, seals.project),
    )
    if entry_rows and values and not after and entry_rows[0][-1] > seals.sealed_from:
        before = yield from _seal_at(execution, 0)
        rows.require_chain(entry_rows, seals, before, execution)
    return tuple(rows.entry(row[:5], execution) for row in entry_rows)


def pause(
    seals: Seals, lease: Lease, pending: Sequence[PendingCall], outcome: Any, bounds: Bounds
) -> Transaction[bool]:
    """See `Journal.pause`. Return whether a bound is exceeded."""
    now, is_full = yield from _give_back(seals, lease, "paused", outcome, bounds)
    asked = [(call.id, lease.execution, now, call.digest, call.kind, rows.asked_text(call)) for call in pending]
    yield Statements(
        "INSERT INTO questions (id, execution, asked_us, digest, kind, asked, verdict, answer, decided_us, seal)"
        " VALUES ($1, $2, $3, $4, $5, $6, '', '{}', 0, $7) ON CONFLICT (id) DO NOTHING",
        tuple((*one, seals.seal(b"question", *one)) for one in asked),
    )
    return is_full


def finish(seals: Seals, lease: Lease, status: ExecutionStatus, outcome: Any, bounds: Bounds) -> Transaction[bool]:
    """See `Journal.finish`. Return whether a bound is exceeded."""
    now, is_full = yield from _give_back(seals, lease, status, outcome, bounds)
    yield from note_unknown(seals, lease.execution, outcome, now)
    return is_full


def _give_back(
    seals: Seals, lease: Lease, status: ExecutionStatus, outcome: Any, bounds: Bounds
) -> Transaction[tuple[int, bool]]:
    now = yield from now_us()
    ended_us = 0 if status in OPEN else now
    released = yield Statement(
        "UPDATE executions SET status = $1, server = '', lease_until_us = 0, updated_us = $2, ended_us = $3"
        " WHERE id = $4 AND generation = $5 AND server = $6 RETURNING id",
        (status, now, ended_us, lease.execution, lease.generation, lease.server),
    )
    if not released:
        raise lost(lease)
    confirmed = seals.lasts.get(lease)
    place, seal = yield from _last(lease.execution, confirmed)
    if confirmed is not None and place & SEQUENCE < confirmed[0] & SEQUENCE:
        raise forgotten(lease)
    text, sealed_to = rows.outcome_text(outcome), place & SEQUENCE
    of_last = seal if sealed_to else None
    yield Statement(
        "UPDATE contents SET outcome = $1, sealed_to = $2, outcome_seal = $3 WHERE execution = $4",
        (text, sealed_to, seals.outcome(lease.execution, sealed_to, of_last, status, text), lease.execution),
    )
    return now, (yield from settle(seals.project, lease.execution, bounds))


def note(seals: Seals, execution: str, entry: JournalEntry, status: ExecutionStatus, now: int) -> Transaction[bool]:
    """Append an outside entry to an execution without a lease. Return whether it has the given status.

    The first statement locks the row. Entries appended meanwhile are visible to the next statement only (READ
    COMMITTED).
    """
    mine = yield Statement(
        "UPDATE executions SET updated_us = $1 WHERE id = $2 AND status = $3 RETURNING id", (now, execution, status)
    )
    if mine:
        (place, before), line = (yield from _last(execution)), rows.line(entry)
        kind, content, value = line
        seal = seals.entry(before, (place + 1) & SEQUENCE, line)
        yield Statement(_ENTRY, (place + 1, kind, now, content, value, seal))
    return bool(mine)


def expire(seals: Seals, expire_us: int) -> Transaction[tuple[str, ...]]:
    """End some paused executions that have expired, so that they no longer take space. Return their ids."""
    now = yield from now_us()
    candidates = yield Statement(
        "SELECT id FROM executions WHERE project = $3 AND status = 'paused' AND updated_us <= $1"
        " ORDER BY updated_us LIMIT $2",
        (now - expire_us, BATCH, seals.project),
    )
    expired = []
    for (execution,) in candidates:
        if (yield from note(seals, execution, JournalEntry("expired"), "paused", now)):
            ended = yield Statement(
                "UPDATE executions SET status = 'expired', ended_us = $1 WHERE id = $2 RETURNING owner, bytes",
                (now, execution),
            )
            owner, size = ended[0]
            yield from add(seals.project, owner, -size, size)
            expired.append(execution)
    return tuple(expired)


def _held(execution: str, holder: str) -> LeaseHeld:
    message = f"execution {execution} is running on {holder}; try again when it has ended or paused"
    return LeaseHeld(message, execution=execution)


def forgotten(lease: Lease) -> LeaseLost:
    """Return the error for a write to an execution of which the store has lost entries that were confirmed."""
    why = f"the journal has lost confirmed entries of {lease.execution}, because its database crashed"
    return LeaseLost(f"{why}; nothing was recorded", execution=lease.execution)


def lost(lease: Lease) -> LeaseLost:
    """Return the error for a write to an execution that another server has taken over."""
    message = f"execution {lease.execution} is no longer held by {lease.server}; nothing was recorded"
    return LeaseLost(message, execution=lease.execution)
