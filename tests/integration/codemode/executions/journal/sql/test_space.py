"""The space of executions, and that of executions which an earlier version recorded."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import asyncpg

from codemode.errors import JournalUnavailable
from codemode.executions.journal.postgres.journal import PostgresJournal
from codemode.executions.journal.sql import space
from codemode.executions.journal.sql.space import Bounds
from codemode.executions.journal.sql.statements import Now
from codemode.executions.journal.sqlite.journal import SqliteJournal
from tests.integration.codemode.executions.journal.conftest import new
from tests.integration.codemode.executions.journal.rows import ended, kept, waiting

if TYPE_CHECKING:
    import pytest

    from codemode.executions.journal.base import Journal
    from codemode.executions.journal.sql.statements import Transaction
    from tests.integration.codemode.executions.journal.conftest import Store


UNDO = (
    "DROP INDEX executions_by_end",
    "DROP INDEX executions_by_owner_and_end",
    "ALTER TABLE executions DROP COLUMN bytes",
    "DROP TABLE space",
    "DROP TABLE kept_content",
    "DROP TABLE state",
    "DROP TABLE stores",
    "DROP TABLE plans",
    "DROP TABLE outbox",
    "DROP TABLE journal_schema",
    "DROP TABLE shared",
    "DROP TABLE request_keys",
)

UNDO_POSTGRES = (
    "DROP FUNCTION codemode_signal CASCADE",
    "ALTER TABLE executions DROP COLUMN followed_until_us",
    "DROP TABLE allowances",
    *UNDO,
    "DELETE FROM codemode_migrations WHERE version >= 3",
)


async def taken_back(journal: Journal) -> None:
    """Restore a store to its state before executions were measured."""
    if isinstance(journal, SqliteJournal):
        with closing(sqlite3.connect(journal._file, timeout=60)) as file:
            file.executescript(";".join((*UNDO, "PRAGMA user_version = 2")))
        return
    assert isinstance(journal, PostgresJournal)
    connection = await asyncpg.connect(journal._url)
    try:
        await connection.execute(";".join(UNDO_POSTGRES))
    finally:
        await connection.close()


async def test_what_an_earlier_version_recorded_is_measured(store: Store) -> None:
    earlier = await store.server()
    for n in range(3):
        await ended(earlier, f"ex_{n}")
    await waiting(earlier, "ex_paused")
    await taken_back(earlier)
    journal = await store.server(bounds=Bounds(all=450_000))
    await journal.create(new("ex_running"))
    await ended(journal, "ex_new")
    assert await kept(journal) == ["ex_new", "ex_running", "ex_paused", "ex_2", "ex_1"]


async def test_an_end_is_recorded_even_if_nothing_can_be_removed_for_it(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = await store.server(bounds=Bounds(all=300_000))
    for n in range(2):
        await ended(journal, f"ex_{n}")
    with monkeypatch.context() as patched:
        patched.setattr(space, "make_room", unavailable)
        await ended(journal, "ex_2")
    assert await kept(journal) == ["ex_2", "ex_1", "ex_0"]
    await ended(journal, "ex_3")
    assert "ex_3" in await kept(journal)
    assert "ex_0" not in await kept(journal)


def unavailable(*_: object) -> Transaction[None]:
    yield Now()
    raise JournalUnavailable("the disk cannot be written")
