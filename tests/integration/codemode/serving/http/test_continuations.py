"""Continuations over HTTP: decided on by another key, continued once, and described."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from codemode import CodeMode, Settings
from codemode.gateway.caller import Caller
from codemode.serving.application.app import create_app
from codemode.serving.auth.callers import Callers
from codemode.serving.auth.keys import KeyFile
from tests.integration.codemode.serving.http.bank import AGENT, ASK, BOSS, OTHER, PAYS, Bank
from tests.integration.codemode.serving.http.described import DescribedTransport

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


@pytest.fixture
def bank() -> Bank:
    return Bank()


@pytest.fixture
async def client(bank: Bank, tmp_path: Path) -> AsyncIterator[httpx2.AsyncClient]:
    (tmp_path / "key").write_text("a secret of more than 32 characters", encoding="utf-8")
    sections = {"policy": ASK, "continuations": {"key": {"file": tmp_path / "key"}}, "state_folder": tmp_path / "state"}
    known = {"agent": Caller("agent"), "other": Caller("other"), "boss": Caller("boss", "approver")}
    async with CodeMode.from_settings(Settings.model_validate(sections), functions={"bank": [bank.pay]}) as service:
        app = create_app(service, Callers(known, KeyFile(tmp_path / "keys.json")))
        async with httpx2.AsyncClient(
            transport=DescribedTransport(app), base_url="http://testserver", timeout=200, headers=AGENT
        ) as client:
            yield client


async def post(client: httpx2.AsyncClient, path: str, headers: dict[str, str] | None = None, **body: Any) -> Any:
    return await client.post(path, json=body, headers=headers or {})


async def pending(client: httpx2.AsyncClient, continuation: str) -> list[dict[str, Any]]:
    """Return the decisions that approve all pending calls."""
    answer = await post(client, "/v1/continuations/approvals", BOSS, continuation=continuation)
    calls = answer.json()["approvals"]
    return [{"id": call["id"], "digest": call["digest"], "verdict": "approved"} for call in calls]


async def test_an_approver_decides_and_the_caller_continues(client: httpx2.AsyncClient, bank: Bank) -> None:
    outcome = (await post(client, "/v1/execute", code=PAYS)).json()
    for name in ("ann", "bob"):
        assert outcome["status"] == "paused"
        kept = outcome["continuation"]
        decisions = await pending(client, kept)
        forbidden = await post(client, "/v1/continuations/decide", continuation=kept, decisions=decisions)
        assert (forbidden.status_code, forbidden.json()["code"]) == (403, "approval_forbidden")
        decided = await post(client, "/v1/continuations/decide", BOSS, continuation=kept, decisions=decisions)
        sealed = decided.json()["continuation"]
        stranger = await post(client, "/v1/continuations/execute", OTHER, continuation=sealed)
        assert (stranger.status_code, stranger.json()["code"]) == (404, "execution_not_found")
        outcome = (await post(client, "/v1/continuations/execute", continuation=sealed)).json()
        assert bank.sent[-1][0] == name
        again = await post(client, "/v1/continuations/execute", continuation=sealed)
        assert (again.status_code, again.json()["code"]) == (409, "continuation_invalid")
    assert (outcome["status"], outcome["value"], outcome["continuation"]) == ("completed", 30, "")
    assert bank.sent == [("ann", 10), ("bob", 20)]


async def test_decisions_may_come_with_the_request_that_continues(client: httpx2.AsyncClient, bank: Bank) -> None:
    outcome = (await post(client, "/v1/execute", code="bank.pay(to='ann', amount=1)")).json()
    decisions = await pending(client, outcome["continuation"])
    ended = await post(
        client, "/v1/continuations/execute", BOSS, continuation=outcome["continuation"], decisions=decisions
    )
    assert (ended.json()["status"], bank.sent) == ("completed", [("ann", 1)])


async def test_a_changed_continuation_is_a_problem_that_says_so(client: httpx2.AsyncClient) -> None:
    outcome = (await post(client, "/v1/execute", code="bank.pay(to='ann', amount=1)")).json()
    answer = await post(client, "/v1/continuations/execute", continuation=outcome["continuation"][:-9] + "AAAAAAAAA")
    assert answer.status_code == 409
    assert answer.json()["detail"].startswith("the continuation is not authentic")


async def test_without_the_section_the_routes_say_what_to_configure(tmp_path: Path) -> None:
    async with CodeMode.from_functions(shop=[len]) as service:
        app = create_app(service, Callers({"key": Caller("key")}, KeyFile(tmp_path / "keys.json")))
        headers = {"Authorization": "Bearer key"}
        async with httpx2.AsyncClient(
            transport=DescribedTransport(app), base_url="http://t", headers=headers
        ) as client:
            answer = await post(client, "/v1/continuations/approvals", continuation="cc1_x")
    assert answer.status_code == 409
    assert "set `continuations.key`" in answer.json()["detail"]
