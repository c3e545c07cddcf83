"""Servers on one PostgreSQL hear of each other's executions. Polls are so rare here that only signals can be in time."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import asyncpg
import pytest

from codemode.executions import cancellation, upkeep
from codemode.executions.journal import postgres_signals
from codemode.executions.journal.base import Decision, JournalEntry
from codemode.executions.journal.postgres import PostgresJournal
from codemode.executions.replay import recovery
from tests.integration.codemode.executions.journal.conftest import KEY, new, new_database
from tests.integration.codemode.executions.upstream import APPROVER, OWNER, Place, place

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable
    from pathlib import Path

    from codemode.executions.events import ExecutionEvent
    from codemode.service import CodeMode

#: Longer than any test waits.
NEVER_S = 3600.0


@pytest.fixture(autouse=True)
def no_polls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres_signals, "_SLOW_S", NEVER_S)
    monkeypatch.setattr(postgres_signals, "LOOK_AGAIN_S", 0.01)  # until the listener is connected
    monkeypatch.setattr(upkeep, "_ORPHANS_EVERY_S", NEVER_S)
    monkeypatch.setattr(cancellation, "_ANSWER_S", NEVER_S)


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[Place]:
    async with place(tmp_path) as made:
        yield made


@pytest.fixture
async def url(postgres: str) -> str:
    return await new_database(postgres)


def server(here: Place, name: str, url: str, **journal: object) -> CodeMode:
    (here.folder / "key").write_text("the key of all", encoding="utf-8")
    shared = {"url": url, "key": {"file": str(here.folder / "key")}, "lease_s": NEVER_S, **journal}
    return here.service(journal=shared, state_folder=str(here.folder / name))


async def soon(awaited: Awaitable[object]) -> object:
    return await asyncio.wait_for(awaited, 60)


async def running_one(server: CodeMode) -> str:
    (one,) = await server.executions.list(OWNER, status="running")
    return one.given.id


async def listens(journal: PostgresJournal) -> None:
    """Return once the journal receives notifications."""
    begun = asyncio.Event()
    unsubscribe = journal.signals.listener.subscribe(postgres_signals.CANCEL, lambda _: begun.set())  # type: ignore[attr-defined]
    await soon(begun.wait())
    unsubscribe()


async def test_events_of_an_execution_on_another_server_arrive_with_the_signal(here: Place, url: str) -> None:
    async with server(here, "first", url) as first, server(here, "second", url) as second:
        await listens(second.executions._journal)  # type: ignore[arg-type]
        holds = [here.upstream.hold(path) for path in ("/get", "/post")]
        running = asyncio.create_task(first.execute("up.x.get(n=1)\nup.x.post(n=2)", caller=OWNER))
        await here.upstream.wait_for(1)
        events = second.executions.events(await running_one(second), OWNER)

        async def until(kind: str, path: str) -> ExecutionEvent:
            return next(iter([one async for one in _up_to(events, kind, path)][-1:]))

        assert (await soon(anext(events))).type == "call_started"  # type: ignore[attr-defined]
        waiting = asyncio.create_task(anext(events))
        holds[0].set()
        assert (await soon(waiting)).type == "call_ended"  # type: ignore[attr-defined]
        assert (await soon(anext(events))).type == "call_started"  # type: ignore[attr-defined]
        rest = asyncio.create_task(_all(events))
        holds[1].set()
        assert [event.type for event in await soon(rest)] == ["call_ended", "status"]  # type: ignore[attr-defined]
        assert (await running).status == "completed"


async def _all(events: AsyncIterator[ExecutionEvent]) -> list[ExecutionEvent]:
    return [event async for event in events]
