"""The journal in a PostgreSQL database that several servers share.

Timestamps come from the database, so the servers' clocks need not agree. With `process` durability, most commits do not
wait for the disk (`synchronous_commit = off`): a crash of the database may lose its last moments. The start of a write
without an idempotency key always waits, and so does everything recorded before it, because only the record shows that
the write was sent. The creation of an execution waits if its request has an idempotency key, because a repeated request
must find it. With `power`, every commit waits.

Operations wait up to `outages.OUTAGE_S` for an unavailable database.
"""

from __future__ import annotations

import asyncio
import os
import secrets
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING

import asyncpg

from codemode.errors import JournalUnavailable, LeaseLost
from codemode.executions.journal.postgres.errors import shown, translated
from codemode.executions.journal.postgres.migrating import GOODBYE_S, PATIENCE_S, connected, migrate, one_at_a_time
from codemode.executions.journal.postgres.outages import RETRY_S, Outages
from codemode.executions.journal.postgres.shared_values import SharedValues
from codemode.executions.journal.postgres.signals import PostgresSignals
from codemode.executions.journal.postgres.slots import PostgresSlots
from codemode.executions.journal.postgres.transactions import carry_out
from codemode.executions.journal.sql import transactions
from codemode.executions.journal.sql.group import GroupCommit
from codemode.executions.journal.sql.journal import EXPIRE_S, SqlJournal
from codemode.executions.journal.sql.preparing import prepare_project
from codemode.executions.journal.sql.schema import announced, pending, plan_of, read_schema, require_none

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence

    from codemode.executions.journal.key import DigestKey
    from codemode.executions.journal.migrations import MigrationPlan
    from codemode.executions.journal.sql.group import Write, Written
    from codemode.executions.journal.sql.space import Bounds
    from codemode.executions.journal.sql.statements import Result, Transaction
    from codemode.executions.types.records import JournalEntry, Lease, NewExecution, PruneResult, Retention
    from codemode.settings.journal import Durability

#: Connections per server: one for appends, the others for queries. One more receives notifications.
CONNECTIONS = 4

#: Time for which the database keeps the locks of a server that goes silent within a transaction, in seconds. It is
#: shorter than `PATIENCE_S`, so that servers that wait for these locks get them.
SILENCE_S = 5.0

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


