"""Ray Serve: replicas on one PostgreSQL journal, killed, stopped and refused."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from contextlib import suppress
from typing import TYPE_CHECKING

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from codemode.executions.journal.configured import journal_of
from codemode.settings import Secrets, load_settings
from tests.integration.codemode.executions.upstream import place
from tests.integration.servers.ray_serve import STARTED_S, configuration, ended, ray_serve, said, serve_run
from tests.integration.servers.running import program
from tests.ports import free_port
from tests.postgres import cluster, programs

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.integration.codemode.executions.upstream import Upstream
    from tests.integration.servers.ray_serve import RayServe

pytestmark = pytest.mark.timeout(600)


@pytest.fixture
def database() -> Iterator[str]:
    program("ray", "serve")
    if programs() is None:
        pytest.skip("initdb and pg_ctl are not here: install the distribution's package postgresql")
    with cluster() as url:
        yield url


async def test_a_killed_replica_loses_nothing_and_repeats_nothing(tmp_path: Path, database: str) -> None:
    async with place(tmp_path) as here:
        release = here.upstream.hold("/post")
        config = configuration(tmp_path, here.port, database)
        async with ray_serve(tmp_path, config) as served:
            victim = min(await served.replicas(2))
            asked = [asyncio.create_task(_until_answered(served, number)) for number in range(16)]
            await here.upstream.wait_for(16)
            os.kill(victim, signal.SIGKILL)
            await here.upstream.wait_for(17)  # another replica has taken an execution up, and sends its write again
            release.set()
            failures = await asyncio.gather(*asked)
    assert 0 < sum(failures) < len(asked) * 20
    by_number: dict[str, set[str]] = {}
    for request, key in zip(here.upstream.seen, here.upstream.keys, strict=True):
        by_number.setdefault(request, set()).add(key)
    assert len(by_number) == 16, "each program has sent its write"
    assert all(len(keys) == 1 and "" not in keys for keys in by_number.values()), "a write is repeated under its key"


async def _until_answered(served: RayServe, number: int) -> int:
    """Repeat a request under its key until the execution has completed. Return how often it failed."""
    failures = 0
    async with asyncio.timeout(STARTED_S):
        while True:
            with suppress(httpx2.TransportError):
                answer = await served.execute(f"up.x.post(n={number})['n']", key=f"request {number}", wait_s=60)
                if answer.status_code == 200:
                    assert answer.json()["status"] == "completed", answer.text
                    assert answer.json()["value"] == str(number)
                    return failures
                assert answer.status_code in (202, 429, 500, 503), answer.text
            failures += 1
            await asyncio.sleep(0.1)


async def test_every_face_answers_through_ray_and_a_stop_releases_executions(tmp_path: Path, database: str) -> None:
    async with place(tmp_path) as here:
        release = here.upstream.hold("/get")
        here.upstream.hold("/post")
        journal_section = {"url": database, "key": {"file": str(tmp_path / "secret")}, "lease_s": 600}
        config = configuration(tmp_path, here.port, database, journal=journal_section)
        async with ray_serve(tmp_path, config) as served:
            assert (await served.client.get("/console")).status_code == 404
            assert (
                await served.client.get("/v1/tools", headers={"Authorization": "Bearer another"})
            ).status_code == 401
            assert await _replicas_by_mcp(served) == await served.replicas(2)
            await _events_arrive_one_by_one(served, here.upstream, release)
            await _a_disconnect_cancels(served, here.upstream)
            answer = await served.execute("up.x.post(n=1)", wait_s=0)
            assert answer.status_code == 202
            await here.upstream.wait_for(3)
        journal = journal_of(load_settings(config), Secrets())
        assert journal is not None
        await journal.open()
        try:
            assert await journal.orphans() == (answer.json()["id"],)
        finally:
            await journal.aclose()


async def _replicas_by_mcp(served: RayServe) -> set[int]:
    """Return the replicas that answer one client of MCP, whose protocol needs no session."""
    endpoint = streamable_http_client(f"{served.client.base_url}/mcp", http_client=served.client)
    found: set[int] = set()
    async with Client(endpoint, read_timeout_seconds=60) as client, asyncio.timeout(STARTED_S):
        while len(found) < 2:
            result = await client.call_tool("execute", {"code": "box.server()"})
            assert result.structured_content is not None
            found.add(result.structured_content["value"])
    return found


async def _events_arrive_one_by_one(served: RayServe, upstream: Upstream, release: asyncio.Event) -> None:
    answer = await served.execute("up.x.get(n=1)", wait_s=0)
    await upstream.wait_for(1)
    kinds = []
    async with served.client.stream("GET", f"{answer.headers['Location']}/events") as stream:
        async for line in stream.aiter_lines():
            if line.startswith("data: "):
                kinds.append(json.loads(line.removeprefix("data: "))["type"])
                release.set()  # the first event has arrived while the program waits
    assert kinds == ["call_started", "call_ended", "status"]


async def _a_disconnect_cancels(served: RayServe, upstream: Upstream) -> None:
    gone = asyncio.create_task(served.execute("up.x.post(n=0)"))
    await upstream.wait_for(2)
    (running,) = (await served.client.get("/v1/executions?status=running")).json()["executions"]
    gone.cancel()
    with suppress(asyncio.CancelledError):
        await gone
    async with asyncio.timeout(STARTED_S):
        status = "running"
        while status == "running":
            status = (await served.client.get(f"/v1/executions/{running['id']}")).json()["status"]
    assert status == "cancelled"


async def test_a_journal_in_a_file_is_refused(tmp_path: Path) -> None:
    config = configuration(tmp_path, 1, "", journal={})
    process = serve_run(tmp_path, {"config": str(config)}, free_port())
    try:
        await said(process, tmp_path / "log", ["Ray Serve needs a journal in PostgreSQL", "journal: {url:"])
    finally:
        await ended(process)


async def test_a_replica_without_the_required_walls_is_refused(tmp_path: Path, database: str) -> None:
    config = configuration(
        tmp_path, 1, database, sandbox={"require": ["seccomp", "rlimits", "fork_server", "landlock"]}
    )
    process = serve_run(tmp_path, {"config": str(config)}, free_port(), setting="filtered")
    try:
        await said(
            process,
            tmp_path / "log",
            ["this machine does not give what the sandbox requires", "landlock_restrict_self", "Failed to update"],
        )
    finally:
        await ended(process)
