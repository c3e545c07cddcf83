"""Servers on one PostgreSQL hear of each other's executions. Polls are so rare here that only signals are in time."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING, TypeVar

import asyncpg
import pytest

from codemode.executions.journal.postgres import signals as postgres_signals
from codemode.executions.journal.postgres.journal import PostgresJournal
from codemode.executions.journal.postgres.listener import Listener
from codemode.executions.journal.postgres.signals import CANCEL, FOLLOWED, PostgresSignals
from codemode.executions.life import cancellation, upkeep
from codemode.executions.types.records import Decision, JournalEntry
from tests.integration.codemode.executions.journal.conftest import KEY, new, new_database
from tests.integration.codemode.executions.upstream import APPROVER, OWNER, Place, place

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable
    from pathlib import Path

    from codemode.executions.types.events import ExecutionEvent
    from codemode.service import CodeMode

Result = TypeVar("Result")

#: Longer than any test waits.
NEVER_S = 3600.0

TWO_CALLS = "up.x.get(n=1)\nup.x.post(n=2)"


@pytest.fixture
async def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Place]:
    monkeypatch.setattr(postgres_signals, "_SLOW_S", NEVER_S)
    monkeypatch.setattr(upkeep, "_ORPHANS_EVERY_S", NEVER_S)
    monkeypatch.setattr(cancellation, "_ANSWER_S", NEVER_S)
    async with place(tmp_path) as made:
        yield made


@pytest.fixture
async def url(postgres: str) -> str:
    return await new_database(postgres)


def server(here: Place, name: str, url: str) -> CodeMode:
    (here.folder / "key").write_text("the key of all", encoding="utf-8")
    shared = {"url": url, "key": {"file": str(here.folder / "key")}, "lease_s": NEVER_S}
    return here.service(journal=shared, state_folder=str(here.folder / name))


async def soon(awaited: Awaitable[Result]) -> Result:
    return await asyncio.wait_for(awaited, 200)


def signals_of(server: CodeMode) -> PostgresSignals:
    signals = server.executions._journal.signals
    assert isinstance(signals, PostgresSignals)
    return signals


async def listens(*servers: CodeMode) -> None:
    """Return once the servers receive notifications."""
    for one in servers:
        await one.executions.open()
        heard: asyncio.Queue[str | None] = asyncio.Queue()
        signals_of(one).listener.subscribe(CANCEL, heard.put_nowait)
        await soon(heard.get())


async def running_one(server: CodeMode) -> str:
    (one,) = await server.executions.list(OWNER, status="running")
    return one.request.id


async def all_of(events: AsyncIterator[ExecutionEvent]) -> list[str]:
    return [event.type async for event in events]


async def test_events_of_an_execution_on_another_server_arrive(here: Place, url: str) -> None:
    async with server(here, "first", url) as first, server(here, "second", url) as second:
        await listens(second)
        get, post = here.upstream.hold("/get"), here.upstream.hold("/post")
        running = asyncio.create_task(first.execute(TWO_CALLS, caller=OWNER))
        await here.upstream.wait_for(1)
        events = second.executions.events(await running_one(second), OWNER)
        assert (await soon(anext(events))).type == "call_started"
        get.set()
        assert (await soon(anext(events))).type == "call_ended"
        assert (await soon(anext(events))).type == "call_started"
        post.set()
        assert await soon(all_of(events)) == ["call_ended", "status"]
        assert (await running).status == "completed"


async def test_who_waits_on_another_server_is_told_of_the_end(here: Place, url: str) -> None:
    async with server(here, "first", url) as first, server(here, "second", url) as second:
        await listens(second)
        hold = here.upstream.hold("/get")
        running = asyncio.create_task(first.execute("up.x.get(n=1)", caller=OWNER))
        await here.upstream.wait_for(1)
        waiting = asyncio.create_task(second.executions.wait(await running_one(second), OWNER, NEVER_S))
        hold.set()
        assert (await soon(waiting)).status == "completed"
        await running


async def test_followers_look_again_after_their_connection_was_lost(here: Place, url: str) -> None:
    async with server(here, "first", url) as first, server(here, "second", url) as second:
        await listens(second)
        hold = here.upstream.hold("/get")
        running = asyncio.create_task(first.execute("up.x.get(n=1)", caller=OWNER))
        await here.upstream.wait_for(1)
        waiting = asyncio.create_task(second.executions.wait(await running_one(second), OWNER, NEVER_S))
        await signals_of(second).listener.aclose()  # as if the connection were away
        hold.set()
        assert (await running).status == "completed"
        signals_of(second).listener.start()
        assert (await soon(waiting)).status == "completed"


async def test_the_server_that_runs_an_execution_cancels_it_for_another(here: Place, url: str) -> None:
    async with server(here, "first", url) as first, server(here, "second", url) as second:
        await listens(first, second)
        here.upstream.hold("/post")
        running = asyncio.create_task(first.execute(TWO_CALLS, caller=OWNER))
        await here.upstream.wait_for(2)
        stored = await soon(second.executions.cancel(await running_one(second), OWNER))
        outcome = await soon(running)
        ledger = [("up.x.get", "read"), ("up.x.post", "unknown")]
        assert (outcome.status, [(call.tool, call.state) for call in outcome.calls]) == ("cancelled", ledger)
        assert stored.status == "cancelled"
        assert [(call["tool"], call["state"]) for call in stored.outcome["calls"]] == ledger
        assert stored.outcome["usage"]["wall_s"] > 0  # as its own server recorded it
    assert here.upstream.seen == ["GET /get?n=1", "POST /post?n=2"]


async def test_a_server_that_does_not_answer_loses_what_shall_be_cancelled(
    here: Place, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cancellation, "_ANSWER_S", 0.1)
    async with server(here, "first", url) as first, server(here, "second", url) as second:
        hold = here.upstream.hold("/post")
        running = asyncio.create_task(first.execute(TWO_CALLS, caller=OWNER))
        await here.upstream.wait_for(2)
        await signals_of(first).listener.aclose()
        stored = await soon(second.executions.cancel(await running_one(second), OWNER))
        ledger = [("up.x.get", "read"), ("up.x.post", "unknown")]
        assert [(call["tool"], call["state"]) for call in stored.outcome["calls"]] == ledger
        hold.set()
        outcome = await soon(running)
        assert (outcome.status, [(call.tool, call.state) for call in outcome.calls]) == ("cancelled", ledger)


async def test_what_a_stopped_server_leaves_is_taken_up(here: Place, url: str) -> None:
    async with server(here, "second", url) as second:
        async with server(here, "first", url) as first:
            await second.executions.serve()
            await listens(second)
            hold = here.upstream.hold("/get")
            running = asyncio.create_task(first.execute("up.x.get(n=1)", caller=OWNER))
            await here.upstream.wait_for(1)
            execution = await running_one(second)
        assert isinstance((await asyncio.gather(running, return_exceptions=True))[0], BaseException)
        hold.set()
        assert (await soon(second.executions.wait(execution, OWNER, NEVER_S))).status == "completed"
    assert here.upstream.seen == ["GET /get?n=1"] * 2


async def test_what_waits_on_one_server_is_approved_and_resumed_on_another(here: Place, url: str) -> None:
    async with server(here, "first", url) as first, server(here, "second", url) as second:
        await listens(first)
        hold = here.upstream.hold("/drop")
        paused = await first.execute("up.x.drop(n=1)", caller=OWNER)
        (asked,) = await second.executions.approvals(APPROVER)
        await second.executions.decide([Decision(asked.id, asked.digest, "approved", "")], APPROVER)
        await second.executions.resume(paused.id, OWNER)
        waiting = asyncio.create_task(first.executions.wait(paused.id, OWNER, NEVER_S))
        await here.upstream.wait_for(1)
        hold.set()
        assert (await soon(waiting)).status == "completed"


async def test_several_servers_share_what_one_leaves(here: Place, url: str) -> None:
    async with server(here, "a", url) as a, server(here, "b", url) as b, server(here, "c", url) as c:
        async with server(here, "first", url) as first:
            hold = here.upstream.hold("/get")
            tasks = [asyncio.create_task(first.execute(f"up.x.get(n={n})", caller=OWNER)) for n in range(12)]
            await here.upstream.wait_for(12)
        await asyncio.gather(*tasks, return_exceptions=True)
        taken = await asyncio.gather(*(one.executions.recover() for one in (a, b, c)))
        assert sum(map(len, taken)) == 12
        assert max(map(len, taken)) < 12
        holders = Counter(one.server for one in await a.executions.list(OWNER, status="running"))
        assert sorted(holders.values()) == sorted(len(ids) for ids in taken if ids)
        hold.set()
        ids = [id_ for each in taken for id_ in each]
        ended = await soon(asyncio.gather(*(a.executions.wait(id_, OWNER, NEVER_S) for id_ in ids)))
        assert {one.status for one in ended} == {"completed"}


async def test_an_execution_that_nobody_follows_sends_no_notification(url: str) -> None:
    heard: asyncio.Queue[str | None] = asyncio.Queue()
    journal = PostgresJournal(url, KEY, lease_s=NEVER_S)
    await journal.open()
    control = await asyncpg.connect(url)
    async with Listener(url) as listener:
        listener.subscribe(FOLLOWED, heard.put_nowait)
        assert await soon(heard.get()) is None
        quiet, followed = await journal.create(new("ex_quiet")), await journal.create(new("ex_followed"))
        await journal.signals.ask("ex_followed")
        for lease in (quiet, followed):
            await journal.append(lease, [JournalEntry("printed", data={"text": "1"})])
            await journal.finish(lease, "completed", {})
        await control.execute(f"NOTIFY {FOLLOWED}, 'last'")
        assert [await soon(heard.get()) for _ in range(3)] == ["ex_followed", "ex_followed", "last"]
    await control.close()
    await journal.aclose()
