"""Edits of a journal's file, as somebody with access to it could make."""

from __future__ import annotations

import sqlite3
from contextlib import asynccontextmanager, closing
from typing import TYPE_CHECKING

import asyncpg

from codemode.executions.journal.postgres.journal import PostgresJournal
from codemode.executions.journal.sqlite.journal import SqliteJournal

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from codemode.executions.journal.base import Journal

    Edit = Callable[[str], Awaitable[None]]


@asynccontextmanager
async def edited(journal: Journal) -> AsyncIterator[Edit]:
    """Yield a function that changes rows behind a journal's back."""
    if isinstance(journal, SqliteJournal):
        with closing(sqlite3.connect(journal._file, timeout=60, isolation_level=None)) as file:

            async def edit(statement: str) -> None:
                assert file.execute(statement).rowcount == 1

            yield edit
        return
    assert isinstance(journal, PostgresJournal)
    connection = await asyncpg.connect(journal._url)
    try:

        async def edit(statement: str) -> None:
            assert (await connection.execute(statement)).endswith(" 1")

        yield edit
    finally:
        await connection.close()
