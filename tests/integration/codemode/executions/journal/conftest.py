"""Journals under test: one contract on SQLite and on a local PostgreSQL cluster."""

from __future__ import annotations

import itertools
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import asyncpg
import pytest

from codemode.executions.journal.key import DigestKey
from codemode.executions.journal.postgres.journal import PostgresJournal
from codemode.executions.journal.sqlite.journal import SqliteJournal
from codemode.executions.types.records import NewExecution
from tests.postgres import cluster, programs

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from pathlib import Path

    from codemode.executions.journal.base import StoredJournal

KEY = DigestKey(b"a key of tests")

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """Return the URL of the cluster's first database."""
    if programs() is None:
        pytest.skip("initdb and pg_ctl are not here: install the distribution's package postgresql")
    with cluster() as url:
        yield url


@dataclass
class Store:
    """One store, with as many servers as a test opens."""

    make: Callable[..., StoredJournal]
    stack: AsyncExitStack

    async def server(self, *, lease_s: float = 60.0, key: DigestKey = KEY, **options: Any) -> StoredJournal:
        """Open another server, with its own journal on the same store."""
        journal = self.make(key, lease_s=lease_s, **options)
        self.stack.push_async_callback(journal.aclose)
        await journal.open()
        return journal


@pytest.fixture(params=["sqlite", "postgres"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    """Yield an empty store."""
    async with AsyncExitStack() as stack:
        if request.param == "sqlite":
            file = tmp_path / "state" / "journal.sqlite3"
            yield Store(lambda key, **options: SqliteJournal(file, key, **options), stack)
        else:
            url = await new_database(request.getfixturevalue("postgres"))
            yield Store(lambda key, **options: PostgresJournal(url, key, **options), stack)


@pytest.fixture
async def journal(store: Store) -> StoredJournal:
    """Yield the only server of an empty store."""
    return await store.server()


async def new_database(url: str) -> str:
    """Return the URL of a new, unused database."""
    name = f"test_{next(_numbers)}"
    connection = await asyncpg.connect(url)
    try:
        await connection.execute(f"CREATE DATABASE {name}")
    finally:
        await connection.close()
    return url.replace("/postgres?", f"/{name}?")


def new(identity: str = "ex_1", **given: Any) -> NewExecution:
    """Return a new execution with defaults for everything that a test does not set."""
    needed: dict[str, Any] = {"owner": "ann", "role": "r", "code": "1", "seed": bytes(32), "start_us": 1}
    return NewExecution(**(needed | given), id=identity)
