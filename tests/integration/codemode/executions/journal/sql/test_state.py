"""Stored values of conversations, on each database."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import asyncpg
import pytest

from codemode.errors import JournalDamaged, LeaseLost
from codemode.executions.journal.postgres.journal import PostgresJournal
from codemode.executions.journal.sqlite.journal import SqliteJournal
from codemode.executions.types.records import Retention
from codemode.executions.types.state_values import StateKey, StateWrite, size_of
from codemode.features.conversations.table import StateTable
from tests.integration.codemode.executions.journal.conftest import new

if TYPE_CHECKING:
    from codemode.executions.journal.base import Journal
    from codemode.executions.types.records import Lease
    from tests.integration.codemode.executions.journal.conftest import Store

KEY = StateKey("ann", "c1", "totals")
EVERYTHING = Retention(age_s=0, count=1)


def write(value: bytes = b"[1]", key: StateKey = KEY, *, keep_s: float = 1e6, owner_bytes: int = 10_000) -> StateWrite:
    return StateWrite(key, value, keep_s, owner_bytes)


@pytest.fixture
async def lease(journal: Journal) -> Lease:
    return await journal.create(new())


async def test_a_value_is_loaded_by_its_owner_in_its_conversation_only(journal: Journal, lease: Lease) -> None:
    value = '[1, "ü"]'.encode()
    assert await StateTable(journal).store_state(lease, "1", write(value)) == 0
    assert await StateTable(journal).load_state(KEY) == value
    for other in (KEY._replace(owner="bob"), KEY._replace(conversation="c2"), KEY._replace(name="other")):
        assert await StateTable(journal).load_state(other) is None
    assert await StateTable(journal).state_names("ann", "c1") == ("totals",)
    assert await StateTable(journal).state_names("bob", "c1") == ()


async def test_the_same_call_stores_once(journal: Journal, lease: Lease) -> None:
    await StateTable(journal).store_state(lease, "1", write(b"1"))
    assert await StateTable(journal).store_state(lease, "2", write(b"2")) == 0
    assert await StateTable(journal).store_state(lease, "1", write(b"1")) == 0
    assert await StateTable(journal).load_state(KEY) == b"2"


async def test_a_path_of_a_hostile_guest_is_only_text(journal: Journal, lease: Lease) -> None:
    await StateTable(journal).store_state(lease, "\x00\ud800", write())
    assert await StateTable(journal).load_state(KEY) == b"[1]"


async def test_a_server_that_lost_its_lease_stores_nothing(journal: Journal, lease: Lease) -> None:
    with pytest.raises(LeaseLost):
        await StateTable(journal).store_state(replace(lease, generation=lease.generation + 1), "1", write())
    assert await StateTable(journal).load_state(KEY) is None


async def test_the_values_of_an_owner_have_a_limit(journal: Journal, lease: Lease) -> None:
    value = b'"' + b"x" * 998 + b'"'
    limit = 2 * size_of(value)
    for name in ("a", "b"):
        await StateTable(journal).store_state(lease, name, write(value, KEY._replace(name=name), owner_bytes=limit))
    rejected = await StateTable(journal).store_state(lease, "c", write(b"1", KEY._replace(name="c"), owner_bytes=limit))
    assert rejected == size_of(b"1")
    assert await StateTable(journal).state_names("ann", "c1") == ("a", "b")
    assert (
        await StateTable(journal).store_state(lease, "d", write(value, KEY._replace(name="a"), owner_bytes=limit)) == 0
    )
    other = KEY._replace(owner="bob")
    assert await StateTable(journal).store_state(lease, "e", write(value, other, owner_bytes=limit)) == 0


async def test_values_are_listed_by_owner_and_conversation_and_removed_together(journal: Journal, lease: Lease) -> None:
    table = StateTable(journal)
    other, bob = KEY._replace(conversation="c2"), KEY._replace(owner="bob", name="his")
    for path, key in (("1", KEY), ("2", other), ("3", bob)):
        await table.store_state(lease, path, write(key=key))
    await table.store_state(lease, "4", write(key=KEY._replace(name="old"), keep_s=0))
    assert {one.key for one in await table.list_values("", "", 10)} == {KEY, other, bob}
    assert [one.key for one in await table.list_values("ann", "c1", 10)] == [KEY]
    (value,) = await table.list_values("bob", "", 10)
    assert (value.key, value.size_bytes) == (bob, size_of(b"[1]"))
    assert len(await table.list_values("", "", 2)) == 2
    assert await table.remove("ann", "c1") == 2  # with the expired one
    assert await table.load_state(KEY) is None
    assert await table.load_state(other) == b"[1]"


async def test_expired_values_are_gone_and_pruning_removes_their_rows(journal: Journal, lease: Lease) -> None:
    await StateTable(journal).store_state(lease, "1", write(key=KEY._replace(name="old"), keep_s=0))
    await StateTable(journal).store_state(lease, "2", write())
    assert await StateTable(journal).load_state(KEY._replace(name="old")) is None
    assert await StateTable(journal).state_names("ann", "c1") == ("totals",)
    await journal.prune(EVERYTHING)
    assert await rows(journal, "SELECT name FROM state") == ["totals"]


async def test_removing_an_execution_forgets_its_calls_and_keeps_its_values(journal: Journal, lease: Lease) -> None:
    await StateTable(journal).store_state(lease, "1", write())
    await journal.finish(lease, "completed", {"status": "completed"})
    await journal.prune(EVERYTHING)
    assert await rows(journal, "SELECT path FROM stores") == []
    assert await StateTable(journal).load_state(KEY) == b"[1]"


async def test_projects_do_not_share_values(store: Store) -> None:
    one, two = await store.server(project="one"), await store.server(project="two")
    await StateTable(one).store_state(await one.create(new()), "1", write())
    assert await StateTable(two).load_state(KEY) is None


async def test_a_value_that_was_changed_by_hand_is_not_returned(journal: Journal, lease: Lease) -> None:
    await StateTable(journal).store_state(lease, "1", write())
    await rows(journal, "UPDATE state SET owner = 'bob' RETURNING name")
    with pytest.raises(JournalDamaged, match="the stored value 'totals'"):
        await StateTable(journal).load_state(KEY._replace(owner="bob"))


async def rows(journal: Journal, sql: str) -> list[Any]:
    """Return the first column of the rows of a statement, executed by another connection."""
    if isinstance(journal, SqliteJournal):
        with closing(sqlite3.connect(journal._file, timeout=60)) as file, file:
            return [row[0] for row in file.execute(sql).fetchall()]
    assert isinstance(journal, PostgresJournal)
    connection = await asyncpg.connect(journal._url)
    try:
        return [row[0] for row in await connection.fetch(sql)]
    finally:
        await connection.close()
