"""Two servers on one PostgreSQL, each with its own state folder: one server owns an execution at a time."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from codemode.errors import ApprovalRefused, ConfigurationError, ExecutionNotFound, LeaseHeld
from codemode.executions.journal.postgres import outages
from codemode.executions.types.records import Decision
from tests.integration.codemode.executions.journal.conftest import new_database
from tests.integration.codemode.executions.upstream import APPROVER, OWNER, Place, place
from tests.unit.codemode.transports.sockets import listening

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from codemode.service import CodeMode

PROGRAM = """
import random
from concurrent.futures import ThreadPoolExecutor
up.x.post(n=random.randrange(1000))
with ThreadPoolExecutor(2) as pool:
    list(pool.map(lambda n: up.x.drop(n=n), (1, 2)))
up.x.post(n=random.randrange(1000))
"""


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[Place]:
    async with place(tmp_path) as made:
        yield made


def server(here: Place, name: str, url: str, key: str = "the key of both") -> CodeMode:
    (here.folder / f"{key}.key").write_text(key, encoding="utf-8")
    journal = {"url": url, "key": {"file": str(here.folder / f"{key}.key")}}
    return here.service(journal=journal, state_folder=str(here.folder / name))


async def test_a_paused_execution_goes_on_on_one_of_two_servers_that_resume_it_at_once(
    here: Place, postgres: str
) -> None:
    url = await new_database(postgres)
    async with server(here, "first", url) as first, server(here, "second", url) as second:
        for times in range(1, 4):
            outcome = await first.execute(PROGRAM, caller=OWNER)
            assert outcome.status == "paused"
            asked = await second.executions.approvals(APPROVER)
            await second.executions.decide([Decision(one.id, one.digest, "approved", "") for one in asked], APPROVER)
            tries = (one.executions.resume(outcome.id, OWNER) for one in (first, second))
            results = await asyncio.gather(*tries, return_exceptions=True)
            assert sorted(type(result).__name__ for result in results) == ["LeaseHeld", "NoneType"], results
            stored = await first.executions.wait(outcome.id, OWNER, 60.0)
            assert stored.status == "completed"
            assert len(here.upstream.seen) == 4 * times
            assert sum(one.startswith("DELETE") for one in here.upstream.seen) == 2 * times


async def test_what_runs_on_one_server_is_not_taken_up_by_another(here: Place, postgres: str) -> None:
    url = await new_database(postgres)
    async with server(here, "first", url) as first, server(here, "second", url) as second:
        hold = here.upstream.hold("/get")
        running = asyncio.create_task(first.execute("up.x.get(n=1)", caller=OWNER))
        await here.upstream.wait_for(1)
        assert await second.executions.recover() == ()
        (one,) = await second.executions.list(OWNER)
        with pytest.raises(LeaseHeld):
            await second.executions.resume(one.request.id, OWNER)
        hold.set()
        assert (await running).status == "completed"
    assert here.upstream.seen == ["GET /get?n=1"]


async def test_an_execution_is_cancelled_through_another_server_and_sends_nothing_more(
    here: Place, postgres: str
) -> None:
    url = await new_database(postgres)
    async with server(here, "first", url) as first, server(here, "second", url) as second:
        hold = here.upstream.hold("/get")
        code = "up.x.get(n=1)\nup.x.post(n=2)"
        running = asyncio.create_task(first.execute(code, caller=OWNER))
        await here.upstream.wait_for(1)
        (one,) = await second.executions.list(OWNER)
        assert (await second.executions.cancel(one.request.id, OWNER)).status == "cancelled"
        hold.set()
        cancelled = await running
        assert (cancelled.status, [(call.tool, call.state) for call in cancelled.calls]) == (
            "cancelled",
            [("up.x.get", "cancelled")],
        )
        assert (await first.executions.get(one.request.id, OWNER)).status == "cancelled"
    assert here.upstream.seen == ["GET /get?n=1"]


async def test_a_server_that_was_held_up_does_not_take_from_itself_what_it_runs(here: Place) -> None:
    async with here.service() as service:
        hold = here.upstream.hold("/post")
        running = asyncio.create_task(service.execute("up.x.post(n=1)", caller=OWNER))
        await here.upstream.wait_for(1)
        with closing(sqlite3.connect(here.folder / "state" / "journal.sqlite3")) as database, database:
            database.execute("UPDATE executions SET lease_until_us = 0")
        assert await service.executions.recover() == ()
        hold.set()
        assert (await running).status == "completed"
    assert here.upstream.seen == ["POST /post?n=1"]


class Wire:
    """A proxy to a database that can drop the reply to the next commit on a connection that creates executions."""

    def __init__(self, socket: str) -> None:
        self._socket = socket
        self.loses_commit = False
        self.lost = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection."""
        answers, asks = await asyncio.open_unix_connection(self._socket)
        copying = asyncio.create_task(self._copy(answers, writer))
        creates = False
        try:
            while data := await reader.read(65536):
                creates = creates or b"INSERT INTO executions" in data
                is_last = self.loses_commit and creates and b"COMMIT" in data
                if is_last:
                    copying.cancel()
                    await asyncio.wait((copying,))
                asks.write(data)
                if is_last:
                    await answers.read(1)  # it was committed
                    self.loses_commit = False
                    self.lost += 1
                    return
        finally:
            copying.cancel()
            asks.close()

    async def _copy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            writer.write(data)


