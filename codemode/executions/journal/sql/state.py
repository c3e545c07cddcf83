"""The stored values of conversations, in the journal's store. See `transactions` for the form.

A write is fenced by the lease of the execution that makes it. The table `stores` holds the calls whose write took
effect, so that a call which is repeated after a crash writes nothing again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from codemode.executions.journal.sql.space import BATCH
from codemode.executions.journal.sql.statements import Statement, Transaction, now_us
from codemode.executions.journal.sql.transactions import lost
from codemode.executions.types.records import readable
from codemode.executions.types.state_values import StateKey, StoredValue, size_of

if TYPE_CHECKING:
    from codemode.executions.journal.seals import Seals
    from codemode.executions.types.records import Lease
    from codemode.executions.types.state_values import StateWrite

_SECOND_US = 1_000_000


def store(seals: Seals, lease: Lease, path: str, write: StateWrite) -> Transaction[int]:
    """See `StateTable.store_state`."""
    now = yield from now_us()
    held = yield Statement(  # the update locks the row against a takeover
        "UPDATE executions SET server = server WHERE id = $1 AND generation = $2 AND server = $3 RETURNING id",
        (lease.execution, lease.generation, lease.server),
    )
    if not held:
        raise lost(lease)
    done = yield Statement("SELECT 1 FROM stores WHERE execution = $1 AND path = $2", (lease.execution, path))
    if done:
        return 0
    others = yield from _bytes_of_others(seals.project, write.key, now)
    excess = others + size_of(write.value) - write.owner_bytes
    if excess > 0:
        return excess
    yield Statement("INSERT INTO stores VALUES ($1, $2)", (lease.execution, path))
    expires_us = now + int(write.keep_s * _SECOND_US)
    row = (seals.project, *write.key)
    yield Statement(
        "INSERT INTO state VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (project, owner, conversation, name)"
        " DO UPDATE SET value = excluded.value, bytes = excluded.bytes, expires_us = excluded.expires_us,"
        " seal = excluded.seal",
        (*row, write.value, size_of(write.value), expires_us, _seal(seals, write.key, expires_us, write.value)),
    )
    return 0


def _bytes_of_others(project: str, key: StateKey, now: int) -> Transaction[int]:
    """Return the bytes of an owner's other values."""
    sums = yield Statement(
        "SELECT coalesce(sum(bytes), 0) FROM state WHERE project = $1 AND owner = $2"
        " AND NOT (conversation = $3 AND name = $4) AND expires_us > $5",
        (project, *key, now),
    )
    return int(sums[0][0])


def load(seals: Seals, key: StateKey) -> Transaction[bytes | None]:
    """Return a value as JSON, None if there is none. Raises JournalDamaged if it was changed by hand."""
    now = yield from now_us()
    found = yield Statement(
        "SELECT value, expires_us, seal FROM state WHERE project = $1 AND owner = $2 AND conversation = $3"
        " AND name = $4 AND expires_us > $5",
        (seals.project, *key, now),
    )
    if not found:
        return None
    value, expires_us, seal = bytes(found[0][0]), int(found[0][1]), bytes(found[0][2])
    with readable(f"the stored value {key.name!r}", "a conversation"):
        seals.require(seal, b"state", seals.project, *key, expires_us, value)
    return value


def names(seals: Seals, owner: str, conversation: str) -> Transaction[tuple[str, ...]]:
    """Return the names of a conversation's values, in order."""
    now = yield from now_us()
    found = yield Statement(
        "SELECT name FROM state WHERE project = $1 AND owner = $2 AND conversation = $3 AND expires_us > $4"
        " ORDER BY name",
        (seals.project, owner, conversation, now),
    )
    return tuple(row[0] for row in found)


def list_values(project: str, owner: str, conversation: str, limit: int) -> Transaction[tuple[StoredValue, ...]]:
    """Return the newest values without their JSON, of an owner and of a conversation; "" for all of them."""
    now = yield from now_us()
    found = yield Statement(
        "SELECT owner, conversation, name, bytes, expires_us FROM state WHERE project = $1 AND expires_us > $2"
        " AND (owner = $3 OR $4 = 1) AND (conversation = $5 OR $6 = 1) ORDER BY expires_us DESC, name LIMIT $7",
        (project, now, owner, int(not owner), conversation, int(not conversation), limit),
    )
    return tuple(StoredValue(StateKey(*row[:3]), int(row[3]), int(row[4])) for row in found)


def remove(project: str, owner: str, conversation: str) -> Transaction[int]:
    """Remove the values of a conversation. Return their number."""
    removed = yield Statement(
        "DELETE FROM state WHERE project = $1 AND owner = $2 AND conversation = $3 RETURNING name",
        (project, owner, conversation),
    )
    return len(removed)


def remove_expired(project: str) -> Transaction[int]:
    """Remove some expired values. Return their number."""
    now = yield from now_us()
    removed = yield Statement(
        "DELETE FROM state WHERE project = $1 AND (owner, conversation, name) IN (SELECT owner, conversation, name"
        " FROM state WHERE project = $1 AND expires_us <= $2 ORDER BY expires_us LIMIT $3) RETURNING name",
        (project, now, BATCH),
    )
    return len(removed)


def _seal(seals: Seals, key: StateKey, expires_us: int, value: bytes) -> bytes:
    return seals.seal(b"state", seals.project, *key, expires_us, value)
