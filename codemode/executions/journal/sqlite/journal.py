"""The journal in one SQLite file, for any number of processes on one machine.

Appends, and the starts and ends of executions, run on the event loop, because a transaction takes less time than a
handover to a thread. A thread writes instead if another process has locked the file, if there is much to write, or if
writes must survive a power cut; later appends then wait for it. Everything else runs in a thread on a connection of its
own.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codemode.errors import JournalUnavailable
from codemode.executions.journal.sql import transactions
from codemode.executions.journal.sql.group import GroupCommit
from codemode.executions.journal.sql.journal import EXPIRE_S, SqlJournal
from codemode.executions.journal.sql.preparing import prepare
from codemode.executions.journal.sql.schema import plan_of
from codemode.executions.journal.sqlite.presence import Presence
from codemode.executions.journal.sqlite.structure import damages, identity
from codemode.executions.journal.sqlite.transactions import carry_out

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from codemode.executions.journal.key import DigestKey
    from codemode.executions.journal.migrations import MigrationPlan
    from codemode.executions.journal.sql.group import Write, Written
    from codemode.executions.journal.sql.space import Bounds
    from codemode.executions.journal.sql.statements import Result, Transaction
    from codemode.executions.journal.sqlite.structure import Depth
    from codemode.executions.types.records import JournalEntry, Lease, PruneResult, Retention
    from codemode.settings.journal import Durability

log = logging.getLogger(__name__)

#: Time limit for other processes' locks, in seconds. A server's lock takes milliseconds.
PATIENCE_S = 10.0

#: Largest append on the event loop, in bytes: about a millisecond's work.
AT_ONCE_BYTES = 256 * 1024


#: Free pages kept in the file for reuse, and pages returned per step.
SPARE_PAGES = 1024
_VACUUM_PAGES = 256
_INCREMENTAL = 2


class SqliteJournal(SqlJournal):
    """A journal in `file`, created with mode 0600 in a folder with mode 0700.

    Without `migrates`, opening a store of an earlier version raises ConfigurationError.
    """

    def __init__(
        self,
        file: Path,
        key: DigestKey,
        *,
        lease_s: float,
        durability: Durability = "process",
        project: str = "",
        bounds: Bounds | None = None,
        expire_s: float = EXPIRE_S,
        migrates: bool = True,
    ) -> None:
        self._presence = Presence(Path(f"{file}-servers"))
        super().__init__(key, self._presence.name, lease_s, project, bounds, expire_s)
        self._file = file
        self._durability = durability
        self._migrates = migrates
        self._group = GroupCommit(self._append_at_once, self._append_in_time)
        self._thread = ThreadPoolExecutor(1, "journal")
        self._connections: list[sqlite3.Connection] = []
        self._identity: tuple[int, int] | None = None
        self._lost = ""

    async def open(self) -> None:
        """See `Journal.open`."""
        try:
            await self._in_thread(self._open)
        except BaseException:
            await self._in_thread(self._close)  # keep the thread for a later open
            raise

    async def migration_plan(self) -> MigrationPlan:
        """See `StoredJournal.migration_plan`."""
        try:
            return await asyncio.to_thread(_migration_plan, self._file, self._seals.project)
        except sqlite3.Error as error:
            raise self._unavailable(_reason(error)) from error

    async def aclose(self) -> None:
        """See `Journal.aclose`."""
        await self._group.drain()
        if self._connections:
            await self._in_thread(self._close)
        self._thread.shutdown()

    async def append(self, lease: Lease, entries: Sequence[JournalEntry], *, at_once: bool = False) -> int:
        """See `Journal.append`."""
        return await self._group.add(lease, entries, at_once=at_once)

    async def prune(self, retention: Retention) -> PruneResult:
        """See `Journal.prune`. Afterwards, check for damage, to report it before the damaged pages are needed."""
        pruned = await super().prune(retention)
        damage = await self._damages("quick_check", 1)
        if damage:
            self._lose(f"it is damaged ({damage[0]}): stop all servers, run `codemode journal check`, restore a backup")
            self._require_usable()
        return pruned

    async def damages(self) -> tuple[str, ...]:
        """See `StoredJournal.damages`."""
        return await self._damages("integrity_check", 20)

    async def _damages(self, depth: Depth, most: int) -> tuple[str, ...]:
        try:
            return await damages(self._file, depth, most)
        except sqlite3.Error as error:
            raise self._unavailable(_reason(error)) from error

    # Methods below run in the thread unless their docstring says otherwise.

    def _open(self) -> None:
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._file.touch(mode=0o600)
            self._file.chmod(0o600)
            self._desk = self._connect(PATIENCE_S)
            self._desk.execute("PRAGMA auto_vacuum = INCREMENTAL")  # takes effect in a new file
            _use_write_ahead_file(self._desk)
            carry_out(self._desk, prepare("sqlite", self._seals, str(self._file), migrates=self._migrates))
            self._appender = self._connect(0.0)
            self._identity = identity(self._file)
            self._presence.announce()
        except OSError as error:
            raise self._unavailable(error.strerror or str(error)) from error
        except sqlite3.Error as error:
            raise self._unavailable(_reason(error)) from error

    def _close(self) -> None:
        while self._connections:
            self._connections.pop().close()
        self._presence.withdraw()

    def _connect(self, patience_s: float) -> sqlite3.Connection:
        connection = sqlite3.connect(self._file, timeout=patience_s, isolation_level=None, check_same_thread=False)
        self._connections.append(connection)
        level = "FULL" if self._durability == "power" else "NORMAL"
        connection.execute(f"PRAGMA synchronous = {level}")
        return connection

    def _is_dead(self, server: str) -> bool:
        return self._presence.is_dead(server)

    async def _in_thread(self, function: Any, *arguments: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._thread, partial(function, *arguments))

    async def _write(self, transaction: Transaction[Result]) -> Result:
        return await self._in_thread(self._carry_out, transaction, "IMMEDIATE")  # type: ignore[no-any-return]

    async def _write_briefly(self, begin: Callable[[], Transaction[Result]]) -> Result:
        """Execute a short transaction on the event loop, or in the thread if that would block."""
        if self._durability == "power" or self._group.is_in_thread:
            return await self._write(begin())
        self._require_same_file()
        result = self._at_once(begin)
        return await self._write(begin()) if result is None else result

    async def _read(self, transaction: Transaction[Result]) -> Result:
        return await self._in_thread(self._carry_out, transaction, "DEFERRED")  # type: ignore[no-any-return]

    def _carry_out(self, transaction: Transaction[Result], mode: str) -> Result:
        self._require_same_file()
        try:
            return carry_out(self._desk, transaction, mode)
        except sqlite3.Error as error:
            raise self._unavailable(_reason(error)) from error

    async def _give_back_space(self) -> bool:
        """Return pages. A file of an earlier version only reuses its free pages."""
        return await self._in_thread(self._vacuum)  # type: ignore[no-any-return]

    def _vacuum(self) -> bool:
        """Return some free pages to the file system. Return whether more than the spare pages are left."""
        try:
            (kind,) = self._desk.execute("PRAGMA auto_vacuum").fetchone()
            (free,) = self._desk.execute("PRAGMA freelist_count").fetchone()
            if kind != _INCREMENTAL or free <= SPARE_PAGES:
                return False
            self._desk.execute(f"PRAGMA incremental_vacuum({_VACUUM_PAGES})").fetchall()
        except sqlite3.Error as error:
            raise self._unavailable(_reason(error)) from error
        return True

    def _lose(self, why: str) -> None:
        """Reject all operations from now on: writes would be lost, and reads may be wrong."""
        self._lost = why
        log.error("%s", self._unavailable(why))

    def _require_same_file(self) -> None:
        if not self._lost and identity(self._file) != self._identity:
            self._lose("it was deleted or replaced while this server had it open: stop all servers, then restore it")
        self._require_usable()

    def _require_usable(self) -> None:
        if self._lost:
            raise self._unavailable(self._lost)

    def _append_at_once(self, writes: Sequence[Write]) -> Written | None:
        """Append on the event loop. Return None if that would block."""
        self._require_usable()
        size = sum(len(value) for write in writes for _, _, value in write.lines if value)
        if self._durability == "power" or size > AT_ONCE_BYTES:
            return None
        return self._at_once(partial(transactions.append, self._seals, writes))

    def _at_once(self, begin: Callable[[], Transaction[Result]]) -> Result | None:
        """Execute a transaction on the event loop. Return None if another connection holds the lock."""
        try:
            return carry_out(self._appender, begin())
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY:
                return None
            raise self._unavailable(_reason(error)) from error
        except sqlite3.Error as error:
            raise self._unavailable(_reason(error)) from error

    async def _append_in_time(self, writes: Sequence[Write]) -> Written:
        """Append in a thread, and wait for it on the event loop."""
        return await asyncio.to_thread(self._append_patiently, writes)

    def _append_patiently(self, writes: Sequence[Write]) -> Written:
        self._require_usable()
        try:
            self._appender.execute(f"PRAGMA busy_timeout = {int(PATIENCE_S * 1000)}")
            try:
                return carry_out(self._appender, transactions.append(self._seals, writes))
            finally:
                self._appender.execute("PRAGMA busy_timeout = 0")
        except sqlite3.Error as error:
            raise self._unavailable(_reason(error)) from error

    def _unavailable(self, why: str) -> JournalUnavailable:
        return JournalUnavailable(f"the journal {self._file} cannot be used: {why}; nothing was recorded")


def _migration_plan(file: Path, project: str) -> MigrationPlan:
    """Return what opening a file would migrate, without creating it. Raises sqlite3.Error."""
    place = f"{file.absolute().as_uri()}?mode=ro" if file.exists() else ":memory:"
    with closing(sqlite3.connect(place, uri=True, isolation_level=None)) as connection:
        return carry_out(connection, plan_of("sqlite", str(file), project), "DEFERRED")


def _use_write_ahead_file(connection: sqlite3.Connection) -> None:
    """Set WAL mode, once for the file. SQLite does not wait by itself when several processes do so."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL").fetchall()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return


_REASONS = {
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_BUSY: f"another process has held its lock for {PATIENCE_S:.0f} s",
    sqlite3.SQLITE_READONLY: "it is read-only",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened",
    sqlite3.SQLITE_NOTADB: "it is not a SQLite database",
    sqlite3.SQLITE_CORRUPT: "it is damaged",
    sqlite3.SQLITE_IOERR: "the disk cannot be read or written",
}


def _reason(error: sqlite3.Error) -> str:
    code = getattr(error, "sqlite_errorcode", 0)
    known = _REASONS.get(code & 0xFF)
    return f"{known} ({error})" if known else str(error)
