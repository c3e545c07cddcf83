"""Dry runs in the sandbox, against a real service, and over every interface."""

from __future__ import annotations

import json
from textwrap import dedent
from typing import TYPE_CHECKING

import httpx2
import pytest
from mcp import Client

from codemode import CodeMode
from codemode.errors import WrongArgument
from codemode.gateway.caller import Caller
from codemode.serving.application.app import create_app
from codemode.serving.auth.callers import Callers
from codemode.serving.auth.keys import KeyFile
from codemode.serving.mcp.server import McpServer
from tests.command_line import codemode

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Gym
    from tests.integration.codemode.conftest import Notes

ENROL = """
person = dict(firstName="Ada", lastName="Planned", email="ada@example.com", birthDate="1990-01-01")
client = gym.clients.create_client(**person, branchId=gym.core.get_branches_info()["items"][0]["id"])
plan = gym.plans.create_plan(name="Trial", description="A week", durationDays=7, priceMinor=0)
gym.clients.get_client_details(clientId=client["id"])
gym.memberships.freeze_membership(clientId=client["id"], reason=f"for {plan['name']}")
[gym.clients.get_clients_list(name="Planned")["total"], client["id"]]
"""


async def test_a_dry_run_against_a_service_changes_nothing_and_lists_what_it_would(gym: Gym) -> None:
    async with CodeMode.from_settings(gym.settings(journal={"enabled": True})) as service:
        before = await service.executions.list(Caller("local"))
        outcome = await service.execute(ENROL, dry_run=True)
        recorded = await service.executions.list(Caller("local"))
        whole = await service.result(f"h_{outcome.id.removeprefix('ex_')}")
    assert outcome.value == [0, "<id of gym.clients.create_client #1>"], outcome.failure
    assert whole == outcome.value
    assert recorded == before
    assert [(call.tool, call.effect, call.decision) for call in outcome.planned] == [
        ("gym.clients.create_client", "write", "allow"),
        ("gym.plans.create_plan", "write", "allow"),
        ("gym.memberships.freeze_membership", "write", "allow"),
    ]
    assert outcome.planned[2].arguments == {
        "clientId": "<id of gym.clients.create_client #1>",
        "reason": "for <name of gym.plans.create_plan #1>",
    }
    assert {call.host for call in outcome.planned} == {gym.url.removeprefix("http://")}
    assert [str(call.state) for call in outcome.calls] == [
        *("read", "planned", "planned", "not started", "planned", "read")
    ]
    assert type(outcome).from_json(outcome.to_json()) == outcome


async def test_a_whole_list_for_a_placeholder_is_a_placeholder(gym: Gym) -> None:
    code = """
    plan = gym.plans.create_plan(name="Trial", description="A week", durationDays=7, priceMinor=0)
    [client["id"] for client in gym.clients.get_clients_list.items(planId=plan["id"])]
    """
    async with CodeMode.from_settings(gym.settings()) as service:
        outcome = await service.execute(dedent(code), dry_run=True)
    assert outcome.value == ["<items[0].id of gym.clients.get_clients_list #1>"], outcome.failure
    assert [str(call.state) for call in outcome.calls] == ["planned", "not started"]


async def test_a_dry_run_repairs_nothing(gym: Gym) -> None:
    async with CodeMode.from_settings(gym.settings()) as service:
        with pytest.raises(WrongArgument, match="dry_run and resume_from exclude each other"):
            await service.execute("1", dry_run=True, resume_from="ex_1")


async def test_a_dry_run_over_http(note_service: CodeMode, notes: Notes, tmp_path: Path) -> None:
    callers = Callers({"agent": Caller("agent")}, KeyFile(tmp_path / "keys.json"))
    transport = httpx2.ASGITransport(create_app(note_service, callers))
    headers = {"Authorization": "Bearer agent", "Idempotency-Key": "once"}
    async with httpx2.AsyncClient(transport=transport, base_url="http://testserver", headers=headers) as client:
        answer = await client.post("/v1/execute", json={"code": "shop.note(text='a')", "dry_run": True})
        waits = await client.post("/v1/execute", json={"code": "1", "dry_run": True, "wait_s": 1})
    assert answer.status_code == 200, answer.text
    (planned,) = answer.json()["planned"]
    assert (planned["tool"], planned["arguments"], planned["label"]) == ("shop.note", {"text": "a"}, "shop.note #1")
    assert waits.status_code == 422
    assert "dry_run and wait_s exclude each other: a dry run is not recorded" in waits.text
    assert notes.written == []


async def test_a_dry_run_over_mcp_is_shown_as_text_and_as_data(note_service: CodeMode, notes: Notes) -> None:
    async with Client(McpServer(note_service).server) as client:
        ended = await client.call_tool("execute", {"code": "shop.note(text='a')", "dry_run": True})
        mixed = await client.call_tool("execute", {"code": "1", "dry_run": True, "resume_from": "ex_1"})
    (content,) = ended.content
    assert content.type == "text"
    lines = content.text.split("\n")
    assert lines[:3] == [
        '"<answer of shop.note #1>"',
        "planned, not sent:",
        "allow: shop.note(text='a') at this Python program",
    ]
    assert ended.structured_content["planned"][0]["tool"] == "shop.note"
    assert "planned, not sent" not in ended.structured_content["text"]
    assert mixed.is_error
    assert notes.written == []


def test_a_dry_run_on_the_command_line(gym: Gym) -> None:
    program = "gym.plans.create_plan(name='Trial', description='A week', durationDays=7, priceMinor=0)['id']"
    surface = ["--source", str(gym.document), "--base-url", gym.url, "--bearer-env", "GYM_TOKEN"]
    ended = codemode("run", "-", "--dry-run", *surface, stdin=program, GYM_TOKEN="a-token-for-tests")
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout).startswith("<id of ")
    assert "planned: allow: " in ended.stderr
    assert ".plans.create_plan(name='Trial'" in ended.stderr
