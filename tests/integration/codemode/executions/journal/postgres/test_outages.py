"""A PostgreSQL that dies or restarts while servers write to it."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import asyncpg
import pytest

from codemode.errors import JournalUnavailable, LeaseLost, RequestRepeated
from codemode.executions.journal.postgres import journal as store
from codemode.executions.journal.postgres import outages
from codemode.executions.journal.postgres.journal import PostgresJournal
from codemode.executions.types.records import JournalEntry
from codemode.gateway.answer_checks import Differences
from codemode.service import CodeMode
from codemode.settings import Settings
from tests.integration.codemode.executions.journal.conftest import KEY, new
from tests.postgres import Cluster, programs, restartable_cluster
from tests.unit.codemode.transports.sockets import listening

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path


FOREVER_S = 1e6


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    if programs() is None:
        pytest.skip("initdb and pg_ctl are not here: install the distribution's package postgresql")
    with restartable_cluster() as made:
        yield made


@pytest.fixture
async def journal(cluster: Cluster) -> AsyncIterator[PostgresJournal]:
    """Yield a journal whose database does not write to its disk by itself for ten seconds."""
    control = await asyncpg.connect(cluster.url)
    await control.execute("ALTER SYSTEM SET wal_writer_delay = '10s'")
    await control.execute("SELECT pg_reload_conf()")
    await control.close()
    journal = PostgresJournal(cluster.url, KEY, lease_s=600.0)
    await journal.open()
    yield journal
    await journal.aclose()


def started(path: str, effect: str = "write", key: str = "") -> JournalEntry:
    return JournalEntry("started", path, {"effect": effect, "key": key})


async def restart(cluster: Cluster, mode: str) -> None:
    await asyncio.to_thread(cluster.stop, mode)
    await asyncio.to_thread(cluster.start)


async def test_the_start_of_an_unkeyed_write_survives_the_death_of_the_database(
    cluster: Cluster, journal: PostgresJournal
) -> None:
    confirmed: dict[str, int] = {}

    async def write(name: str) -> None:
        lease = await journal.create(new(name))
        with suppress(LeaseLost, JournalUnavailable):
            while True:
                number = confirmed.get(name, 0) + 1
                await journal.append(lease, [started(str(number))])
                confirmed[name] = number

    writers = [asyncio.create_task(write(f"ex_{number}")) for number in range(8)]
    while len(confirmed) < len(writers) or min(confirmed.values()) < 20:  # noqa: ASYNC110 -- it has no event
        await asyncio.sleep(0)
    await asyncio.to_thread(cluster.stop, "immediate")
    sent = dict(confirmed)
    await asyncio.to_thread(cluster.start)
    async with asyncio.timeout(200):
        while any(confirmed[name] == sent[name] for name in sent):  # noqa: ASYNC110 -- each goes on after the outage
            await asyncio.sleep(0.01)
    for writer in writers:
        writer.cancel()
    await asyncio.gather(*writers, return_exceptions=True)
    for name, count in confirmed.items():
        paths = [entry.path for entry in await journal.read(name)]
        assert paths[:count] == [str(number) for number in range(1, count + 1)]
        assert len(paths) <= count + 1  # the cancelled append may have been written


async def test_what_the_database_lost_is_no_ground_to_go_on(cluster: Cluster, journal: PostgresJournal) -> None:
    lease = await journal.create(new("ex_1"))
    await journal.append(lease, [started("1")])
    await journal.append(lease, [started("2", effect="read")])
    await restart(cluster, "immediate")
    with pytest.raises(LeaseLost, match="has lost confirmed entries of ex_1"):
        await journal.append(lease, [started("3")])
    assert [entry.path for entry in await journal.read("ex_1")] == ["1"]
    with pytest.raises(LeaseLost):
        await journal.finish(lease, "failed", {"id": "ex_1", "status": "failed"})
    assert await journal.orphans() == ("ex_1",)


async def test_an_end_is_not_recorded_upon_entries_that_the_database_lost(
    cluster: Cluster, journal: PostgresJournal
) -> None:
    lease = await journal.create(new("ex_1"))
    await journal.append(lease, [started("1")])
    await journal.append(lease, [started("2", effect="read")])
    await restart(cluster, "immediate")
    with pytest.raises(LeaseLost, match="has lost confirmed entries of ex_1"):
        await journal.finish(lease, "completed", {"id": "ex_1", "status": "completed"})
    assert (await journal.get("ex_1")).status == "running"


async def test_an_end_that_is_recorded_late_is_not_recorded_upon_entries_that_the_database_lost(
    cluster: Cluster, journal: PostgresJournal
) -> None:
    lease = await journal.create(new("ex_1"))
    await journal.append(lease, [started("1")])
    await journal.append(lease, [started("2", effect="read")])
    outcome = {"id": "ex_1", "status": "completed"}
    holder = await asyncpg.connect(cluster.url)
    await holder.execute("BEGIN")
    await holder.execute("SELECT 1 FROM contents FOR UPDATE")
    ending = asyncio.create_task(journal.finish(lease, "completed", outcome))
    while not await holder.fetchval("SELECT count(*) FROM pg_locks WHERE NOT granted"):  # noqa: ASYNC110 -- it has no event
        await asyncio.sleep(0)
    await restart(cluster, "immediate")
    with pytest.raises(JournalUnavailable):
        await ending
    with pytest.raises(LeaseLost, match="has lost confirmed entries of ex_1"):
        await journal.finish(lease, "completed", outcome)
    assert (await journal.get("ex_1")).status == "running"


async def test_a_request_that_may_be_repeated_survives_the_death_of_the_database(
    cluster: Cluster, journal: PostgresJournal
) -> None:
    await journal.create(replace(new("ex_1"), request_key="a key", request_digest="a digest"))
    await restart(cluster, "immediate")
    with pytest.raises(RequestRepeated, match="see execution ex_1"):
        await journal.create(replace(new("ex_2"), request_key="a key", request_digest="a digest"))


async def test_what_the_database_lost_is_noticed_by_an_append_under_way(
    cluster: Cluster, journal: PostgresJournal
) -> None:
    lease = await journal.create(new("ex_1"))
    await journal.append(lease, [started("1")])
    await journal.append(lease, [started("2", effect="read")])
    holder = await asyncpg.connect(cluster.url)
    await holder.execute("BEGIN")
    await holder.execute("SELECT 1 FROM executions FOR UPDATE")
    writing = asyncio.create_task(journal.append(lease, [started("3")]))
    while not await holder.fetchval("SELECT count(*) FROM pg_locks WHERE NOT granted"):  # noqa: ASYNC110 -- it has no event
        await asyncio.sleep(0)
    await restart(cluster, "immediate")
    with pytest.raises(LeaseLost, match="has lost confirmed entries of ex_1"):
        await writing
    assert [entry.path for entry in await journal.read("ex_1")] == ["1"]


async def test_a_crash_of_the_database_is_known_and_a_restart_is_none(
    cluster: Cluster, journal: PostgresJournal
) -> None:
    lease = await journal.create(new("ex_1"))
    await journal.append(lease, [started("1")])
    (entry,) = await journal.read("ex_1")
    await restart(cluster, "fast")
    assert await journal.last_loss_us() < entry.at_us
    await restart(cluster, "immediate")
    assert await journal.last_loss_us() > entry.at_us
    careful = PostgresJournal(cluster.url, KEY, lease_s=600.0, durability="power")
    await careful.open()
    assert await careful.last_loss_us() == 0
    await careful.aclose()


async def test_a_restart_is_waited_for(cluster: Cluster, journal: PostgresJournal) -> None:
    lease = await journal.create(new("ex_1"))
    await journal.append(lease, [started("1", effect="read")])
    await asyncio.to_thread(cluster.stop, "fast")
    writing = asyncio.create_task(journal.append(lease, [started("2")]))
    reading = asyncio.create_task(journal.get("ex_1"))
    creating = asyncio.create_task(journal.create(new("ex_2")))
    done, _ = await asyncio.wait((writing, reading, creating), timeout=0.5)
    assert not done
    await asyncio.to_thread(cluster.start)
    assert await writing == 2
    assert (await reading).status == "running"
    assert (await creating).execution == "ex_2"


async def test_the_first_append_of_an_execution_waits_for_a_restart_that_breaks_its_connection(
    cluster: Cluster, journal: PostgresJournal
) -> None:
    lease = await journal.create(new("ex_1"))
    holder = await asyncpg.connect(cluster.url)
    await holder.execute("BEGIN; LOCK TABLE executions IN ACCESS EXCLUSIVE MODE")
    writing = asyncio.create_task(journal.append(lease, [started("1")]))
    watcher = await asyncpg.connect(cluster.url)
    while not await watcher.fetchval("SELECT count(*) FROM pg_locks WHERE NOT granted"):  # noqa: ASYNC110 -- it has no event
        await asyncio.sleep(0)
    await restart(cluster, "fast")
    assert await writing == 1
    assert [entry.path for entry in await journal.read("ex_1")] == ["1"]


class Wire:
    """A proxy to a database that passes on its last words, but not that it has closed the connection."""

    def __init__(self, socket: str) -> None:
        self._socket = socket
        self.ended = asyncio.Event()
        self.is_cut = False
        self.lost = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection."""
        answers, asks = await asyncio.open_unix_connection(self._socket)
        answering = asyncio.create_task(self._copy(answers, writer))
        try:
            while data := await reader.read(65536):
                if self.is_cut:
                    self.lost.set()
                else:
                    asks.write(data)
        finally:
            answering.cancel()
            asks.close()

    async def _copy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            writer.write(data)
        self.ended.set()