async def test_what_was_created_and_not_run_since_the_answer_was_lost_is_not_run_later(
    here: Place, postgres: str
) -> None:
    url = await new_database(postgres)
    path, _, folder = url.partition("?host=")
    wire = Wire(f"{folder}/.s.PGSQL.5432")
    async with listening(wire.serve) as port:
        local = path.replace("postgresql://postgres@/", f"postgresql://postgres@127.0.0.1:{port}/") + "?sslmode=disable"
        (here.folder / "key").write_text("the key of all", encoding="utf-8")
        async with here.service(journal={"url": local, "key": {"file": str(here.folder / "key")}, "lease_s": 1}) as one:
            assert (await one.execute("1", caller=OWNER)).status == "completed"
            wire.loses_commit = True
            outcome = await one.execute("up.x.post(n=1)", caller=OWNER)
            assert outcome.status == "failed"
            assert wire.lost == 1
            (created, _) = await one.executions.list(OWNER)
            stored = await one.executions.wait(created.request.id, OWNER, 60)
            assert stored.status == "cancelled"
            assert await one.executions.recover() == ()
    assert here.upstream.seen == []


async def test_a_server_with_another_key_is_refused(here: Place, postgres: str) -> None:
    url = await new_database(postgres)
    async with server(here, "first", url) as first:
        await first.executions.open()
        with pytest.raises(ConfigurationError, match="was created with another key"):
            async with server(here, "second", url, "the key of others"):
                pass


async def test_two_names_on_one_database_are_apart_and_servers_of_one_name_share(here: Place, postgres: str) -> None:
    url = await new_database(postgres)

    (here.folder / "key").write_text("the key of both", encoding="utf-8")
    journal = {"url": url, "key": {"file": str(here.folder / "key")}}

    def named(name: str, folder: str) -> CodeMode:
        return here.service(name=name, journal=journal, state_folder=str(here.folder / folder))

    async with named("staging", "a") as staging, named("prod", "b") as prod:
        paused = await staging.execute("up.x.drop(n=1)", caller=OWNER)
        (asked,) = await staging.executions.approvals(APPROVER)
        assert await prod.executions.list(APPROVER) == ()
        assert await prod.executions.approvals(APPROVER) == ()
        with pytest.raises(ApprovalRefused):
            await prod.executions.decide([Decision(asked.id, asked.digest, "approved", "")], APPROVER)
        with pytest.raises(ExecutionNotFound):
            await prod.executions.resume(paused.id, OWNER)
        async with named("staging", "c") as another:
            await another.executions.decide([Decision(asked.id, asked.digest, "approved", "")], APPROVER)
            await another.executions.resume(paused.id, OWNER)
            assert (await another.executions.wait(paused.id, OWNER, 60.0)).status == "completed"
    assert here.upstream.seen == ["DELETE /drop?n=1"]


async def test_the_first_server_of_a_database_makes_no_key_of_its_own(
    here: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outages, "OUTAGE_S", 0.1)  # nothing listens at this URL
    shared = {"url": "postgresql:///shared", "enabled": True}
    first = here.service(journal=shared, state_folder=str(here.folder / "new"))
    with pytest.raises(ConfigurationError, match=r"`journal.key` is missing.*secrets.token_hex.*CODEMODE_JOURNAL_KEY"):
        await first.open()
    assert not (here.folder / "new" / "journal.key").exists()
    earlier = here.folder / "earlier"
    earlier.mkdir()
    (earlier / "journal.key").write_bytes(bytes(32))
    second = here.service(journal=shared, state_folder=str(earlier))
    await second.open()
    await second.aclose()
