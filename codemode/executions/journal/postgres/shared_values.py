"""Shared values as rows of a PostgreSQL journal. See `sql.transactions` for the form.

A seal binds a value to its project, name and version, so that nobody without the journal's key can add a server key. It
does not reveal that a row was restored to an earlier state. Logins at upstream services are encrypted as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from codemode.executions.journal.encryption import decrypted, encrypted
from codemode.executions.journal.sql.statements import Statement, Transaction
from codemode.executions.types.records import readable

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from codemode.executions.journal.seals import Seals
    from codemode.executions.journal.sql.tables import Carry
    from codemode.shared.values import Kind

#: The channel on which changes are announced, without a payload.
CHANNEL = "codemode_shared"

#: The kinds of values that are encrypted.
SECRET = frozenset(("tokens", "sessions", "feedback"))


class Stored(NamedTuple):
    """A value and its version, counted from 1."""

    version: int
    data: bytes


class SharedValues:
    """The shared values of a project. Methods raise JournalUnavailable, and JournalDamaged for one changed by hand."""

    def __init__(self, carry: Carry, look: Carry, seals: Seals) -> None:
        self._carry = carry
        self._look = look
        self._seals = seals

    async def read(self, kind: Kind, name: str) -> Stored | None:
        """Return a value, None if there is none."""
        return await self._look(_read(self._seals, kind, name))

    async def versions(self, kinds: Collection[str]) -> dict[tuple[Kind, str], int]:
        """Return the versions of all values of some kinds, by kind and name."""
        return await self._look(_versions(self._seals.project, kinds))

    def lock_name(self, kind: Kind, name: str) -> str:
        """Return the name of the lock of one server at a time; see `LockableValue.try_lock`."""
        return f"{CHANNEL} {self._seals.project} {kind} {name} in use"

    async def change(self, kind: Kind, name: str, function: Callable[[bytes | None], bytes | None]) -> None:
        """Replace a value by what `function` returns for it, None to leave it. Other changes of the value wait."""
        await self._carry(_change(self._seals, kind, name, function))


def _read(seals: Seals, kind: Kind, name: str) -> Transaction[Stored | None]:
    rows = yield Statement(
        "SELECT version, value, seal FROM shared WHERE project = $1 AND kind = $2 AND name = $3",
        (seals.project, kind, name),
    )
    if not rows:
        return None
    version, value, seal = int(rows[0][0]), bytes(rows[0][1]), bytes(rows[0][2])
    with readable(f"the value {name!r}" if name else "the value", kind):
        seals.require(seal, *_sealed(seals.project, kind, name, version, value))
        return Stored(version, decrypted(seals.key, value) if kind in SECRET else value)


def _versions(project: str, kinds: Collection[str]) -> Transaction[dict[tuple[Kind, str], int]]:
    rows = yield Statement(
        "SELECT kind, name, version FROM shared WHERE project = $1 AND kind = ANY($2)", (project, list(kinds))
    )
    return {(kind, name): version for kind, name, version in rows}


def _change(seals: Seals, kind: Kind, name: str, function: Callable[[bytes | None], bytes | None]) -> Transaction[None]:
    lock = f"{CHANNEL} {seals.project} {kind} {name}"
    yield Statement("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", (lock,))
    known = yield from _read(seals, kind, name)
    data = function(None if known is None else known.data)
    if data is None or (known is not None and known.data == data):
        return
    version = 1 if known is None else known.version + 1
    value = encrypted(seals.key, data) if kind in SECRET else data
    seal = seals.seal(*_sealed(seals.project, kind, name, version, value))
    yield Statement(
        "INSERT INTO shared VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (project, kind, name)"
        " DO UPDATE SET version = excluded.version, value = excluded.value, seal = excluded.seal",
        (seals.project, kind, name, version, value, seal),
    )
    yield Statement("SELECT pg_notify($1, ''), set_config('synchronous_commit', 'on', true)", (CHANNEL,))


def _sealed(project: str, kind: str, name: str, version: int, value: bytes) -> tuple[bytes, str, str, str, int, bytes]:
    return b"shared", project, kind, name, version, value
