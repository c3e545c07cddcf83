"""The server's report of whether the journal can be written."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import httpx2

from codemode.executions import health
from codemode.serving.auth.callers import Callers
from codemode.serving.http.app import create_app
from tests.integration.codemode.executions.upstream import OWNER, place

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


async def test_the_server_says_that_the_journal_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "FRESH_S", 0.0)
    async with place(tmp_path) as here, here.service() as service:
        await service.start_sandbox()
        app = create_app(service, Callers.of(service.settings))
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://127.0.0.1") as client:
            assert (await client.get("/readyz")).json() == {"status": "ok"}
            with closing(sqlite3.connect(tmp_path / "state" / "journal.sqlite3", isolation_level=None)) as file:
                file.execute("BEGIN IMMEDIATE")
                answer = await client.get("/readyz")
                file.execute("ROLLBACK")
            assert (answer.status_code, answer.json()) == (
                200,
                {"status": "degraded", "journal": "not writable: programs may only read"},
            )
            async with asyncio.timeout(30):
                while (await client.get("/readyz")).json() != {"status": "ok"}:
                    pass


async def test_over_what_was_done_it_is_not_said_that_nothing_was_sent(tmp_path: Path) -> None:
    async with place(tmp_path) as here, here.service() as service:
        hold = here.upstream.hold("/get")
        running = asyncio.create_task(service.execute("up.x.post(n=1)\nup.x.get()\nup.x.post(n=2)", caller=OWNER))
        await here.upstream.wait_for(2)
        with closing(sqlite3.connect(tmp_path / "state" / "journal.sqlite3", isolation_level=None)) as file:
            file.execute("BEGIN IMMEDIATE")
            hold.set()
            outcome = await running
            file.execute("ROLLBACK")
    assert outcome.failure is not None
    assert outcome.failure.message == (
        "this execution cannot be recorded now; the program was stopped and sends nothing more: "
        "`calls` lists what was sent before"
    )
    assert [call.state for call in outcome.calls] == ["committed", "committed"]
    assert here.upstream.seen == ["POST /post?n=1", "GET /get"]
