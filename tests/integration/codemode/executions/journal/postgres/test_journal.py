"""The PostgreSQL journal: concurrent creation by several servers, and an unavailable database."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

import asyncpg
import pytest

from codemode.errors import ConfigurationError, JournalUnavailable
from codemode.executions.journal.migrations import migrations
from codemode.executions.journal.postgres import outages
from codemode.executions.journal.postgres.errors import shown
from codemode.executions.journal.postgres.journal import PostgresJournal
from codemode.executions.types.records import JournalEntry, Lease
from tests.integration.codemode.executions.journal.conftest import KEY, new, new_database

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@pytest.fixture
async def url(postgres: str) -> str:
    return await new_database(postgres)


@pytest.fixture
async def stack() -> AsyncIterator[AsyncExitStack]:
    async with AsyncExitStack() as stack:
        yield stack


async def opened(url: str, stack: AsyncExitStack) -> PostgresJournal:
    journal = PostgresJournal(url, KEY, lease_s=60.0)
    stack.push_async_callback(journal.aclose)
    await journal.open()
    return journal


async def test_servers_that_make_it_at_once_do_not_disturb_each_other(url: str, stack: AsyncExitStack) -> None:
    servers = await asyncio.gather(*(opened(url, stack) for _ in range(6)))
    made = await asyncio.gather(*(one.create(new(f"ex_{n}")) for n, one in enumerate(servers)))
    assert len({lease.execution for lease in made}) == 6
    connection = await asyncpg.connect(url)
    stack.push_async_callback(connection.close)
    assert [row["version"] for row in await connection.fetch("SELECT version FROM journal_schema")] == [
        migrations("postgres")[-1].version
    ]


async def test_a_database_of_a_newer_program_is_refused(url: str, stack: AsyncExitStack) -> None:
    await opened(url, stack)
    connection = await asyncpg.connect(url)
    stack.push_async_callback(connection.close)
    await connection.execute("INSERT INTO codemode_migrations VALUES (99)")
    with pytest.raises(ConfigurationError, match="readable by versions >= 99, and this codemode has version"):
        await opened(url, stack)


async def test_an_append_whose_connection_breaks_is_made_on_another(url: str, stack: AsyncExitStack) -> None:
    journal = await opened(url, stack)
    lease = await journal.create(new())
    connection = await asyncpg.connect(url)
    stack.push_async_callback(connection.close)
    held = (
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )
    await connection.execute("BEGIN")
    await connection.execute("SELECT 1 FROM executions FOR UPDATE")
    writing = asyncio.create_task(journal.append(lease, [JournalEntry("started", "1")]))
    while not await connection.fetchval("SELECT count(*) FROM pg_locks WHERE NOT granted"):  # noqa: ASYNC110 -- it has no event
        await asyncio.sleep(0)
    await connection.execute(held)
    await connection.execute("ROLLBACK")
    assert await writing == 1
    assert await journal.append(lease, [JournalEntry("started", "2")]) == 2


@pytest.mark.parametrize("suffix", ["?host=/nonexistent", "?port=1"])
async def test_a_database_that_is_not_there_is_named_without_its_password(
    suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outages, "OUTAGE_S", 0.1)
    journal = PostgresJournal(f"postgresql://ann:hunter2@127.0.0.1/journal{suffix}", KEY, lease_s=1.0)
    with pytest.raises(JournalUnavailable, match=r"postgresql://127.0.0.1/journal cannot be used: ") as refused:
        await journal.open()
    assert "hunter2" not in str(refused.value)
    with pytest.raises(JournalUnavailable, match="it is closed"):
        await journal.get("ex_1")


async def test_two_servers_that_resume_the_same_at_once_do_not_both_win(url: str, stack: AsyncExitStack) -> None:
    one, other = await opened(url, stack), await opened(url, stack)
    for n in range(20):
        await one.pause(await one.create(new(f"ex_{n}")), [], {})
        claims = await asyncio.gather(one.claim(f"ex_{n}"), other.claim(f"ex_{n}"), return_exceptions=True)
        assert sum(isinstance(claim, Lease) for claim in claims) == 1


def test_a_url_is_shown_without_user_password_and_options() -> None:
    assert shown("postgresql://ann:x@db.example:5433/j?password=y") == "postgresql://db.example:5433/j"
