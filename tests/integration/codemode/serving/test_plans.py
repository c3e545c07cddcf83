"""Plans over every interface: a dry run returns one, a person approves it, and its owner runs it."""

from __future__ import annotations

import json
import re
from functools import partial
from typing import TYPE_CHECKING, Any

import httpx2
from mcp import Client

from codemode.features.plans.plans import Plans
from codemode.gateway.caller import LOCAL, Caller
from codemode.serving.application.app import create_app
from codemode.serving.auth.callers import Callers
from codemode.serving.auth.keys import KeyFile
from codemode.serving.mcp.server import McpServer
from tests.command_line import codemode

if TYPE_CHECKING:
    from pathlib import Path

    from codemode import CodeMode
    from tests.integration.codemode.conftest import Notes

APPROVER = Caller("ann", "approver")


async def test_a_plan_over_http(note_service: CodeMode, notes: Notes, tmp_path: Path) -> None:
    callers = Callers({"agent": Caller("agent"), "person": APPROVER}, KeyFile(tmp_path / "keys.json"))
    transport = httpx2.ASGITransport(create_app(note_service, callers))
    agent, person = ({"Authorization": f"Bearer {key}"} for key in ("agent", "person"))
    async with httpx2.AsyncClient(transport=transport, base_url="http://testserver", headers=agent) as client:
        dry = await client.post("/v1/execute", json={"code": "shop.delete(text='a')", "dry_run": True})
        plan = dry.json()["plan"]
        early = await client.post("/v1/execute", json={"code": "", "plan": plan})
        own = await client.post(f"/v1/plans/{plan}", json={"digest": "", "verdict": "approved"})
        (listed,) = (await client.get("/v1/plans", headers=person)).json()["plans"]
        shown = (await client.get(f"/v1/plans/{plan}", headers=person)).json()
        decision = {"digest": shown["digest"], "verdict": "approved", "note": "as agreed"}
        decided = await client.post(f"/v1/plans/{plan}", headers=person, json=decision)
        ended = await client.post("/v1/execute", json={"code": "", "plan": plan, "wait_s": 30})
        again = await client.post("/v1/execute", json={"code": "", "plan": plan})
        mixed = await client.post("/v1/execute", json={"code": "", "plan": plan, "resume_from": "ex_1"})
        unknown = await client.get("/v1/plans/pl_1")
    assert (early.status_code, early.json()["code"]) == (409, "execution_waiting")
    assert (own.status_code, own.json()["code"]) == (403, "approval_forbidden")
    assert listed == shown
    assert (shown["status"], shown["code"], shown["owner"]) == ("pending", "shop.delete(text='a')", "agent")
    assert [(call["tool"], call["arguments"]) for call in shown["calls"]] == [("shop.delete", {"text": "a"})]
    assert (decided.status_code, decided.json()["status"], decided.json()["by"]) == (200, "approved", "ann")
    assert (ended.status_code, ended.json()["status"], ended.json()["plan"]) == (200, "completed", plan)
    assert notes.deleted == ["a"]
    assert (again.status_code, again.json()["code"]) == (409, "plan_refused")
    assert mixed.status_code == 422
    assert (unknown.status_code, unknown.json()["code"]) == (404, "plan_not_found")


def text_of(answer: Any) -> str:
    """Return the text that a model sees."""
    return str(answer.content[0].text)


async def test_a_model_learns_of_the_plan_and_runs_it_through_resume_from(note_service: CodeMode, notes: Notes) -> None:
    async with Client(McpServer(note_service).server) as client:
        dry = await client.call_tool("execute", {"code": "shop.delete(text='a')", "dry_run": True})
        assert dry.structured_content is not None
        plan = dry.structured_content["plan"]
        advice = f"once a person has approved it, run it with execute(code='', resume_from='{plan}')"
        assert advice in text_of(dry)
        assert advice in dry.structured_content["text"]
        early = await client.call_tool("execute", {"code": "", "resume_from": plan})
        found = await note_service.part(Plans).get(plan, LOCAL)
        await note_service.part(Plans).decide(plan, found.digest, "approved", APPROVER)
        ended = await client.call_tool("execute", {"code": "", "resume_from": plan})
    assert early.is_error
    assert "waits for a person" in text_of(early)
    assert not ended.is_error
    assert advice not in text_of(ended)
    assert notes.deleted == ["a"]


SHOP = """
from pathlib import Path

from codemode import tool


@tool(effect="destructive")
def delete(text: str) -> str:
    Path(__file__).with_name("deleted").write_text(text)
    return "deleted"
"""
CONFIG = """
sources: {shop: {kind: python, location: shop.py}}
state_folder: state
cache_folder: cache
"""


def test_a_plan_on_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(SHOP, encoding="utf-8")
    (tmp_path / "codemode.yaml").write_text(CONFIG, encoding="utf-8")
    command = partial(codemode, folder=tmp_path)
    assert "there is no plan" in command("plans", "list").stderr
    dry = command("run", "-", "--dry-run", stdin="shop.delete(text='a')")
    assert "then: codemode plans run pl_" in dry.stderr
    plan = re.search(r"next: codemode plans approve (pl_\w+)", dry.stderr)
    assert plan is not None, dry.stderr
    name = plan[1]
    listed = command("plans", "list").stdout
    assert f"{name}  pending  local  1" in listed
    early = command("plans", "run", name)
    assert (early.returncode, "waits for a person" in early.stderr) == (2, True), early.stderr
    approved = command("plans", "approve", name, "--note", "as agreed")
    assert "ask: shop.delete(text='a')" in approved.stdout
    assert f"next: codemode plans run {name}" in approved.stderr
    assert not (tmp_path / "deleted").exists()
    ended = command("plans", "run", name)
    assert (ended.returncode, json.loads(ended.stdout)) == (0, "deleted"), ended.stderr
    assert (tmp_path / "deleted").read_text() == "a"
    shown = json.loads(command("plans", "show", name, "--json").stdout)
    assert (shown["status"], shown["by"], shown["note"]) == ("used", "operator", "as agreed")
    rejected = command("plans", "reject", name)
    assert (rejected.returncode, "the plan is used" in rejected.stderr) == (2, True), rejected.stderr
    unknown = command("plans", "show", "pl_1")
    assert "`codemode plans list` shows them" in unknown.stderr
