"""The listener of a PostgreSQL database: what it hears, and what it does when the connection is lost."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import asyncpg
import pytest

from codemode.executions.journal.postgres import listener as module
from codemode.executions.journal.postgres.listener import Listener
from tests.integration.codemode.executions.journal.conftest import new_database
from tests.postgres import programs, restartable_cluster

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from codemode.executions.journal.postgres.listener import Heard


class Ear:
    """Keeps what was heard, for a test to wait for."""

    def __init__(self) -> None:
        self._heard: asyncio.Queue[str | None] = asyncio.Queue()

    def __call__(self, payload: str | None) -> None:
        self._heard.put_nowait(payload)

    async def next(self) -> str | None:
        """Return the next payload."""
        return await asyncio.wait_for(self._heard.get(), 30)

    def is_empty(self) -> bool:
        """Return whether everything heard was taken."""
        return self._heard.empty()


@pytest.fixture
async def url(postgres: str) -> str:
    return await new_database(postgres)


@pytest.fixture
async def control(url: str) -> AsyncIterator[asyncpg.Connection]:
    """Yield another connection to the database."""
    connection = await asyncpg.connect(url)
    yield connection
    await connection.close()


async def test_a_subscriber_is_told_when_listening_begins_and_then_hears_payloads_of_its_channel(
    url: str, control: asyncpg.Connection
) -> None:
    first, second = Ear(), Ear()
    async with Listener(url) as listener:
        listener.subscribe("first", first)
        listener.subscribe("second", second)
        assert await first.next() is None
        assert await second.next() is None
        assert listener.is_listening
        await control.execute("SELECT pg_notify('first', 'a'), pg_notify('second', 'b'), pg_notify('third', 'c')")
        assert await first.next() == "a"
        assert await second.next() == "b"
    assert first.is_empty()
    assert second.is_empty()


async def test_a_later_subscriber_is_told_too(url: str, control: asyncpg.Connection) -> None:
    first, same, other = Ear(), Ear(), Ear()
    async with Listener(url) as listener:
        listener.subscribe("first", first)
        assert await first.next() is None
        listener.subscribe("first", same)
        listener.subscribe("other", other)
        assert await same.next() is None
        assert await other.next() is None
        await control.execute("SELECT pg_notify('first', 'a'), pg_notify('other', 'b')")
        assert [await first.next(), await same.next(), await other.next()] == ["a", "a", "b"]


async def test_an_error_of_one_subscriber_does_not_reach_the_others(
    url: str, control: asyncpg.Connection, caplog: pytest.LogCaptureFixture
) -> None:
    other = Ear()

    def fail(_: str | None) -> None:
        raise ValueError("no")

    failing: Heard = fail
    async with Listener(url) as listener:
        listener.subscribe("one", failing)
        listener.subscribe("one", other)
        assert await other.next() is None
        await control.execute("SELECT pg_notify('one', 'a')")
        assert await other.next() == "a"
    assert "a notification on one could not be handled" in caplog.text


async def test_a_lost_connection_is_replaced_and_subscribers_are_told(url: str, control: asyncpg.Connection) -> None:
    ear = Ear()
    async with Listener(url) as listener:
        listener.subscribe("one", ear)
        assert await ear.next() is None
        cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> $1"
        await control.execute(cut.replace("$1", str(control.get_server_pid())))
        assert await ear.next() is None
        await control.execute("SELECT pg_notify('one', 'a')")
        assert await ear.next() == "a"


async def test_a_listener_waits_for_a_database_that_starts_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LONGEST_DELAY_S", 0.2)
    if programs() is None:
        pytest.skip("initdb and pg_ctl are not here: install the distribution's package postgresql")
    with restartable_cluster() as cluster:
        await asyncio.to_thread(cluster.stop)
        ear = Ear()
        async with Listener(cluster.url) as listener:
            listener.subscribe("one", ear)
            assert not listener.is_listening
            await asyncio.to_thread(cluster.start)
            assert await ear.next() is None
            await asyncio.to_thread(cluster.stop)
            await asyncio.to_thread(cluster.start)
            assert await ear.next() is None
            control = await asyncpg.connect(cluster.url)
            await control.execute("SELECT pg_notify('one', 'a')")
            await control.close()
            assert await ear.next() == "a"


async def test_a_connection_that_answers_no_more_is_given_up(
    url: str, control: asyncpg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PROBE_S", 0.05)
    monkeypatch.setattr(module, "PATIENCE_S", 0.3)
    ear = Ear()
    held = asyncio.Event()

    async def stopped(self: asyncpg.Connection, *_: object, **__: object) -> str:
        if not held.is_set():
            held.set()
            raise TimeoutError  # as of a probe without an answer
        return "SELECT 1"

    async with Listener(url) as listener:
        listener.subscribe("one", ear)
        assert await ear.next() is None
        monkeypatch.setattr(asyncpg.Connection, "execute", stopped)
        assert await ear.next() is None
        monkeypatch.undo()
        await control.execute("SELECT pg_notify('one', 'a')")
        assert await ear.next() == "a"
