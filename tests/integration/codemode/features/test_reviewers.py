"""Second opinions of a model on the calls of real programs, over HTTP."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from codemode.testing.model_server import ModelServer, Reply
from tests.integration.codemode.executions.upstream import OWNER, Place, place

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from codemode.executions.types.outcome import ExecutionOutcome
    from codemode.testing.model_server import Script

POST = "try:\n    r = up.x.post(n=1)['count']\nexcept ToolRejected as error:\n    r = error.reason\nr"
ASK = {"rules": [{"name": "posts", "tools": "up.x.post", "decision": "ask", "low_risk": True}]}


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[Place]:
    async with place(tmp_path) as found:
        yield found


def says(opinion: str, reason: str = "as the rules say") -> Script:
    return lambda _: Reply(calls=[("give_opinion", {"opinion": opinion, "reason": reason})])


async def reviewed(here: Place, script: Script, program: str = POST, **reviewer: Any) -> ExecutionOutcome:
    """Return the outcome of a program whose pending calls a model reviews."""
    async with ModelServer(script) as server:
        (here.folder / "key").write_text(server.key, encoding="utf-8")
        key = {"file": str(here.folder / "key")}
        model = {"model": "small", "base_url": server.base_url, "api_key": key, "instructions": "No posts on Sundays."}
        settings = {"name": "fraud", "model": model, **reviewer}
        sections = {"observe": {"audit_file": str(here.folder / "audit.jsonl")}, "policy": ASK}
        async with here.service(reviewers=[settings], **sections) as cm:
            outcome = await cm.execute(program, caller=OWNER)
        here.folder.joinpath("prompts.json").write_text(json.dumps([seen.body["messages"] for seen in server.seen]))
        assert server.refused == []
    return outcome


async def test_a_model_may_reject_and_is_named(here: Place) -> None:
    outcome = await reviewed(here, says("reject", "it is Sunday"))
    assert outcome.value == "it is Sunday"
    assert here.upstream.seen == []
    assert outcome.calls[0].error == "reviewer fraud rejected up.x.post: it is Sunday; nothing was sent"


async def test_a_model_in_veto_mode_cannot_approve(here: Place) -> None:
    outcome = await reviewed(here, says("approve"))
    assert (outcome.status, here.upstream.seen) == ("paused", [])


async def test_a_model_may_approve_a_low_risk_call_and_its_reason_is_recorded(here: Place) -> None:
    outcome = await reviewed(here, says("approve", "a small post"), mode="approve")
    rule = "rule 1 (posts), approved by reviewer fraud: a small post"
    assert (outcome.value, outcome.calls[0].rule) == (1, rule)
    lines = [json.loads(line) for line in (here.folder / "audit.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [line["rule"] for line in lines if "tool" in line] == ["rule 1 (posts)", rule, rule]


async def test_a_model_never_approves_a_destructive_call(here: Place) -> None:
    outcome = await reviewed(here, says("approve"), "up.x.drop(n=1)", mode="approve")
    assert (outcome.status, here.upstream.seen) == ("paused", [])


@pytest.mark.parametrize(
    "script",
    [
        lambda _: Reply("I approve this call."),
        lambda _: Reply(calls=[("give_opinion", '{"opinion": "approve"')]),
        lambda _: Reply(calls=[("give_opinion", {"opinion": "approved", "reason": ""})]),
        lambda _: Reply(calls=[("give_opinion", {"opinion": "approve", "reason": "a"})] * 2),
        says("unsure"),
    ],
)
async def test_an_unusable_answer_leaves_the_call_to_a_person(here: Place, script: Script) -> None:
    outcome = await reviewed(here, script, mode="approve")
    assert (outcome.status, here.upstream.seen) == ("paused", [])


async def test_a_model_that_cannot_be_reached_leaves_the_call_to_a_person(here: Place) -> None:
    model = {"model": "small", "base_url": "http://127.0.0.1:9/v1"}
    async with here.service(reviewers=[{"name": "fraud", "model": model}], policy=ASK) as cm:
        assert (await cm.execute(POST, caller=OWNER)).status == "paused"


async def test_the_prompt_delimits_the_call_and_holds_no_secret(here: Place) -> None:
    await reviewed(here, says("unsure"), "up.x.secret(word='hunter2-and-more')")
    (asked,) = json.loads((here.folder / "prompts.json").read_text())
    system, user = asked
    first, *document, last = user["content"].splitlines()
    assert first == last
    assert first in system["content"]
    assert "No posts on Sundays." in system["content"]
    assert json.loads("\n".join(document))["arguments"] == {"word": "[redacted]"}
