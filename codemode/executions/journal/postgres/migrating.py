"""Migration of a PostgreSQL database beside running servers.

One server migrates at a time, under an advisory lock, and each migration is a transaction. Waiting for a table's lock
makes everybody else wait behind it, so a wait is short and repeated. Indexes of large tables are built concurrently,
outside transactions; waiting servers hold no snapshot meanwhile, because building would wait for them.
"""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

import asyncpg

from codemode.errors import JournalUnavailable
from codemode.executions.journal.postgres.transactions import carry_out
from codemode.executions.journal.sql.schema import apply, pending, read_schema, record
from codemode.executions.journal.sql.statements import Statement

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from codemode.executions.journal.migrations import Migration
    from codemode.executions.journal.sql.statements import Result, Transaction

log = logging.getLogger(__name__)

#: Time limit of one statement, and of connecting, in seconds.
PATIENCE_S = 10.0

#: Seconds that closing waits for a database that does not answer.
GOODBYE_S = 2.0

#: Settings of a connection that holds a lock for longer than a transaction (PostgreSQL documentation, 19.3.2): the
#: database frees it about 20 s after its server has gone silent, and not after two hours.
KEEPALIVES = {"tcp_keepalives_idle": "5", "tcp_keepalives_interval": "5", "tcp_keepalives_count": "3"}

#: Advisory lock that lets one server at a time prepare the database: "codemode" in ASCII. Migrating has one of its own,
#: because it is held for longer than a transaction.
_PREPARING = 0x636F64656D6F6465
_MIGRATING = _PREPARING + 1

#: Seconds that one attempt waits for the lock of a table, and seconds after which to give up.
LOCK_S = 2.0
LOCKED_S = 60.0

_RETRY_S = 0.2


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[asyncpg.Connection]:
    """Yield a connection without a time limit for statements. Raises errors of asyncpg, OSError."""
    connection = await asyncpg.connect(url, timeout=PATIENCE_S, server_settings=KEEPALIVES)
    try:
        yield connection
    finally:
        with suppress(TimeoutError):  # it is closed nevertheless
            await connection.close(timeout=GOODBYE_S)


def one_at_a_time(transaction: Transaction[Result]) -> Transaction[Result]:
    """Return a transaction that waits until no other server prepares the database."""
    yield Statement("SELECT pg_advisory_xact_lock($1)", (_PREPARING,))
    return (yield from transaction)


async def migrate(url: str, store: str) -> None:
    """Migrate the database to this version, or wait while another server does.

    Raises ConfigurationError for a newer database, JournalUnavailable if a table stays locked, and errors of asyncpg.
    """
    async with connected(url) as connection:
        await _wait_for_turn(connection, store)
        await connection.execute(f"SET lock_timeout = {int(LOCK_S * 1000)}")
        for step in pending(await carry_out(connection, read_schema("postgres")), "postgres", store):
            await _apply_patiently(connection, step, store)
            log.info("the journal %s was migrated to version %d (%s)", store, step.version, step.name)


async def _wait_for_turn(connection: asyncpg.Connection, store: str) -> None:
    """Take the lock of migrations, which ends with the connection."""
    is_told = False
    while not await connection.fetchval("SELECT pg_try_advisory_lock($1)", _MIGRATING):
        if not is_told:
            log.warning("another server migrates the journal %s: waiting until it has ended", store)
            is_told = True
        await asyncio.sleep(_RETRY_S)


async def _apply_patiently(connection: asyncpg.Connection, step: Migration, store: str) -> None:
    until = time.monotonic() + LOCKED_S
    while True:
        try:
            return await _apply(connection, step, store)
        except asyncpg.LockNotAvailableError:
            if time.monotonic() > until:
                message = (
                    f"the journal {store} cannot be migrated: another session has locked a table of {step.name} for"
                    f" {LOCKED_S:.0f} s; end that session (pg_stat_activity, pg_locks), and start again"
                )
                raise JournalUnavailable(message) from None
        await asyncio.sleep(_RETRY_S)


async def _apply(connection: asyncpg.Connection, step: Migration, store: str) -> None:
    if step.is_online:
        for statement in step.statements:
            await connection.execute(statement)
        async with connection.transaction():
            await carry_out(connection, record(step, "postgres"))
        return
    async with connection.transaction():
        await carry_out(connection, one_at_a_time(_apply_once(step, store)))


def _apply_once(step: Migration, store: str) -> Transaction[None]:
    """Apply a migration, unless a server of an earlier version has just done so."""
    if step in pending((yield from read_schema("postgres")), "postgres", store):
        yield from apply(step, "postgres")
