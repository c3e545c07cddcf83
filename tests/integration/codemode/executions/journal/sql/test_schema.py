"""The schema of a store: which programs can use it, and migrations beside running servers."""

from __future__ import annotations

import asyncio
import re
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import asyncpg
import pytest

from codemode.errors import ConfigurationError, JournalUnavailable
from codemode.executions.journal.migrations import Dialect, Migration, MigrationPlan, migrations
from codemode.executions.journal.postgres import migrating as postgres_migrating
from codemode.executions.journal.postgres.journal import PostgresJournal
from codemode.executions.journal.sql import schema
from codemode.executions.journal.sqlite.journal import SqliteJournal
from codemode.executions.types.records import JournalEntry
from tests.integration.codemode.executions.journal.conftest import KEY, new, new_database

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from codemode.executions.journal.base import Journal
    from tests.integration.codemode.executions.journal.conftest import Store

LATER = 1 + max(migrations(dialect)[-1].version for dialect in ("sqlite", "postgres"))
READABLE_FROM = migrations("sqlite")[-1].readable_from
EXPANDS = ("ALTER TABLE executions ADD COLUMN later TEXT NOT NULL DEFAULT ''", "CREATE TABLE later (a TEXT)")


@pytest.fixture
def newer(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return a function that makes this program a later one: with one more migration, of these statements."""

    def become(*statements: str, readable_from: int = 0) -> None:
        def more(dialect: Dialect) -> tuple[Migration, ...]:
            step = Migration(LATER, f"{LATER:04}_later", readable_from or READABLE_FROM, statements)
            return (*migrations(dialect), step)

        monkeypatch.setattr(schema, "migrations", more)

    return become


@pytest.fixture
def older(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Return a function that makes this program itself again."""
    return lambda: monkeypatch.setattr(schema, "migrations", migrations)


@pytest.mark.parametrize("dialect", ["sqlite", "postgres"])
def test_a_migration_that_earlier_programs_cannot_use_says_so(dialect: Dialect) -> None:
    breaking = re.compile(
        r"(DROP (?!INDEX CONCURRENTLY)|UPDATE|DELETE|ALTER TABLE \w+ (DROP|RENAME|ALTER))", re.IGNORECASE
    )
    reads = 0
    for step in migrations(dialect):
        is_contract = step.readable_from > reads
        reads = step.readable_from
        assert step.readable_from <= step.version
        assert is_contract or not any(breaking.match(statement) for statement in step.statements), step.name
        added = [part for part in step.statements if "ADD COLUMN" in part.upper() and "NOT NULL" in part.upper()]
        assert all("DEFAULT" in part.upper() for part in added), step.name


def test_a_number_stands_for_one_change_in_both_databases() -> None:
    one, other = ({step.version: step for step in migrations(dialect)} for dialect in ("sqlite", "postgres"))
    for version in one.keys() & other.keys():
        assert (one[version].name, one[version].readable_from) == (other[version].name, other[version].readable_from)
    assert max(step.readable_from for step in one.values()) == max(step.readable_from for step in other.values())


async def test_an_expanded_store_is_used_by_servers_of_both_versions(
    store: Store, newer: Callable[..., None], older: Callable[[], None]
) -> None:
    early = await store.server()
    lease = await early.create(new("ex_early"))
    newer(*EXPANDS)
    late = await store.server()
    later = (LATER, READABLE_FROM)
    assert await late.migration_plan() == MigrationPlan(*later, (), *later)
    await early.append(lease, [JournalEntry("started", "1")])
    await early.finish(lease, "completed", {"value": 7})
    assert (await late.get("ex_early")).outcome == {"value": 7}
    older()
    restarted = await store.server()
    await restarted.create(new("ex_restarted"))
    assert (await late.get("ex_restarted")).status == "running"
    assert await restarted.migration_plan() == MigrationPlan(*later, (), *later)


async def test_a_contracted_store_is_refused_by_an_earlier_server(
    store: Store, newer: Callable[..., None], older: Callable[[], None]
) -> None:
    newer("DROP TABLE kept_content", readable_from=LATER)
    await store.server()
    older()
    message = rf"has version {LATER}, readable by versions >= {LATER}, and this codemode has version \d+: a newer"
    with pytest.raises(ConfigurationError, match=message):
        await store.server()


async def test_a_manual_store_is_migrated_by_the_command_alone(store: Store, newer: Callable[..., None]) -> None:
    with pytest.raises(ConfigurationError, match=r"lacks 0001_executions, .*run `codemode journal migrate` before"):
        await store.server(migrates=False)
    await store.server()
    await store.server(migrates=False)
    newer(*EXPANDS)
    with pytest.raises(ConfigurationError, match=r"_later, and `journal.migrate` is `manual`"):
        await store.server(migrates=False)
    await store.server(migrates=True)
    late = await store.server(migrates=False)
    assert (await late.migration_plan()).version == LATER


async def test_a_plan_of_a_migration_changes_nothing(store: Store) -> None:
    journal = store.make(KEY, lease_s=1.0)
    steps = migrations("sqlite" if isinstance(journal, SqliteJournal) else "postgres")
    plan = MigrationPlan(0, 0, tuple(step.name for step in steps), steps[-1].version, READABLE_FROM)
    assert await journal.migration_plan() == plan
    with pytest.raises(ConfigurationError):
        await store.server(migrates=False)
    assert await journal.migration_plan() == plan


async def test_a_failed_migration_of_a_file_changes_nothing(tmp_path: Path, newer: Callable[..., None]) -> None:
    file = tmp_path / "journal.sqlite3"
    await closed(SqliteJournal(file, KEY, lease_s=1.0))
    newer("CREATE TABLE later (a TEXT)", "CREATE TABLE executions (a TEXT)")
    with pytest.raises(JournalUnavailable, match="table executions already exists"):
        await closed(SqliteJournal(file, KEY, lease_s=1.0))
    with closing(sqlite3.connect(file)) as database:
        assert not database.execute("SELECT 1 FROM sqlite_master WHERE name = 'later'").fetchall()


async def test_servers_of_a_new_version_that_start_at_once_migrate_once(
    postgres: str, newer: Callable[..., None]
) -> None:
    url = await new_database(postgres)
    await closed(PostgresJournal(url, KEY, lease_s=1.0))
    newer("INSERT INTO stores VALUES ('once', '')")  # a second time would violate its primary key
    await asyncio.gather(*(closed(PostgresJournal(url, KEY, lease_s=1.0)) for _ in range(5)))


async def test_a_migration_does_not_block_a_table_behind_a_long_transaction(
    postgres: str, newer: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    url = await new_database(postgres)
    await closed(PostgresJournal(url, KEY, lease_s=1.0))
    newer(*EXPANDS)
    monkeypatch.setattr(postgres_migrating, "LOCK_S", 0.1)
    connection = await asyncpg.connect(url)
    other = await asyncpg.connect(url)
    try:
        await connection.execute("BEGIN")
        await connection.execute("SELECT * FROM executions")
        opening = asyncio.create_task(closed(PostgresJournal(url, KEY, lease_s=1.0)))
        waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'executions'::regclass"
        for expected in (1, 0, 1):  # it waits, gives way, and tries again
            while await other.fetchval(waiting) != expected:  # noqa: ASYNC110 -- it has no event
                await asyncio.sleep(0)
        await asyncio.wait_for(other.fetch("SELECT count(*) FROM executions"), 10)
        await connection.execute("ROLLBACK")
        await opening
    finally:
        await connection.close()
        await other.close()


async def test_a_table_that_stays_locked_is_named(
    postgres: str, newer: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    url = await new_database(postgres)
    await closed(PostgresJournal(url, KEY, lease_s=1.0))
    newer(*EXPANDS)
    monkeypatch.setattr(postgres_migrating, "LOCK_S", 0.05)
    monkeypatch.setattr(postgres_migrating, "LOCKED_S", 0.1)
    connection = await asyncpg.connect(url)
    try:
        await connection.execute("BEGIN")
        await connection.execute("SELECT * FROM executions")
        with pytest.raises(JournalUnavailable, match=r"has locked a table of \d+_later .*pg_stat_activity"):
            await closed(PostgresJournal(url, KEY, lease_s=1.0))
    finally:
        await connection.close()


async def test_an_index_is_built_while_others_write_and_servers_start(
    postgres: str, newer: Callable[..., None]
) -> None:
    url = await new_database(postgres)
    await closed(PostgresJournal(url, KEY, lease_s=1.0))
    newer("DROP INDEX CONCURRENTLY IF EXISTS later", "CREATE INDEX CONCURRENTLY later ON executions (updated_us)")
    connection = await asyncpg.connect(url)
    other = await asyncpg.connect(url)
    try:
        await connection.execute("BEGIN")
        await connection.execute("UPDATE executions SET updated_us = 0")  # the index waits until this has ended
        openings = [asyncio.create_task(closed(PostgresJournal(url, KEY, lease_s=1.0))) for _ in range(3)]
        building = "SELECT count(*) FROM pg_stat_progress_create_index"
        while not await other.fetchval(building):  # noqa: ASYNC110 -- it has no event
            await asyncio.sleep(0)
        await asyncio.wait_for(other.execute("UPDATE executions SET updated_us = 1"), 10)
        await connection.execute("COMMIT")
        await asyncio.gather(*openings)
        valid = "SELECT indisvalid FROM pg_index WHERE indexrelid = 'later'::regclass"
        assert await other.fetchval(valid) is True
    finally:
        await connection.close()
        await other.close()


async def closed(journal: Journal) -> None:
    """Open and close a journal."""
    await journal.open()
    await journal.aclose()
