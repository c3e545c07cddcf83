"""A server is killed while a program runs under a plan, and another server continues it."""

from __future__ import annotations

import asyncio
import json
import sys
from asyncio.subprocess import PIPE
from typing import TYPE_CHECKING

import pytest

from codemode.features.plans.plans import Plans
from tests.integration.codemode.executions.upstream import APPROVER, OWNER, Place, place

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

MODULE = "tests.integration.codemode.executions.one_process"

PROGRAM = """
up.x.drop(n=1)
up.x.get(n=2)
up.x.drop(n=1)
up.x.drop(n=3)
"""


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[Place]:
    async with place(tmp_path) as found:
        yield found


async def test_what_was_made_under_the_plan_counts_after_a_kill(here: Place) -> None:
    async with here.service() as service:
        outcome = await service.execute(PROGRAM, dry_run=True, caller=OWNER)
        digest = (await service.part(Plans).get(outcome.plan, APPROVER)).digest
        await service.part(Plans).decide(outcome.plan, digest, "approved", APPROVER)
    assert here.upstream.seen == ["GET /get?n=2"]
    hold = here.upstream.hold("/get")
    process = await asyncio.create_subprocess_exec(sys.executable, "-m", MODULE, stdin=PIPE, stdout=PIPE)
    assert process.stdin is not None
    given = {"folder": str(here.folder), "port": here.port, "sections": {}, "code": "", "plan": outcome.plan}
    process.stdin.write(json.dumps(given).encode() + b"\n")
    try:
        await here.upstream.wait_for(3)  # the first write is done, and the read is under way
    finally:
        process.kill()
        await process.wait()
    hold.set()
    async with here.service() as service:
        (execution,) = await service.executions.recover()
        stored = await service.executions.wait(execution, OWNER, 60)
    assert stored.status == "completed", stored.outcome
    assert here.upstream.seen[1:] == [
        *("DELETE /drop?n=1", "GET /get?n=2", "GET /get?n=2", "DELETE /drop?n=1", "DELETE /drop?n=3")
    ]
    rules = {call["rule"] for call in stored.outcome["calls"] if call["tool"] == "up.x.drop"}
    assert rules == {f"default for destructive, approved by {APPROVER.id} in {outcome.plan}"}
