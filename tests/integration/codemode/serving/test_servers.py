"""Three real servers on one PostgreSQL: what one of them runs, the others show, cancel and take up."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import aclosing
from typing import TYPE_CHECKING

import asyncpg
import httpx2
import pytest

from tests.integration.codemode.executions.upstream import Place, place
from tests.integration.codemode.serving.servers import several
from tests.postgres import cluster, programs

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

TWO_CALLS = "up.x.get(n=1)\nup.x.post(n=2)"


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    if programs() is None:
        pytest.skip("initdb and pg_ctl are not here: install the distribution's package postgresql")
    with cluster() as made:
        yield made


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[Place]:
    async with place(tmp_path) as made:
        yield made


async def test_an_execution_is_followed_and_cancelled_through_another_server(here: Place, url: str) -> None:
    here.upstream.hold("/post")
    async with several(here, url, 2) as (first, second):
        running = asyncio.create_task(first.execute(TWO_CALLS))
        await here.upstream.wait_for(2)
        (execution,) = await second.running()
        async with aclosing(second.events(execution)) as events:
            types = [(await anext(events))["type"] for _ in range(3)]
            assert types == ["call_started", "call_ended", "call_started"]
            cancelled = await second.http.post(f"/v1/executions/{execution}/cancel")
            assert cancelled.status_code == 200
            assert [event["type"] async for event in events] == ["status"]
        outcome = await running
        ledger = [("up.x.get", "read"), ("up.x.post", "unknown")]
        assert outcome["status"] == "cancelled"
        assert [(call["tool"], call["state"]) for call in outcome["calls"]] == ledger
        stored = (await second.http.get(f"/v1/executions/{execution}")).json()
        assert [(call["tool"], call["state"]) for call in stored["outcome"]["calls"]] == ledger


async def test_what_a_killed_server_ran_is_shared_by_the_others(here: Place, url: str) -> None:
    hold = here.upstream.hold("/get")
    room = {"load": {"running": 8, "per_key_running": 8}}
    async with several(here, url, 3, journal={"lease_s": 2}, server=room) as (first, second, third):
        own = [await server.start(f"up.x.get(n={n})") for server in (second, third) for n in range(4)]
        started = [await first.start(f"up.x.get(n={n})") for n in range(10, 18)]
        await here.upstream.wait_for(16)
        first.process.kill()
        await here.upstream.wait_for(24)  # the reads are repeated: each of the others had room for four
        control = await asyncpg.connect(url)
        holders = Counter(
            row["server"] for row in await control.fetch("SELECT server FROM executions WHERE id = any($1)", started)
        )
        await control.close()
        assert sorted(holders.values()) == [4, 4]
        hold.set()
        assert {(await second.ended(one))["status"] for one in (*own, *started)} == {"completed"}
        with pytest.raises(httpx2.ConnectError):
            await first.running()
        assert await third.running() == []
