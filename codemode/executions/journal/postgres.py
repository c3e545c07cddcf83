"""The journal in a PostgreSQL database that several servers share.

Timestamps come from the database, so the servers' clocks need not agree. With `process` durability, most commits do not
wait for the disk (`synchronous_commit = off`): a crash of the database may lose its last moments. The start of a write
without an idempotency key always waits, and so does everything recorded before it, because only the record shows that
the write was sent. With `power`, every commit waits.

Operations wait up to `OUTAGE_S` for an unavailable database.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import time
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import asyncpg

from codemode.errors import JournalUnavailable, LeaseLost
from codemode.executions.journal import transactions
from codemode.executions.journal.group import GroupCommit
from codemode.executions.journal.postgres_signals import PostgresSignals
from codemode.executions.journal.postgres_slots import PostgresSlots
from codemode.executions.journal.preparing import prepare
from codemode.executions.journal.shared import SharedValues
from codemode.executions.journal.sql import SqlJournal
from codemode.executions.journal.statements import Now, Statement, Statements
from codemode.transports.http.certificates import distrusted

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence

    from codemode.executions.journal.base import JournalEntry, Lease, Pruned, Retention
    from codemode.executions.journal.group import Write, Written
    from codemode.executions.journal.key import DigestKey
    from codemode.executions.journal.space import Bounds
    from codemode.executions.journal.statements import Result, Transaction
    from codemode.settings.journal import Durability

#: Connections per server: one for appends, the others for queries. One more receives notifications.
CONNECTIONS = 4

#: Hint for an unknown certificate authority of the database.
_AUTHORITY = "set `…?sslmode=verify-full&sslrootcert=FILE` in `journal.url` to its authority's certificate"

#: Time limit of one statement, and of connecting, in seconds.
PATIENCE_S = 10.0

#: Time limit of an outage, in seconds since it was noticed: enough for a restart or a failover.
OUTAGE_S = 20.0

#: Delay between two connection attempts, in seconds.
_RETRY_S = 0.1

#: Advisory lock that lets one server at a time prepare the database: "codemode" in ASCII.
_PREPARING = 0x636F64656D6F6465

#: Appends a group in one round trip. $1 to $3 are leases; the rows of those that still hold are locked against
#: takeover. Lines (lease position, kind, content, value, seal) are numbered in order. They are written only if $4, the
#: last entry that their seals follow, is still the last one. $11 sets whether this commit waits for the disk. Servers
#: that follow an execution are notified.
_APPEND = """
WITH held AS (
  SELECT lease, after, coalesce((SELECT max(place) FROM entries
    WHERE place BETWEEN number << 32 AND (number + 1) << 32), number << 32) AS last,
    CASE WHEN followed_until_us > (extract(epoch FROM clock_timestamp()) * 1000000)::bigint THEN id END AS followed
  FROM executions JOIN unnest($1::text[], $2::bigint[], $3::text[], $4::bigint[]) WITH ORDINALITY
    AS leases (execution, generation, server, after, lease) ON id = execution
  WHERE executions.generation = leases.generation AND executions.server = leases.server
  FOR UPDATE OF executions
), lines AS (
  SELECT last + row_number() OVER (PARTITION BY lease ORDER BY number) AS place, kind, content, value, seal
  FROM unnest($5::bigint[], $6::text[], $7::text[], $8::bytea[], $9::bytea[]) WITH ORDINALITY
    AS given (lease, kind, content, value, seal, number) JOIN held USING (lease) WHERE last & 4294967295 = after
), spilled AS (
  INSERT INTO blobs SELECT place, value FROM lines WHERE length(value) > $10
), written AS (
  INSERT INTO entries (place, kind, at_us, content, value, seal)
  SELECT place, kind, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint, content,
    CASE WHEN length(value) <= $10 THEN value END, seal FROM lines
)
SELECT lease, last & 4294967295 AS last, set_config('synchronous_commit', $11, true),
  CASE WHEN followed IS NOT NULL THEN pg_notify('codemode_followed', followed) END FROM held
