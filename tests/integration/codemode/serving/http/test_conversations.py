"""Programs of one conversation over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from codemode import CodeMode, Settings, tool
from codemode.gateway.caller import Caller
from codemode.serving.application.app import create_app
from codemode.serving.auth.callers import Callers
from codemode.serving.auth.keys import KeyFile
from tests.integration.codemode.serving.http.described import DescribedTransport

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

ANN, BOB = ({"Authorization": f"Bearer {key}"} for key in ("ann", "bob"))


@tool(effect="read")
def nothing() -> None:
    """Return nothing."""


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[httpx2.AsyncClient]:
    settings = Settings.model_validate({"state_folder": tmp_path, "journal": {"enabled": True}})
    async with CodeMode.from_settings(settings, functions={"some": [nothing]}) as service:
        known = {"ann": Caller("ann"), "bob": Caller("bob")}
        app = create_app(service, Callers(known, KeyFile(tmp_path / "keys.json")))
        async with httpx2.AsyncClient(
            transport=DescribedTransport(app), base_url="http://testserver", timeout=200, headers=ANN
        ) as client:
            yield client


async def execute(client: httpx2.AsyncClient, code: str, **given: Any) -> Any:
    answer = await client.post("/v1/execute", json={"code": code, **given})
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_two_programs_share_state_and_another_key_sees_nothing(client: httpx2.AsyncClient) -> None:
    await execute(client, "store('totals', [1, 2])\n'first'", conversation="chat")
    in_background = await execute(client, "[load('totals'), last]", conversation="chat", wait_s=60)
    assert in_background["value"] == [[1, 2], "first"]
    assert (await execute(client, "load('totals')", conversation="other"))["status"] == "failed"
    others = await client.post("/v1/execute", json={"code": "load('totals')", "conversation": "chat"}, headers=BOB)
    assert "has no stored value 'totals': nothing is stored" in others.json()["failure"]["message"]


async def test_the_conversation_is_part_of_a_repeated_request(client: httpx2.AsyncClient) -> None:
    body = {"code": "store('n', 1)\n1", "conversation": "chat"}
    answers = [
        await client.post("/v1/execute", json={**body, **more}, headers={"Idempotency-Key": "k"})
        for more in ({}, {}, {"conversation": "other"})
    ]
    assert [answer.status_code for answer in answers] == [200, 200, 422]
    assert answers[0].json()["id"] == answers[1].json()["id"]


@pytest.mark.parametrize(
    ("conversation", "message"),
    [
        ("a\nb", "expected 1 to 128 visible"),
        ("x" * 129, "at most 128"),
        (7, "a valid string"),
    ],
)
async def test_an_invalid_conversation_is_rejected(
    client: httpx2.AsyncClient, conversation: object, message: str
) -> None:
    answer = await client.post("/v1/execute", json={"code": "1", "conversation": conversation})
    assert answer.status_code == 422
    (mistake,) = answer.json()["errors"]
    assert mistake["at"] == "body.conversation"
    assert message in mistake["message"]
