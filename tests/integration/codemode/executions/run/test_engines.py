"""Executions on every engine: policy, approvals, replay in another process, repair, secrets."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import sys
from asyncio.subprocess import PIPE
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from codemode.errors import ExecutionChanged
from codemode.executions.types.records import Decision
from tests.integration.codemode.executions.upstream import APPROVER, OWNER, Place, place

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from codemode.executions.types.outcome import ExecutionOutcome

MODULE = "tests.integration.codemode.executions.one_process"


@pytest.fixture(params=["process", "monty"])
def sandbox(request: pytest.FixtureRequest) -> dict[str, Any]:
    return {"engine": request.param}


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[Place]:
    async with place(tmp_path) as found:
        yield found


async def approve(service: Any, outcome: ExecutionOutcome) -> Any:
    """Approve the pending calls, resume the execution, and return how it ended."""
    decisions = [Decision(each.id, each.digest, "approved", by="") for each in outcome.pending]
    await service.executions.decide(decisions, APPROVER)
    await service.executions.resume(outcome.id, OWNER)
    return await service.executions.wait(outcome.id, OWNER, 30)


async def test_the_isolation_of_an_outcome_is_that_of_its_engine(here: Place, sandbox: dict[str, Any]) -> None:
    async with here.service(sandbox=sandbox) as service:
        outcome = await service.execute("up.x.get(n=1)['n']", caller=OWNER)
    assert outcome.value == "1"
    assert ("interpreter" in outcome.isolation) == (sandbox["engine"] == "monty")
    assert ("seccomp" in outcome.isolation) == (sandbox["engine"] == "process")


async def test_unknown_tools_and_arguments_are_refused_before_anything_is_sent(
    here: Place, sandbox: dict[str, Any]
) -> None:
    async with here.service(sandbox=sandbox) as service:
        outcome = await service.execute("up.x.post(n=1)\nup.x.gett(n=1)\nup.x.get(m=1)", caller=OWNER)
    assert outcome.failure is not None
    assert (outcome.status, here.upstream.seen) == ("refused", [])
    assert [refusal.rule for refusal in outcome.failure.refusals] == ["unknown_tool", "unknown_argument"]
    assert "nearest: up.x.get" in outcome.failure.refusals[0].hint


async def test_the_policy_denies_a_call(here: Place, sandbox: dict[str, Any]) -> None:
    rules = {"rules": [{"tools": ["up.x.post"], "where": {"n": "1"}, "decision": "deny", "reason": "not today"}]}
    async with here.service(sandbox=sandbox, policy=rules) as service:
        code = "try:\n    up.x.post(n=1)\nexcept ToolError as error:\n    said = str(error)\nsaid"
        outcome = await service.execute(code, caller=OWNER)
    assert "not today" in outcome.value
    assert ([str(call.state) for call in outcome.calls], here.upstream.seen) == (["denied"], [])


async def test_search_and_describe_are_bound(here: Place, sandbox: dict[str, Any]) -> None:
    async with here.service(sandbox=sandbox) as service:
        outcome = await service.execute("[search('drop'), describe('up.x.drop')]", caller=OWNER)
    assert all("up.x.drop" in text for text in outcome.value)


async def test_a_whole_list_is_collected(here: Place, sandbox: dict[str, Any]) -> None:
    async with here.service(sandbox=sandbox) as service:
        outcome = await service.execute("up.x.list.items()", caller=OWNER)
    assert outcome.value == [0, 1, 2, 3, 4]


APPROVED = """
import asyncio, random
before = up.x.post(n=7)["count"]
both = await asyncio.gather(up.x.get(n=1), up.x.drop(n=random.randrange(1000)))
[before, both[0]["n"], up.x.drop(n=2)["n"]]
"""


async def test_an_execution_goes_on_in_another_service_after_each_approval(
    here: Place, sandbox: dict[str, Any]
) -> None:
    async with here.service(sandbox=sandbox) as service:
        outcome = await service.execute(APPROVED, caller=OWNER)
    assert (outcome.status, [call.tool for call in outcome.pending]) == ("paused", ["up.x.drop"])
    async with here.service(sandbox=sandbox) as service:
        stored = await approve(service, outcome)
        assert stored.status == "paused"
    async with here.service(sandbox=sandbox) as service:
        second = type(outcome).from_json(stored.outcome)
        stored = await approve(service, second)
    assert (stored.status, stored.outcome["value"]) == ("completed", [1, "1", "2"])
    assert [seen.split()[0] for seen in sorted(here.upstream.seen)] == ["DELETE", "DELETE", "GET", "POST"]


async def test_a_rejected_call_is_an_error_of_the_program(here: Place, sandbox: dict[str, Any]) -> None:
    code = "try:\n    up.x.drop(n=1)\nexcept ToolError as error:\n    said = str(error)\nsaid"
    async with here.service(sandbox=sandbox) as service:
        outcome = await service.execute(code, caller=OWNER)
        (asked,) = outcome.pending
        await service.executions.decide([Decision(asked.id, asked.digest, "rejected", by="", note="no")], APPROVER)
        await service.executions.resume(outcome.id, OWNER)
        stored = await service.executions.wait(outcome.id, OWNER, 30)
    assert stored.outcome["value"] == "a person rejected up.x.drop: no; nothing was sent"
    assert here.upstream.seen == []


async def test_an_execution_goes_on_after_its_server_was_killed(here: Place, sandbox: dict[str, Any]) -> None:
    code = "a = up.x.post(n=1)['count']\nb = up.x.get(n=2)['n']\n[a, b, up.x.post(n=3)['n']]"
    hold = here.upstream.hold("/get")
    process = await asyncio.create_subprocess_exec(sys.executable, "-m", MODULE, stdin=PIPE, stdout=PIPE)
    assert process.stdin is not None
    sections = {"sandbox": sandbox}
    given = {"folder": str(here.folder), "port": here.port, "sections": sections, "code": code}
    process.stdin.write(json.dumps(given).encode() + b"\n")
    await here.upstream.wait_for(2)
    process.kill()
    await process.wait()
    hold.set()
    with closing(sqlite3.connect(here.folder / "state" / "journal.sqlite3", timeout=60)) as file, file:
        file.execute("UPDATE executions SET lease_until_us = 1")
    async with here.service(sandbox=sandbox) as service:
        (execution,) = await service.executions.recover()
        stored = await service.executions.wait(execution, OWNER, 30)
    assert (stored.status, stored.outcome["value"]) == ("completed", [1, "2", "3"])
    assert here.upstream.seen == ["POST /post?n=1", "GET /get?n=2", "GET /get?n=2", "POST /post?n=3"]


async def test_a_corrected_program_reuses_the_calls_of_the_failed_one(here: Place, sandbox: dict[str, Any]) -> None:
    async with here.service(sandbox=sandbox) as service:
        failed = await service.execute("a = up.x.post(n=1)\nb = up.x.get(n=2)\n1 / 0", caller=OWNER)
        mended = "a = up.x.post(n=1)\nb = up.x.get(n=2)\n[a['n'], b['n']]"
        outcome = await service.execute(mended, caller=OWNER, resume_from=failed.id)
    assert (failed.status, outcome.value) == ("failed", ["1", "2"])
    assert here.upstream.seen == ["POST /post?n=1", "GET /get?n=2"]


async def test_an_execution_is_not_continued_on_another_engine(here: Place, sandbox: dict[str, Any]) -> None:
    other = {"engine": "process" if sandbox["engine"] == "monty" else "monty"}
    async with here.service(sandbox=sandbox) as service:
        outcome = await service.execute("up.x.drop(n=1)", caller=OWNER)
    async with here.service(sandbox=other) as service:
        decisions = [Decision(each.id, each.digest, "approved", by="") for each in outcome.pending]
        await service.executions.decide(decisions, APPROVER)
        with pytest.raises(ExecutionChanged, match=r"the version of the engine was (monty|process)"):
            await service.executions.resume(outcome.id, OWNER)
    assert here.upstream.seen == []


async def test_a_secret_of_the_configuration_is_in_no_outcome_and_no_journal(
    here: Place, sandbox: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UP_TOKEN", "a-very-secret-token")
    source = {"credentials": [{"kind": "bearer", "token": {"env": "UP_TOKEN"}, "scheme": "*"}]}
    code = "print(up, up.x, up.x.get)\nup.x.get(n=1)['n']"
    async with here.service(sandbox=sandbox, source=source) as service:
        outcome = await service.execute(code, caller=OWNER)
    written = b"".join(file.read_bytes() for file in (here.folder / "state").rglob("*") if file.is_file())
    assert outcome.value == "1"
    assert "a-very-secret-token" not in json.dumps(outcome.to_json(), default=str)
    assert b"a-very-secret-token" not in written


async def test_cancellation_ends_the_execution(here: Place, sandbox: dict[str, Any]) -> None:
    here.upstream.hold("/get")
    async with here.service(sandbox=sandbox) as service:
        running = asyncio.create_task(service.execute("up.x.get(n=1)\nup.x.post(n=2)", caller=OWNER))
        await here.upstream.wait_for(1)
        (newest,) = await service.executions.list(OWNER, limit=1)
        stored = await service.executions.cancel(newest.request.id, OWNER)
        await running
    assert stored.status == "cancelled"
    assert here.upstream.seen == ["GET /get?n=1"]
