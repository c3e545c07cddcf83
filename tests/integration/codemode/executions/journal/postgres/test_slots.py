"""Rates that servers on one PostgreSQL share."""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import PIPE
from itertools import pairwise
from typing import TYPE_CHECKING

import asyncpg
import pytest

from codemode.executions.journal.postgres.journal import PostgresJournal
from codemode.executions.types.records import Retention
from codemode.transports.allowances import Allowances, Rate, RateUnknown
from tests.integration.codemode.executions.journal.conftest import KEY, new_database
from tests.integration.codemode.executions.upstream import OWNER, place

if TYPE_CHECKING:
    from asyncio.subprocess import Process
    from collections.abc import AsyncIterator
    from pathlib import Path

    from codemode.service import CodeMode

MODULE = "tests.integration.codemode.executions.journal.one_caller"


@pytest.fixture
async def url(postgres: str) -> str:
    return await new_database(postgres)


@pytest.fixture
async def journal(url: str) -> AsyncIterator[PostgresJournal]:
    journal = PostgresJournal(url, KEY, lease_s=60.0)
    await journal.open()
    yield journal
    await journal.aclose()


async def caller(url: str, per_s: float, burst_s: float) -> Process:
    """Start a process and return it once it is ready."""
    given = (url, str(per_s), str(burst_s))
    process = await asyncio.create_subprocess_exec(sys.executable, "-m", MODULE, *given, stdin=PIPE, stdout=PIPE)
    assert process.stdout is not None
    assert await process.stdout.readline() == b"ready\n"
    return process


async def test_three_processes_keep_one_rate_together_and_use_it(url: str) -> None:
    """Nobody has called for long, so that 100 calls may be caught up, and one is due. The next is due in 1,000 s."""
    processes = await asyncio.gather(*(caller(url, 0.001, 100_000.0) for _ in range(3)))
    printed = await asyncio.gather(*(process.communicate(b"\n") for process in processes))
    assert sum(int(line) for line, _ in printed) == 101


async def test_servers_get_different_slots_of_one_rate_whoever_asks_first(journal: PostgresJournal) -> None:
    assert journal.slots is not None
    rate = Rate("source gym", 0.01)  # so slow that the time of the leases themselves is nothing beside it
    granted = await asyncio.gather(*(journal.slots.lease(rate, 2, due_only=False) for _ in range(5)))
    assert [one.slots for one in granted] == [2] * 5
    firsts = sorted(one.first_s for one in granted)
    assert all(later - earlier > 100 for earlier, later in pairwise(firsts))
    assert (await journal.slots.lease(Rate("source other", 10.0), 1, due_only=False)).first_s == 0.0


async def test_a_burst_is_shared_too_and_future_slots_stay_for_those_who_come_then(journal: PostgresJournal) -> None:
    assert journal.slots is not None
    rate = Rate("key one", 0.001, burst_s=2_000.0)
    assert (await journal.slots.lease(rate, 2, due_only=True)).slots == 2
    assert (await journal.slots.lease(rate, 9, due_only=True)).slots == 1
    for _ in range(2):
        none = await journal.slots.lease(rate, 9, due_only=True)
        assert none.slots == 0
        assert 0 < none.first_s <= 1_000


async def test_two_projects_have_their_own_rates(journal: PostgresJournal, url: str) -> None:
    other = PostgresJournal(url, KEY, lease_s=60.0, project="other")
    await other.open()
    assert journal.slots is not None
    assert other.slots is not None
    rate = Rate("source gym", 0.001)
    assert (await journal.slots.lease(rate, 1, due_only=False)).first_s == 0.0
    assert (await other.slots.lease(rate, 1, due_only=False)).first_s == 0.0
    assert (await other.slots.lease(rate, 1, due_only=False)).first_s > 500
    await other.aclose()


async def test_a_database_that_cannot_be_used_is_reported_without_its_address(journal: PostgresJournal) -> None:
    allowances = Allowances()
    assert journal.slots is not None
    allowances.slots = journal.slots
    allowance = allowances.of(Rate("source gym", 10.0))
    assert await allowance.reserve() == 0.0
    await journal.aclose()
    with pytest.raises(RateUnknown, match="the rate limit of source gym") as unknown:
        await allowance.reserve()
    assert "postgresql" not in str(unknown.value)


async def test_rates_that_nobody_asks_for_are_removed(journal: PostgresJournal, url: str) -> None:
    assert journal.slots is not None
    for name in ("key old", "key new"):
        await journal.slots.lease(Rate(name, 1.0), 1, due_only=True)
    control = await asyncpg.connect(url)
    await control.execute("UPDATE allowances SET asked_us = 0 WHERE name = 'key old'")
    await journal.prune(Retention(age_s=1.0, count=1))
    assert [row["name"] for row in await control.fetch("SELECT name FROM allowances")] == ["key new"]
    await control.close()


async def test_calls_of_two_services_to_one_source_share_its_rate(tmp_path: Path, url: str) -> None:
    async with place(tmp_path) as here:
        (here.folder / "key").write_text("the key of both", encoding="utf-8")

        def service(name: str) -> CodeMode:
            journal = {"url": url, "key": {"file": str(here.folder / "key")}}
            folder = str(here.folder / name)
            return here.service(journal=journal, state_folder=folder, source={"rate_per_s": 20})

        async with service("first") as first, service("second") as second:
            for one in (first, second):
                assert (await one.execute("up.x.get(n=1)", caller=OWNER)).status == "completed"
        control = await asyncpg.connect(url)
        rows = await control.fetch("SELECT name FROM allowances")
        await control.close()
        assert [row["name"] for row in rows] == ["source up"]
