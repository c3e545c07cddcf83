"""Background work beside attempts: repetition, and records written after a journal outage."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from codemode.errors import JournalUnavailable
from codemode.executions.life.attempts import run_periodically
from tests.integration.codemode.executions.upstream import OWNER, Place, place

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[Place]:
    async with place(tmp_path) as found:
        yield found


def journal_takes(here: Place, *statements: str) -> None:
    """Make a journal's database reject some writes, or accept them again."""
    with closing(sqlite3.connect(here.folder / "state" / "journal.sqlite3", timeout=60)) as file, file:
        for statement in statements:
            file.execute(statement)


NO_ENTRIES = "CREATE TRIGGER entries_full BEFORE INSERT ON entries BEGIN SELECT RAISE(ABORT, 'full'); END"
NO_ENDS = "CREATE TRIGGER ends_full BEFORE UPDATE OF status ON executions BEGIN SELECT RAISE(ABORT, 'full'); END"
ALL_AGAIN = ("DROP TRIGGER IF EXISTS entries_full", "DROP TRIGGER ends_full")


@pytest.mark.parametrize(
    ("code", "full", "told", "value"),
    [
        ("up.x.post(n=1)\n'done'", (NO_ENDS,), "completed", "done"),
        ("up.x.post(n=1)\nup.x.post(n=2)", (NO_ENTRIES, NO_ENDS), "failed", None),
        ("up.x.post(n=1)\nup.x.drop(n=2)", (NO_ENDS,), "paused", None),
    ],
)
async def test_an_end_that_cannot_be_recorded_is_told_and_recorded_later_and_nothing_goes_on_by_itself(
    here: Place, code: str, full: tuple[str, ...], told: str, value: object
) -> None:
    async with here.service(journal={"lease_s": 1}) as service:
        hold = here.upstream.hold("/post")
        running = asyncio.create_task(service.execute(code, caller=OWNER))
        await here.upstream.wait_for(1)
        journal_takes(here, *full)
        hold.set()
        outcome = await running
        assert (outcome.status, outcome.value) == (told, value)
        assert "will be recorded once it is back" in outcome.notes[-1]
        assert (await service.executions.get(outcome.id, OWNER)).status == "running"
        journal_takes(here, "UPDATE executions SET lease_until_us = 0")
        assert await service.executions.recover() == ()
        journal_takes(here, *ALL_AGAIN)
        stored = await service.executions.wait(outcome.id, OWNER, 60)
        assert (stored.status, stored.outcome["value"]) == (told, value)
    assert here.upstream.seen == ["POST /post?n=1"]


async def test_an_end_that_cannot_be_recorded_is_recorded_when_the_service_is_closed(here: Place) -> None:
    async with here.service(journal={"lease_s": 3600}) as service:
        hold = here.upstream.hold("/post")
        running = asyncio.create_task(service.execute("up.x.post(n=1)", caller=OWNER))
        await here.upstream.wait_for(1)
        journal_takes(here, NO_ENDS)
        hold.set()
        outcome = await running
        journal_takes(here, *ALL_AGAIN)
    async with here.service() as service:
        assert (await service.executions.get(outcome.id, OWNER)).status == "completed"


async def test_a_chore_that_fails_is_done_again(caplog: pytest.LogCaptureFixture) -> None:
    times = 0
    done = asyncio.Event()

    async def chore() -> None:
        nonlocal times
        times += 1
        if times == 1:
            raise ZeroDivisionError
        done.set()

    doing = asyncio.create_task(run_periodically(chore, 0, "it could not be done"))
    await done.wait()
    doing.cancel()
    await asyncio.gather(doing, return_exceptions=True)
    assert [record.getMessage() for record in caplog.records] == ["it could not be done"]


async def test_an_outage_is_logged_once_without_a_traceback(caplog: pytest.LogCaptureFixture) -> None:
    ends = [JournalUnavailable("disk full"), JournalUnavailable("disk full"), None, JournalUnavailable("it is away")]
    done = asyncio.Event()

    async def chore() -> None:
        if not ends:
            done.set()
        elif error := ends.pop(0):
            raise error

    doing = asyncio.create_task(run_periodically(chore, 0, "it could not be done"))
    await done.wait()
    doing.cancel()
    await asyncio.gather(doing, return_exceptions=True)
    messages = ["it could not be done: disk full", "it could not be done: it is away"]
    assert [record.getMessage() for record in caplog.records] == messages
    assert not any(record.exc_info for record in caplog.records)


async def test_a_cancelled_execution_is_cancelled_also_if_another_server_has_just_taken_it_over(here: Place) -> None:
    async with here.service() as service:
        here.upstream.hold("/get")
        running = asyncio.create_task(service.execute("up.x.get(n=1)", caller=OWNER))
        await here.upstream.wait_for(1)
        (stored,) = await service.executions.list(OWNER)
        journal_takes(here, "UPDATE executions SET server = 'another', generation = generation + 1")
        cancelled = await service.executions.cancel(stored.request.id, OWNER)
        assert cancelled.status == "cancelled"
        await running
