"""Two keys against each other over HTTP: what one may use is nothing to the other, by whatever name."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from codemode.executions.types.handles import handle_of
from codemode.gateway.caller import Caller
from codemode.service import CodeMode
from codemode.serving.application.app import create_app
from codemode.serving.auth.callers import Callers
from codemode.serving.auth.keys import KeyFile
from tests.integration.codemode.serving.http.described import DescribedTransport

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.conftest import Gym


HIDDEN = "gym.salary.get_pending_salaries"
POLICY = {
    "roles": ["support"],
    "rules": [
        {"tools": "gym.salary.*", "roles": "support", "decision": "deny"},
        {
            "tools": "gym.clients.get_clients_list",
            "roles": "support",
            "where": {"status": "active"},
            "decision": "allow",
        },
        {"tools": "gym.clients.get_clients_list", "roles": "support", "decision": "deny"},
    ],
}
BOSS, SUPPORT = ({"Authorization": f"Bearer {key}"} for key in ("boss-key", "support-key"))


@pytest.fixture
async def client(gym: Gym, tmp_path: Path) -> AsyncIterator[httpx2.AsyncClient]:
    callers = {"boss-key": Caller("boss"), "support-key": Caller("support", "support", secrets=("support-key",))}
    async with CodeMode.from_settings(gym.settings(policy=POLICY, limits={"wall_s": 20})) as service:
        app = create_app(service, Callers(callers, KeyFile(tmp_path / "keys.json"), roles=("default", "support")))
        transport = DescribedTransport(app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://testserver", timeout=200) as client:
            yield client


async def execute(client: httpx2.AsyncClient, code: str, key: dict[str, str]) -> dict[str, Any]:
    outcome: dict[str, Any] = (await client.post("/v1/execute", json={"code": code}, headers=key)).json()
    return outcome


@pytest.mark.parametrize(
    "name",
    [
        HIDDEN,
        "get_pending_salaries",
        "gym.get_pending_salaries",
        HIDDEN.upper(),
        HIDDEN.replace("_", "%5F"),
        HIDDEN.replace("salary", "salar%79"),
        HIDDEN + "%00",
        "gym.salary",
        HIDDEN[:-1],
    ],
)
async def test_a_hidden_tool_is_not_there_by_any_name(client: httpx2.AsyncClient, name: str) -> None:
    answer = await client.get(f"/v1/tools/{name}", headers=SUPPORT)
    assert (answer.status_code, answer.json()["code"]) == (404, "tool_not_found")
    assert "salar" not in json.dumps(answer.json()["nearest"])
    nonsense = (await client.get("/v1/tools/gym.nothing.like_that_exists", headers=SUPPORT)).json()
    assert answer.json().keys() == nonsense.keys()


async def test_searches_lists_and_totals_are_of_the_role(client: httpx2.AsyncClient) -> None:
    for wish in ({}, {"namespace": "gym.salary"}, {"detail": "full"}, {"tag": "salary"}, {"effect": "read"}):
        body = {"queries": [HIDDEN, "pending salaries", "pay the staff"], "limit": 100, **wish}
        answer = await client.post("/v1/search", json=body, headers=SUPPORT)
        told = json.dumps(answer.json()).replace("pending salaries", "").replace(HIDDEN, "", 2)
        assert "gym.salary." not in told, wish
    boss, support = [(await client.get("/v1/tools", headers=key)).json()["total"] for key in (BOSS, SUPPORT)]
    counted = [(await client.get("/healthz", headers=key)).json()["tools"] for key in (BOSS, SUPPORT)]
    assert counted == [boss, support]
    assert support < boss == 137
    assert "tools" not in (await client.get("/healthz")).json()


@pytest.mark.parametrize(
    "code",
    [
        f"{HIDDEN}()",
        "tools.gym.salary.get_pending_salaries()",
        "gym.get_pending_salaries()",
        "getattr(gym.salary, 'get_pending_salaries')()",
        "f = gym.salary\nf.get_pending_salaries.items()",
        "import gym\ngym.salary.get_pending_salaries()",
        "getattr(gym, 'salary').get_pending_salaries(**{})",
    ],
)
async def test_a_program_reaches_nothing_that_is_hidden(client: httpx2.AsyncClient, code: str) -> None:
    assert (await execute(client, code, SUPPORT))["status"] in ("refused", "failed")
    outcome = await execute(client, code, SUPPORT)
    assert all(call["state"] == "failed" for call in outcome["calls"])


@pytest.mark.parametrize(
    ("arguments", "state"),
    [
        ("status='active'", "read"),
        ("status='blocked'", "denied"),
        ("", "denied"),
        ("status=None", "denied"),
        ("status='active', name='x'", "read"),
        ("**{'status': 'blocked'}", "denied"),
    ],
)
async def test_a_condition_holds_for_what_a_program_sends(
    client: httpx2.AsyncClient, arguments: str, state: str
) -> None:
    outcome = await execute(client, f"gym.clients.get_clients_list({arguments})", SUPPORT)
    (call,) = outcome["calls"]
    assert call["state"] == state
    assert call["rule"] in ("rule 2", "rule 3")


async def test_a_condition_holds_for_every_page_of_a_whole_list(client: httpx2.AsyncClient) -> None:
    denied = await execute(client, "gym.clients.get_clients_list.items(page_size=100)", SUPPORT)
    assert [call["state"] for call in denied["calls"]] == ["denied"]
    allowed = await execute(client, "len(gym.clients.get_clients_list.items(status='active', page_size=100))", SUPPORT)
    assert {(call["state"], call["rule"]) for call in allowed["calls"]} == {("read", "rule 2")}


async def test_the_callers_own_key_is_in_no_record(client: httpx2.AsyncClient) -> None:
    outcome = await execute(client, "gym.clients.get_clients_list(status='active', name='support-key')", SUPPORT)
    assert outcome["calls"][0]["arguments"] == {"status": "active", "name": "[redacted]"}


async def test_a_result_is_returned_to_the_key_whose_program_returned_it(client: httpx2.AsyncClient) -> None:
    outcome = await execute(client, "list(range(3))", BOSS)
    address = f"/v1/results/{handle_of(outcome['id'])}"
    assert (await client.get(address, headers=BOSS)).json() == {"value": [0, 1, 2]}
    refused = await client.get(address, headers=SUPPORT)
    assert (refused.status_code, refused.json()["code"]) == (404, "result_not_found")
