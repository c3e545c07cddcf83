"""Copies between a PostgreSQL database and a journal file: the same tables, rows and seals.

Tables and columns that only PostgreSQL has are left out: servers coordinate by them, and no record needs them.
"""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, NamedTuple

from codemode.errors import ConfigurationError, JournalUnavailable
from codemode.executions.journal.migrations import migrations
from codemode.executions.journal.postgres.errors import translated
from codemode.executions.journal.postgres.migrating import connected, migrate
from codemode.executions.journal.postgres.transactions import carry_out as carry_out_in_database
from codemode.executions.journal.sql.schema import apply, pending, read_schema
from codemode.executions.journal.sqlite.transactions import carry_out

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import asyncpg

#: Rows read at one time: of tables with values of up to 16 MiB, and of all others.
_LARGE, _SMALL = 8, 500
_TABLES_OF_LARGE = ("blobs", "kept_content", "contents")

_CREATED = re.compile(r"CREATE TABLE (?:IF NOT EXISTS )?(\w+)", re.IGNORECASE)

#: A row for the project is made by each server that starts, also on an empty journal.
_KEYS = "journal_key"


class _Table(NamedTuple):
    name: str
    columns: tuple[str, ...]

    @property
    def listed(self) -> str:
        """The columns, as in a statement."""
        return ", ".join(self.columns)

    @property
    def batch(self) -> int:
        """Rows to read at one time."""
        return _LARGE if self.name in _TABLES_OF_LARGE else _SMALL


async def copy_to_file(url: str, store: str, file: Path) -> None:
    """Copy a database as it is at one moment to an empty file, also beside running servers.

    Raises ConfigurationError if a newer codemode has migrated it, and JournalUnavailable.
    """
    with _translated(store, file):
        await _copy_to_file(url, store, file)


async def copy_from_file(file: Path, url: str, store: str) -> None:
    """Copy a journal file of this version to an empty database, in one transaction. The database is migrated first.

    Raises ConfigurationError if the database has rows, and JournalUnavailable.
    """
    with _translated(store, file):
        await migrate(url, store)
        await _copy_from_file(file, url, store)


@contextmanager
def _translated(store: str, file: Path) -> Iterator[None]:
    with translated(store):
        try:
            yield
        except sqlite3.Error as error:
            message = f"the journal {store} cannot be copied, because of the file {file}: {error}"
            raise JournalUnavailable(message) from None


async def _copy_to_file(url: str, store: str, file: Path) -> None:
    async with connected(url) as connection, connection.transaction(isolation="repeatable_read", readonly=True):
        schema = await carry_out_in_database(connection, read_schema("postgres"))
        pending(schema, "postgres", store)
        known = migrations("postgres")[-1].version
        if schema.version > known:
            message = (
                f"the journal {store} has version {schema.version}, and this codemode has version {known}, so its copy"
                " would be incomplete: make it with the newer codemode"
            )
            raise ConfigurationError(message)
        with closing(sqlite3.connect(file, isolation_level=None)) as copy:
            for step in migrations("sqlite"):
                if step.version <= schema.version:
                    carry_out(copy, apply(step, "sqlite"))
            for table in await _tables(connection, copy):
                await _copy_out(connection, copy, table)


async def _copy_from_file(file: Path, url: str, store: str) -> None:
    async with connected(url) as connection, connection.transaction():
        with closing(sqlite3.connect(file)) as copy:
            tables = await _tables(connection, copy)
            for table in tables:
                await connection.execute(f"LOCK TABLE {table.name} IN EXCLUSIVE MODE")
            await _require_empty(connection, tables, store)
            await connection.execute(f"DELETE FROM {_KEYS}")
            for table in tables:
                await _copy_in(copy, connection, table)


async def _tables(connection: asyncpg.Connection, copy: sqlite3.Connection) -> list[_Table]:
    """Return the tables of migrations that both have, with the columns that both have."""
    created = {name for step in migrations("sqlite") for text in step.statements for name in _CREATED.findall(text)}
    columns = await connection.fetch(
        "SELECT table_name, array_agg(column_name::text ORDER BY ordinal_position) AS columns"
        " FROM information_schema.columns"
        " WHERE table_schema = current_schema() AND table_name = ANY($1::text[])"
        " GROUP BY table_name ORDER BY table_name",
        sorted(created),
    )
    tables = [_Table(row["table_name"], _common(copy, row["table_name"], row["columns"])) for row in columns]
    return [table for table in tables if table.columns]


def _common(copy: sqlite3.Connection, table: str, columns: Sequence[str]) -> tuple[str, ...]:
    known = {row[1] for row in copy.execute(f"PRAGMA table_info({table})")}
    return tuple(column for column in columns if column in known)


async def _copy_out(connection: asyncpg.Connection, copy: sqlite3.Connection, table: _Table) -> None:
    places = ", ".join("?" * len(table.columns))
    copy.execute("BEGIN")
    async for row in connection.cursor(f"SELECT {table.listed} FROM {table.name}", prefetch=table.batch):
        copy.execute(f"INSERT INTO {table.name} ({table.listed}) VALUES ({places})", tuple(row))
    copy.execute("COMMIT")


async def _copy_in(copy: sqlite3.Connection, connection: asyncpg.Connection, table: _Table) -> None:
    numbers = ", ".join(f"${number}" for number in range(1, len(table.columns) + 1))
    # OVERRIDING keeps the numbers of executions: their entries and seals refer to them
    insert = f"INSERT INTO {table.name} ({table.listed}) OVERRIDING SYSTEM VALUE VALUES ({numbers})"
    with closing(copy.execute(f"SELECT {table.listed} FROM {table.name}")) as found:
        while rows := found.fetchmany(table.batch):
            await connection.executemany(insert, rows)
    counted = await connection.fetch(
        "SELECT column_name FROM information_schema.columns"
        " WHERE table_schema = current_schema() AND table_name = $1 AND is_identity = 'YES'",
        table.name,
    )
    for (column,) in counted:
        await connection.execute(
            f"SELECT setval(pg_get_serial_sequence('{table.name}', '{column}'), max({column}))"
            f" FROM {table.name} HAVING count(*) > 0"
        )


async def _require_empty(connection: asyncpg.Connection, tables: list[_Table], store: str) -> None:
    filled = [
        table.name
        for table in tables
        if table.name != _KEYS and await connection.fetchval(f"SELECT EXISTS (SELECT FROM {table.name})")
    ]
    if filled:
        message = (
            f"the journal {store} is not empty ({', '.join(filled)} have rows), and a backup is restored to an empty"
            " one only: create a new database, and name it in `journal.url`"
        )
        raise ConfigurationError(message)
