"""A journal in memory, which can be taken out as bytes and restored elsewhere."""

from __future__ import annotations

import secrets
import sqlite3
from typing import TYPE_CHECKING

from codemode.errors import JournalUnavailable, LeaseLost
from codemode.executions.journal.sql import rows, transactions
from codemode.executions.journal.sql.group import Write
from codemode.executions.journal.sql.journal import EXPIRE_S, SqlJournal
from codemode.executions.journal.sql.preparing import prepare
from codemode.executions.journal.sql.schema import plan_of
from codemode.executions.journal.sqlite.transactions import carry_out

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codemode.executions.journal.key import DigestKey
    from codemode.executions.journal.migrations import MigrationPlan
    from codemode.executions.journal.sql.statements import Result, Transaction
    from codemode.executions.types.records import JournalEntry, Lease

#: A lease never runs out: there are no other servers.
_FOREVER_S = 365 * 24 * 3600.0

#: The smallest page. An image has a page for each table and index.
_PAGE_BYTES = 512


class MemoryJournal(SqlJournal):
    """A `codemode.executions.journal.base.Journal` of one server. `image` is an earlier journal's, of the same key."""

    def __init__(self, key: DigestKey, *, project: str = "", image: bytes = b"", expire_s: float = EXPIRE_S) -> None:
        super().__init__(key, f"memory-{secrets.token_hex(6)}", _FOREVER_S, project, None, expire_s)
        self._image = image
        self._database: sqlite3.Connection | None = None

    async def open(self) -> None:
        """See `Journal.open`. Raises JournalUnavailable for an image that is none."""
        database = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        try:
            database.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
            if self._image:
                database.deserialize(self._image)
            carry_out(database, prepare("sqlite", self._seals, "in memory"))
        except BaseException as error:
            database.close()
            if isinstance(error, sqlite3.Error):
                raise _unavailable(error) from error
            raise
        self._database, self._image = database, b""

    async def aclose(self) -> None:
        """See `Journal.aclose`."""
        if self._database is not None:
            self._database.close()
            self._database = None

    async def migration_plan(self) -> MigrationPlan:
        """See `StoredJournal.migration_plan`."""
        return await self._read(plan_of("sqlite", "in memory", self._seals.project))

    async def append(self, lease: Lease, entries: Sequence[JournalEntry], *, at_once: bool = False) -> int:
        """See `Journal.append`."""
        write = Write(lease, [rows.line(entry) for entry in entries])
        if not entries:
            held = await self._write(transactions.held(self._seals, lease))
            if held is None:
                raise transactions.lost(lease)
            return held[0] & transactions.SEQUENCE
        (result,) = await self._write(transactions.append(self._seals, [write]))
        if isinstance(result, LeaseLost):
            raise result
        return result

    def image(self) -> bytes:
        """Return the whole journal. No secret of the caller is in it, but the program, its calls and their answers."""
        database = self._opened()
        database.execute("VACUUM")
        return database.serialize()

    async def _write(self, transaction: Transaction[Result]) -> Result:
        try:
            return carry_out(self._opened(), transaction)
        except sqlite3.Error as error:
            raise _unavailable(error) from error

    async def _read(self, transaction: Transaction[Result]) -> Result:
        return await self._write(transaction)

    async def _give_back_space(self) -> bool:
        return False

    def _opened(self) -> sqlite3.Connection:
        if self._database is None:
            raise JournalUnavailable("the journal in memory is closed; nothing was recorded")
        return self._database


def _unavailable(error: sqlite3.Error) -> JournalUnavailable:
    return JournalUnavailable(f"the journal in memory cannot be used: {error}; nothing was recorded")