"""

_NOW = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint"


#: Errors of a database that stops, starts or disconnects.
_AWAY = (asyncpg.PostgresConnectionError, asyncpg.OperatorInterventionError, OSError)


class PostgresJournal(SqlJournal):
    """A journal in the database at `url` (`postgresql://…`, as in libpq). Its tables are created there."""

    def __init__(
        self,
        url: str,
        key: DigestKey,
        *,
        lease_s: float,
        durability: Durability = "process",
        project: str = "",
        bounds: Bounds | None = None,
    ) -> None:
        super().__init__(key, f"{os.uname().nodename}-{os.getpid()}-{secrets.token_hex(6)}", lease_s, project, bounds)
        self._url = url
        self._store = shown(url)
        self._waits_always = durability == "power"
        self._group = GroupCommit(lambda _: None, self._append)
        self._pool: asyncpg.Pool | None = None
        self._writing = asyncio.Lock()
        self._away_since: float | None = None
        self.shared = SharedValues(self._write, self._look, self._seals)
        self._signals = PostgresSignals(url, self._write)
        self.signals = self._signals
        self.listener = self._signals.listener
        self._slots = PostgresSlots(self._seals.project, self._connection)
        self.slots = self._slots

    async def open(self) -> None:
        """See `Journal.open`."""
        with self._translated():
            self._pool = await asyncpg.create_pool(
                self._url,
                min_size=1,
                max_size=CONNECTIONS,
                timeout=PATIENCE_S,
                command_timeout=PATIENCE_S,
                server_settings={"synchronous_commit": _commits(waits=self._waits_always)},
                reset=_leave,  # no session state to reset: saves a round trip
            )
        note = "INSERT INTO codemode_migrations VALUES ({})"
        try:
            await self._write(prepare(_version(), "postgres", note, self._seals, self._store))
        except BaseException:
            await self.aclose()
            raise
        self._signals.listener.start()

    async def aclose(self) -> None:
        """See `Journal.aclose`."""
        await self._signals.listener.aclose()
        await self._group.drain()
        if self._pool is not None:
            pool, self._pool = self._pool, None
            try:
                await asyncio.wait_for(pool.close(), PATIENCE_S)
            except TimeoutError:
                pool.terminate()

    async def append(self, lease: Lease, entries: Sequence[JournalEntry], *, at_once: bool = False) -> int:
        """See `Journal.append`."""
        return await self._group.add(lease, entries, at_once=at_once)

    async def renew(self, executions: Collection[str]) -> frozenset[str]:
        """See `Journal.renew`. The lock avoids a deadlock with appends: both lock several rows."""
        async with self._writing:
            return await super().renew(executions)

    async def release(self, executions: Collection[str]) -> None:
        """See `Journal.release`, and `renew` for the lock."""
        async with self._writing:
            await super().release(executions)

    async def prune(self, retention: Retention) -> Pruned:
        """See `Journal.prune`."""
        await self._slots.remove_unused()
        return await super().prune(retention)

    async def _append(self, writes: Sequence[Write]) -> Written:
        sealed: dict[Lease, tuple[int, bytes]] = {}
        async with self._writing:
            confirmed = {write.lease: (await self._last(write.lease) or (0, b""))[0] for write in writes}
            while True:
                try:
                    return await self._append_all(writes, sealed, confirmed)
                except JournalUnavailable as error:
                    if not self._is_short_outage(error):
                        raise
                await asyncio.sleep(_RETRY_S)

    async def _append_all(
        self, writes: Sequence[Write], sealed: dict[Lease, tuple[int, bytes]], confirmed: Mapping[Lease, int]
    ) -> Written:
        """Append what an earlier attempt has not: its connection may have broken after the commit.

        `sealed` holds the last entry and seal that the earlier attempt would have written; finding it proves the
        commit. `confirmed` holds the last entry before all attempts. A database that has less has lost entries.
        """
        ended = {lease for lease, end in sealed.items() if await self._last(lease) == end}
        if ended:
            rest = [write for write in writes if write.lease not in ended]
            numbers = iter(await self._append_all(rest, {}, confirmed) if rest else ())
            return [sealed[write.lease][0] if write.lease in ended else next(numbers) for write in writes]
        written = await self._append_lines(writes, sealed, confirmed)
        late = [write for write, one in zip(writes, written, strict=True) if one is None]
        again = iter(
            await self._append_lines(late, sealed, confirmed) if late else ()
        )  # the remembered last entries were outdated
        results = [next(again) if one is None else one for one in written]
        numbered = [one for one in results if one is not None]
        if len(numbered) < len(writes):
            message = f"the journal {self._store} was changed by another process during a write; nothing was recorded"
            raise JournalUnavailable(message)
        return numbered

    async def _append_lines(
        self, writes: Sequence[Write], sealed: dict[Lease, tuple[int, bytes]], confirmed: Mapping[Lease, int]
    ) -> Sequence[int | LeaseLost | None]:
        """Return the last numbers written, None for a write whose execution has other entries."""
        leases = list(dict.fromkeys(write.lease for write in writes))
        lasts = {lease: await self._last(lease) for lease in leases}
        places = {lease: place for place, lease in enumerate(leases, 1)}
        heads = {lease: max(last or (0, b""), (confirmed[lease], b"")) for lease, last in lasts.items()}
        after = [heads[lease][0] for lease in leases]
        lines = []
        numbers = []
        for lease, written, _ in writes:
            number, seal = heads[lease]
            for line in written:
                number, seal = number + 1, self._seals.entry(seal, number + 1, line)
                lines.append((places[lease], *line, seal))
            heads[lease] = (number, seal)
            numbers.append(number)
        columns = zip(*lines, strict=True) if lines else ((), (), (), (), ())
        sealed.update(heads)
        waits = self._waits_always or any(write.starts_unkeyed_write for write in writes)
        for lease in leases:
            self._seals.lasts.pop(lease, None)  # set again after the write
        async with self._connection() as connection:
            held = await connection.fetch(
                _APPEND,
                [lease.execution for lease in leases],
                [lease.generation for lease in leases],
                [lease.server for lease in leases],
                after,
                *columns,
                transactions.SPILL_BYTES,
                _commits(waits=waits),
            )
        last_numbers = {leases[row["lease"] - 1]: row["last"] for row in held}
        results: list[int | LeaseLost | None] = []
        for (lease, _, _), number in zip(writes, numbers, strict=True):
            was = after[places[lease] - 1]
            if lease not in last_numbers:
                results.append(transactions.lost(lease))
            elif last_numbers[lease] < was:
                results.append(self._forgotten(lease))
            elif last_numbers[lease] > was:
                results.append(None)
            else:
                self._seals.lasts.remember(lease, heads[lease])
                results.append(number)
        return results

    def _forgotten(self, lease: Lease) -> LeaseLost:
        message = (
            f"the journal {self._store} has lost confirmed entries of {lease.execution}, because its database crashed;"
            " nothing was recorded"
        )
        return LeaseLost(message, execution=lease.execution)

    async def _last(self, lease: Lease) -> tuple[int, bytes] | None:
        known = self._seals.lasts.get(lease)
        if known is None:
            read = await self._write(transactions.held(self._seals, lease))
            known = None if read is None else (read[0] & transactions.SEQUENCE, read[1])
        return known

    async def _write(self, transaction: Transaction[Result]) -> Result:
        async with self._connection() as connection, connection.transaction():
            return await _stepped_through(connection, transaction)

    async def _read(self, transaction: Transaction[Result]) -> Result:
        return await self._write(transaction)

    async def _look(self, steps: Transaction[Result]) -> Result:
        """Execute read-only steps that need no common snapshot: one round trip for each."""
        async with self._connection() as connection:
            return await _stepped_through(connection, steps)

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[asyncpg.Connection]:
        with self._translated():
            async with await self._acquired() as connection:
                yield connection

    async def _acquired(self) -> AbstractAsyncContextManager[asyncpg.Connection]:
        """Return a connection once the database answers. Raises the driver's error after a long outage."""
        while True:
            if self._pool is None:
                raise asyncpg.InterfaceError("it is closed")
            try:
                connection = await self._pool.acquire(timeout=PATIENCE_S)
            except (asyncpg.PostgresError, OSError) as error:
                if not self._is_short_outage(error):
                    raise
                await asyncio.sleep(_RETRY_S)
            else:
                self._away_since = None
                return _released(self._pool, connection)

    def _is_short_outage(self, error: BaseException | None) -> bool:
        """Return whether the database is unavailable, but not for long."""
        cause = error.__cause__ if isinstance(error, JournalUnavailable) else error
        if not isinstance(cause, _AWAY) or isinstance(cause, TimeoutError):
            return False
        now = time.monotonic()
        if self._away_since is None:
            self._away_since = now
        return now - self._away_since < OUTAGE_S

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Raise errors of the driver and the network as JournalUnavailable."""
        try:
            yield
        except (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError) as error:
            why = "it did not answer in time" if isinstance(error, TimeoutError) else ""
            why = why or distrusted(error, _AUTHORITY) or _one_line(error)
            message = f"the journal {self._store} cannot be used: {why}; nothing was recorded"
            raise JournalUnavailable(message) from error


async def _stepped_through(connection: asyncpg.Connection, transaction: Transaction[Result]) -> Result:
    answer: Sequence[Any] = ()
    step = next(transaction)
    try:
        while True:
            match step:
                case Statement(sql, parameters):
                    answer = await connection.fetch(sql, *parameters)
                case Statements(sql, many):
                    await connection.executemany(sql, many)
                    answer = ()
                case Now():
                    answer = await connection.fetch(_NOW)
            step = transaction.send(answer)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


@asynccontextmanager
async def _released(pool: asyncpg.Pool, connection: asyncpg.Connection) -> AsyncIterator[asyncpg.Connection]:
    try:
        yield connection
    finally:
        await pool.release(connection)


def _commits(*, waits: bool) -> str:
    """Return the value of `synchronous_commit`."""
    return "on" if waits else "off"


async def _leave(_: asyncpg.Connection) -> None:
    """Leave a returned connection as it is."""


def _version() -> Transaction[int]:
    yield Statement("SELECT pg_advisory_xact_lock($1)", (_PREPARING,))
    yield Statement("CREATE TABLE IF NOT EXISTS codemode_migrations (version INTEGER NOT NULL)")
    return int((yield Statement("SELECT coalesce(max(version), 0) FROM codemode_migrations"))[0][0])


def shown(url: str) -> str:
    """Return a database URL without its secret parts."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}{parts.path}"


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
