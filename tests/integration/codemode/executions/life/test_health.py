"""The server's report of whether the journal can be written."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import httpx2
import pytest

from codemode.errors import JournalUnavailable
from codemode.executions.life import health
from codemode.gateway.caller import Caller
from codemode.serving.application.app import create_app
from codemode.serving.auth.callers import Callers
from codemode.serving.auth.keys import Keys
from tests.integration.codemode.executions.upstream import OWNER, place

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from codemode.shared.values import Latest


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
            async with asyncio.timeout(200):
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
    assert [call.state for call in outcome.calls] == ["committed", "read"]
    assert here.upstream.seen == ["POST /post?n=1", "GET /get"]


class AwayValue:
    """Keys in a database that does not answer."""

    title = "the keys in postgresql://db"

    def read(self) -> bytes | None:
        raise JournalUnavailable(self.title)

    def latest(self) -> Latest:
        raise JournalUnavailable(self.title)

    def change(self, function: Callable[[bytes | None], bytes | None]) -> None:
        raise JournalUnavailable(self.title)


async def test_a_server_that_can_check_no_key_is_not_ready(tmp_path: Path) -> None:
    async with place(tmp_path) as here, here.service() as service:
        await service.start_sandbox()
        for configured, expected in (
            ({}, (503, "keys cannot be checked now: their database does not answer")),
            ({"k": Caller("c")}, (200, "those that `codemode keys` made cannot be checked now")),
        ):
            app = create_app(service, Callers(configured, Keys(AwayValue())))
            async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://127.0.0.1") as client:
                answer = await client.get("/readyz")
                bearer = {"Authorization": "Bearer k"}
                assert (await client.get("/v1/tools", headers=bearer)).status_code == answer.status_code
            said = answer.json()
            assert (answer.status_code, said.get("detail") or said["keys"]) == expected


async def test_a_call_whose_key_cannot_be_checked_is_refused_with_the_reason(tmp_path: Path) -> None:
    def is_authorized() -> bool:
        raise JournalUnavailable("postgresql://db has not answered for 31 s")

    async with place(tmp_path) as here, here.service() as service:
        caller = replace(OWNER, is_authorized=is_authorized)
        code = (
            "try:\n    up.x.post(n=1)\nexcept ToolError as error:\n    said = [error.kind, str(error)]\n"
            "try:\n    search('numbers')\nexcept ToolError as error:\n    said.append(error.kind)\nsaid"
        )
        outcome = await service.execute(code, caller=caller)
        assert outcome.value == [
            "caller_unknown",
            "up.x.post was not called: the key that started this program cannot be checked now; nothing was sent, try"
            " again later",
            "journal_unavailable",
        ]
        with pytest.raises(JournalUnavailable) as error:
            await service.executions.wait(outcome.id, caller, 1)
        assert error.value.execution == outcome.id
    assert here.upstream.seen == []


async def test_an_answer_that_cannot_be_read_after_the_program_ended_names_its_execution(tmp_path: Path) -> None:
    def is_authorized() -> bool:
        raise JournalUnavailable("postgresql://db has not answered for 31 s")

    async with place(tmp_path) as here, here.service() as service:
        await service.start_sandbox()
        callers = Callers({"k": replace(OWNER, is_authorized=is_authorized)}, Keys(AwayValue()))
        app = create_app(service, callers)
        headers = {"Authorization": "Bearer k"}
        async with httpx2.AsyncClient(
            transport=httpx2.ASGITransport(app), base_url="http://127.0.0.1", headers=headers
        ) as client:
            answer = await client.post("/v1/execute", json={"code": "1", "wait_s": 30})
        assert (answer.status_code, answer.json()["code"]) == (503, "journal_unavailable")
        execution = answer.json()["execution"]
        assert answer.json()["detail"].endswith(f"; the execution is {execution}")
        assert (await service.executions.get(execution, OWNER)).request.id == execution
        assert "postgresql" not in answer.text
