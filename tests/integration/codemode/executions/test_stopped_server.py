"""A server that stalls beyond its lease, loses its execution and continues, with real processes."""

from __future__ import annotations

import asyncio
import signal
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from codemode.executions.types.records import Decision
from tests.integration.codemode.executions.stopped import lease_has_run_out, running
from tests.integration.codemode.executions.upstream import APPROVER, OWNER, Place, place

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from codemode.executions.types.records import Verdict


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[Place]:
    async with place(tmp_path) as found:
        yield found


MADE = "POST /post?n=1"


def entries(here: Place) -> list[str]:
    with closing(sqlite3.connect(here.folder / "state" / "journal.sqlite3", timeout=60)) as file:
        return [kind for (kind,) in file.execute("SELECT kind FROM entries ORDER BY place")]


WAITING = """
import asyncio
await asyncio.gather(up.x.get(n=0), up.x.post(n=1))
"""


async def test_a_call_that_waits_for_its_turn_is_made_once_by_who_has_the_execution_then(here: Place) -> None:
    sections: dict[str, Any] = {"source": {"rate_per_s": 0.25}, "journal": {"lease_s": 60}}
    async with running(here, WAITING, **sections) as first:
        await here.upstream.wait_for(1)
        while "delivered" not in entries(here):  # noqa: ASYNC110 -- another process: when the write waits for its turn
            await asyncio.sleep(0.01)
        first.send_signal(signal.SIGSTOP)
        lease_has_run_out(here)
        async with here.service(**sections) as second:
            (execution,) = await second.executions.recover()
            stored = await second.executions.wait(execution, OWNER, 60)
            if stored.status == "paused":  # it may have taken effect: a person decides
                (asked,) = await second.executions.approvals(APPROVER)
                verdict: Verdict = "committed" if MADE in here.upstream.seen else "send_again"
                await second.executions.decide([Decision(asked.id, asked.digest, verdict, "")], APPROVER)
                await second.executions.resume(execution, OWNER)
                stored = await second.executions.wait(execution, OWNER, 60)
            assert stored.status == "completed"
            first.send_signal(signal.SIGCONT)
            assert first.stdout is not None
            await first.stdout.readline()
            assert (await second.executions.get(execution, OWNER)).status == "completed"
    assert here.upstream.seen.count(MADE) == 1


async def test_what_a_call_was_answered_meanwhile_is_not_lost_and_nothing_follows_it(here: Place) -> None:
    hold = here.upstream.hold("/post")
    async with running(here, "up.x.post(n=1)\nup.x.post(n=2)") as first:
        await here.upstream.wait_for(1)
        first.send_signal(signal.SIGSTOP)
        lease_has_run_out(here)
        hold.set()
        async with here.service() as second:
            (execution,) = await second.executions.recover()
            stored = await second.executions.wait(execution, OWNER, 60)
            assert stored.status == "paused"
            first.send_signal(signal.SIGCONT)
            assert first.stdout is not None
            await first.stdout.readline()
            (asked,) = await second.executions.approvals(APPROVER)
            assert (asked.kind, asked.arguments) == ("unknown", {"n": 1})
            assert here.upstream.seen == ["POST /post?n=1"]
            done = Decision(asked.id, asked.digest, "committed", "", value=7)
            await second.executions.decide([done], APPROVER)
            await second.executions.resume(execution, OWNER)
            assert (await second.executions.wait(execution, OWNER, 60)).status == "completed"
    assert here.upstream.seen == ["POST /post?n=1", "POST /post?n=2"]


async def test_an_attempt_that_waited_is_not_made_by_who_has_lost_the_execution_meanwhile(here: Place) -> None:
    hold = here.upstream.hold("/put")
    here.upstream.busy.add("/put")
    async with running(here, "up.x.put(n=1)") as first:
        await here.upstream.wait_for(1)
        first.send_signal(signal.SIGSTOP)
        lease_has_run_out(here)
        hold.set()
        async with here.service() as second:
            (execution,) = await second.executions.recover()
            stored = await second.executions.wait(execution, OWNER, 60)
            assert stored.status == "paused"
            (asked,) = await second.executions.approvals(APPROVER)
            done = Decision(asked.id, asked.digest, "committed", "", value=7)
            await second.executions.decide([done], APPROVER)
            await second.executions.resume(execution, OWNER)
            assert (await second.executions.wait(execution, OWNER, 60)).status == "completed"
            first.send_signal(signal.SIGCONT)
            assert first.stdout is not None
            await first.stdout.readline()
    assert here.upstream.seen == ["PUT /put?n=1"]
