"""Recovery from dead servers: how many executions at a time, and which ones wait for a person."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING

import pytest

from codemode.errors import JournalUnavailable
from codemode.executions.journal.signals import Signals
from codemode.executions.journal.sql.journal import SqlJournal
from codemode.executions.life.recovery import BATCH
from codemode.executions.types.records import Decision
from codemode.serving.web.admission import Admission, turn_of_orphan
from codemode.settings.server import LoadSettings
from tests.integration.codemode.executions.upstream import APPROVER, OWNER, Place, place

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from codemode.executions.types.records import NewExecution
    from codemode.service import CodeMode


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[Place]:
    async with place(tmp_path) as found:
        yield found


async def left(here: Place, count: int) -> list[str]:
    """Return ids of orphans, each interrupted during a read."""
    async with here.service() as service:
        running = [asyncio.create_task(service.execute(f"up.x.get(n={n})", caller=OWNER)) for n in range(count)]
        await here.upstream.wait_for(count)
        ids = [stored.request.id for stored in await service.executions.list(OWNER)]
        await service.executions.aclose()
        await asyncio.gather(*running, return_exceptions=True)
    return ids


def limited(service: CodeMode, running: int) -> Admission:
    admission = Admission(LoadSettings(running=running, wait_s=0), processors=8)
    service.executions.recovery.turn = partial(turn_of_orphan, admission)
    return admission


def died(here: Place) -> None:
    """Leave what runs as a server does that is killed: it releases nothing."""
    with closing(sqlite3.connect(here.folder / "state" / "journal.sqlite3", timeout=60)) as file, file:
        file.execute("UPDATE executions SET server = 'killed', lease_until_us = 1 WHERE status = 'running'")


async def test_no_more_are_taken_up_than_may_run(here: Place) -> None:
    hold = here.upstream.hold("/get")
    ids = await left(here, 5)
    async with here.service() as service:
        admission = limited(service, 2)
        assert len(await service.executions.recover()) == 2
        assert (admission.running, await service.executions.recover()) == (2, ())
        await here.upstream.wait_for(7)
        hold.set()
        await service.executions.serve()  # the next one is recovered as soon as one has ended
        ends = [await service.executions.wait(execution, OWNER, 60) for execution in ids]
    assert {stored.status for stored in ends} == {"completed"}
    assert (len(here.upstream.seen), admission.running) == (10, 0)


async def test_other_servers_are_told_once_of_what_there_is_no_room_for(
    here: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    here.upstream.hold("/get")
    await left(here, BATCH + 2)
    told: list[None] = []

    async def free(_: Signals) -> None:
        told.append(None)

    monkeypatch.setattr(Signals, "free", free)
    async with here.service() as service:
        limited(service, 1)
        assert len(await service.executions.recover()) == 1
        for _ in range(3):
            assert await service.executions.recover() == ()
    assert len(told) == 1


async def test_a_request_that_runs_takes_its_place_from_what_was_left(here: Place) -> None:
    here.upstream.hold("/get")
    await left(here, 1)
    async with here.service() as service:
        admission = limited(service, 1)
        async with admission.turn("somebody"):
            assert await service.executions.recover() == ()
        assert len(await service.executions.recover()) == 1


async def test_servers_that_are_stopped_hand_over_what_runs_any_number_of_times(here: Place) -> None:
    hold = here.upstream.hold("/get")
    (execution,) = await left(here, 1)
    for requests in (2, 3, 4, 5):
        async with here.service() as service:
            assert await service.executions.recover() == (execution,)
            await here.upstream.wait_for(requests)
    hold.set()
    async with here.service() as service:
        await service.executions.recover()
        assert (await service.executions.wait(execution, OWNER, 60)).status == "completed"


async def test_what_three_servers_died_with_waits_for_a_person_who_lets_it_go_on(here: Place) -> None:
    hold = here.upstream.hold("/get")
    (execution,) = await left(here, 1)
    died(here)
    for requests in (2, 3):
        async with here.service() as service:
            assert await service.executions.recover() == (execution,)
            await here.upstream.wait_for(requests)
        died(here)
    async with here.service() as service:
        await service.executions.recover()
        stored = await service.executions.get(execution, OWNER)
        assert stored.status == "paused"
        assert stored.outcome["notes"] == [
            "its server gave no sign of life (it died, or did not reach the journal) while it ran, and it cannot "
            "continue by itself: 3 servers were lost while it ran, and it "
            f"may be the cause; read its program, then continue it with `codemode executions resume {execution}` or "
            f"end it with `codemode executions cancel {execution}`"
        ]
        await service.executions.resume(execution, OWNER)
        await here.upstream.wait_for(4)
    hold.set()
    async with here.service() as service:  # the count starts again
        await service.executions.recover()
        assert (await service.executions.wait(execution, OWNER, 60)).status == "completed"


async def test_while_roles_are_unknown_what_was_left_waits_for_no_person(here: Place) -> None:
    def unknown(_: NewExecution) -> str:
        raise JournalUnavailable("the keys are unknown")

    def known(given: NewExecution) -> str:
        return given.role

    hold = here.upstream.hold("/get")
    (execution,) = await left(here, 1)
    hold.set()
    async with here.service() as service:
        service.executions.role_of = unknown
        assert await service.executions.recover() == ()
        assert (await service.executions.get(execution, OWNER)).status == "running"
        service.executions.role_of = known
        died(here)
        assert await service.executions.recover() == (execution,)
        assert (await service.executions.wait(execution, OWNER, 30.0)).status == "completed"


async def test_a_person_who_decides_after_a_crash_of_the_database_reads_what_the_record_may_lack(
    here: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The store forgot its last moments while this program waited for a read; a write may have left in them."""
    loss_us = 0

    async def last_loss_us(_: SqlJournal) -> int:
        return loss_us

    monkeypatch.setattr(SqlJournal, "last_loss_us", last_loss_us)
    hold = here.upstream.hold("/get")
    async with here.service() as service:
        quiet = await service.execute("up.x.drop(n=0)", caller=OWNER)
        running = asyncio.create_task(service.execute("up.x.get(n=1)\nup.x.drop(n=2)", caller=OWNER))
        await here.upstream.wait_for(1)
        await service.executions.aclose()
        await asyncio.gather(running, return_exceptions=True)
    loss_us = time.time_ns() // 1000
    hold.set()
    async with here.service() as service:
        (recovered,) = await service.executions.recover()
        paused = await service.executions.wait(recovered, OWNER, 60)
        (waiting,) = await service.executions.approvals(OWNER, recovered)
        text = "its record may lack writes with an idempotency key"
        assert text in waiting.reason
        assert any(text in note for note in paused.outcome["notes"])
        (card,) = [one for one in await service.executions.approvals(APPROVER) if one.execution == quiet.id]
        assert text not in card.reason
        await service.executions.decide([Decision(card.id, card.digest, "approved", "")], APPROVER)
        await service.executions.resume(quiet.id, OWNER, {})
        ended = await service.executions.wait(quiet.id, OWNER, 60)
        assert (ended.status, [note for note in ended.outcome["notes"] if text in note]) == ("completed", [])