class PostgresJournal(SqlJournal):
    """A journal in the database at `url` (`postgresql://…`, as in libpq).

    Its tables are created and migrated there. Without `migrates`, a database that needs it raises ConfigurationError.
    """

    def __init__(
        self,
        url: str,
        key: DigestKey,
        *,
        lease_s: float,
        durability: Durability = "process",
        project: str = "",
        bounds: Bounds | None = None,
        expire_s: float = EXPIRE_S,
        migrates: bool = True,
        outages: Outages | None = None,
    ) -> None:
        server = f"{os.uname().nodename}-{os.getpid()}-{secrets.token_hex(6)}"
        super().__init__(key, server, lease_s, project, bounds, expire_s)
        self._url = url
        self._store = shown(url)
        self._migrates = migrates
        self._waits_always = durability == "power"
        self._group = GroupCommit(lambda _: None, self._append)
        self._pool: asyncpg.Pool | None = None
        self._writing = asyncio.Lock()
        self._outages = outages or Outages()
        self._signals = PostgresSignals(url, self._write)
        self.signals = self._signals
        self.listener = self._signals.listener
        self._slots = PostgresSlots(self._seals.project, self._connection, self._outages)
        self.slots = self._slots
        self.shared = SharedValues(self._write, self._look, self._seals)

    async def open(self) -> None:
        """See `Journal.open`."""
        with translated(self._store):
            self._pool = await asyncpg.create_pool(
                self._url,
                min_size=0,  # otherwise the pool logs a traceback with each attempt to reconnect
                max_size=CONNECTIONS,
                timeout=PATIENCE_S,
                command_timeout=PATIENCE_S,
                server_settings=_session(waits=self._waits_always),
                reset=_leave,  # no session state to reset: saves a round trip
            )
        try:
            await self._prepare()
        except BaseException:
            await self.aclose()
            raise
        self._signals.listener.start()

    async def _prepare(self) -> None:
        steps = pending(await self._read(read_schema("postgres")), "postgres", self._store)
        if not self._migrates:
            require_none(steps, self._store)
        await self._read(announced("postgres", self._store, self._seals.project))
        if steps:
            with translated(self._store):
                await migrate(self._url, self._store)
        await self._write(one_at_a_time(prepare_project(self._seals, self._store)))

    async def migration_plan(self) -> MigrationPlan:
        """See `StoredJournal.migration_plan`."""
        with translated(self._store):
            async with connected(self._url) as connection:
                return await carry_out(connection, plan_of("postgres", self._store, self._seals.project))

    async def aclose(self) -> None:
        """See `Journal.aclose`."""
        await self._signals.listener.aclose()
        draining = asyncio.create_task(self._group.drain())
        await asyncio.wait((draining,), timeout=GOODBYE_S)
        if self._pool is not None:
            pool, self._pool = self._pool, None
            with suppress(TimeoutError):  # its connections are closed nevertheless
                await asyncio.wait_for(pool.close(), GOODBYE_S)
        await asyncio.wait((draining,), timeout=GOODBYE_S)  # what was not written has failed now

    async def create(self, execution: NewExecution) -> Lease:
        """See `Journal.create`."""
        own = (self.server, self._lease_s, self._bounds, self._expire_us)
        transaction = transactions.create(self._seals, execution, *own)
        return await self._write(transaction, waits=bool(execution.request_key))

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

    async def prune(self, retention: Retention) -> PruneResult:
        """See `Journal.prune`."""
        await self._slots.remove_unused()
        return await super().prune(retention)

    async def _append(self, writes: Sequence[Write]) -> Written:
        sealed: dict[Lease, tuple[int, bytes]] = {}
        async with self._writing:
            confirmed = await self._outages.through(partial(self._confirmed, writes))
            return await self._outages.through(partial(self._append_all, writes, sealed, confirmed))

    async def _confirmed(self, writes: Sequence[Write]) -> dict[Lease, int]:
        """Return the last entry of each execution."""
        return {write.lease: (await self._last(write.lease) or (0, b""))[0] for write in writes}

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
        forgotten: list[str] = []
        for (lease, _, _), number in zip(writes, numbers, strict=True):
            was = after[places[lease] - 1]
            if lease not in last_numbers:
                results.append(transactions.lost(lease))
            elif last_numbers[lease] < was:
                results.append(transactions.forgotten(lease))
                forgotten.append(lease.execution)
            elif last_numbers[lease] > was:
                results.append(None)
            else:
                self._seals.lasts.remember(lease, heads[lease])
                results.append(number)
        if forgotten:  # they are recovered from what the database still has
            await super().release(forgotten)
        return results

    async def last_loss_us(self) -> int:
        """See `Journal`. PostgreSQL resets these statistics when it recovers from a crash."""
        if self._waits_always:
            return 0
        async with self._connection() as connection:
            reset = await connection.fetchval(
                "SELECT (extract(epoch FROM stats_reset) * 1000000)::bigint FROM pg_stat_bgwriter"
            )
        return int(reset or 0)

    async def _last(self, lease: Lease) -> tuple[int, bytes] | None:
        known = self._seals.lasts.get(lease)
        if known is None:
            read = await self._write(transactions.held(self._seals, lease))
            known = None if read is None else (read[0] & transactions.SEQUENCE, read[1])
        return known

    async def _write(self, transaction: Transaction[Result], *, waits: bool = False) -> Result:
        async with self._connection() as connection, connection.transaction():
            if waits and not self._waits_always:
                await connection.execute("SET LOCAL synchronous_commit = on")
            return await carry_out(connection, transaction)

    async def _read(self, transaction: Transaction[Result]) -> Result:
        return await self._write(transaction)

    async def _look(self, steps: Transaction[Result]) -> Result:
        """Execute read-only steps that need no common snapshot: one round trip for each."""
        async with self._connection() as connection:
            return await carry_out(connection, steps)

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[asyncpg.Connection]:
        with _cancelled_first(), translated(self._store):
            async with await self._acquired() as connection:
                try:
                    yield connection
                except asyncpg.InternalClientError:
                    connection.terminate()  # nothing works on it from now on
                    raise

    async def _acquired(self) -> AbstractAsyncContextManager[asyncpg.Connection]:
        """Return a connection once the database answers. Raises the driver's error after a long outage."""
        while True:
            if self._pool is None:
                message = f"the journal {self._store} cannot be used: it is closed; nothing was recorded"
                raise JournalUnavailable(message)
            try:
                connection = await self._pool.acquire(timeout=PATIENCE_S)
            except (asyncpg.PostgresError, OSError) as error:
                if not self._outages.is_short(error):
                    raise
                await asyncio.sleep(RETRY_S)
            else:
                self._outages.is_over()
                return _released(self._pool, connection)


@contextmanager
def _cancelled_first() -> Iterator[None]:
    """Raise CancelledError if the task was cancelled, and its rollback has failed too: that error hides the first."""
    task = asyncio.current_task()
    before = task.cancelling() if task is not None else 0
    try:
        yield
    except JournalUnavailable as error:
        if task is not None and task.cancelling() > before:
            raise asyncio.CancelledError from error
        raise


@asynccontextmanager
async def _released(pool: asyncpg.Pool, connection: asyncpg.Connection) -> AsyncIterator[asyncpg.Connection]:
    try:
        yield connection
    finally:
        await pool.release(connection)


def _session(*, waits: bool) -> dict[str, str]:
    """Return the settings of a session (PostgreSQL documentation, 19.3.2 and 19.11.1)."""
    silence_ms = str(round(SILENCE_S * 1000))
    return {
        "synchronous_commit": _commits(waits=waits),
        "idle_in_transaction_session_timeout": silence_ms,
        "tcp_user_timeout": silence_ms,
    }


def _commits(*, waits: bool) -> str:
    """Return the value of `synchronous_commit`."""
    return "on" if waits else "off"


async def _leave(_: asyncpg.Connection) -> None:
    """Leave a returned connection as it is."""