async def test_a_connection_that_the_database_has_just_ended_is_replaced(cluster: Cluster) -> None:
    wire = Wire(f"{cluster.home}/.s.PGSQL.5432")
    async with listening(wire.serve) as port:
        journal = PostgresJournal(
            f"postgresql://postgres@127.0.0.1:{port}/postgres?sslmode=disable", KEY, lease_s=600.0
        )
        await journal.open()
        lease = await journal.create(new("ex_1"))
        await asyncio.to_thread(cluster.stop, "fast")
        await wire.ended.wait()
        writing = asyncio.create_task(journal.append(lease, [started("1")]))
        await asyncio.to_thread(cluster.start)
        assert await writing == 1
        await journal.aclose()


async def test_a_database_that_stays_away_is_not_waited_for_again_and_again(
    cluster: Cluster, journal: PostgresJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outages, "OUTAGE_S", 0.3)
    lease = await journal.create(new("ex_1"))
    await asyncio.to_thread(cluster.stop, "fast")
    for _ in range(3):
        with pytest.raises(JournalUnavailable, match="cannot be used"):
            await journal.append(lease, [started("1")])
    await asyncio.to_thread(cluster.start)
    assert await journal.append(lease, [started("1")]) == 1


async def test_a_task_that_is_cancelled_ends_so_also_if_its_rollback_fails(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "PATIENCE_S", 1.0)
    wire = Wire(f"{cluster.home}/.s.PGSQL.5432")
    async with listening(wire.serve) as port:
        journal = PostgresJournal(
            f"postgresql://postgres@127.0.0.1:{port}/postgres?sslmode=disable", KEY, lease_s=600.0
        )
        await journal.open()
        wire.is_cut = True
        reading = asyncio.create_task(journal.orphans())
        await wire.lost.wait()
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(reading, 200)
        await journal.aclose()


async def test_closing_does_not_wait_for_a_database_that_has_gone_silent(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "PATIENCE_S", FOREVER_S)
    wire = Wire(f"{cluster.home}/.s.PGSQL.5432")
    async with listening(wire.serve) as port:
        journal = PostgresJournal(
            f"postgresql://postgres@127.0.0.1:{port}/postgres?sslmode=disable", KEY, lease_s=600.0
        )
        await journal.open()
        lease = await journal.create(new("ex_1"))
        await asyncio.gather(*(journal.get("ex_1") for _ in range(4)))  # all connections are open
        wire.is_cut = True
        writing = asyncio.create_task(journal.append(lease, [started("1")]))
        reading = asyncio.create_task(journal.get("ex_1"))
        await asyncio.sleep(0)
        async with asyncio.timeout(200):
            await journal.aclose()
            for waiting in (writing, reading):
                with pytest.raises(JournalUnavailable):
                    await waiting


async def test_a_service_closes_while_its_database_is_away(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outages, "OUTAGE_S", FOREVER_S)
    (tmp_path / "secret").write_text("the key of all servers")
    called = asyncio.Event()

    async def wait() -> None:
        """Wait."""
        called.set()
        await asyncio.Event().wait()

    settings = Settings.model_validate(
        {
            "name": "shop",
            "state_folder": str(tmp_path),
            "journal": {"url": cluster.url, "key": {"file": str(tmp_path / "secret")}},
        }
    )
    async with CodeMode(settings, {"shop": [wait]}) as service:
        running = asyncio.create_task(service.execute("shop.wait()"))
        await called.wait()
        service.knowledge.answer_checks.differences["shop.wait"] = Differences(1, "")
        await asyncio.to_thread(cluster.stop)
        async with asyncio.timeout(200):
            await service.aclose()
        running.cancel()
