"""A server that is killed in the middle of a saved program, with real processes."""

from __future__ import annotations

import asyncio
import json
import sys
from asyncio.subprocess import PIPE
from typing import TYPE_CHECKING

import pytest

from tests.integration.codemode.executions.stopped import MODULE, lease_has_run_out
from tests.integration.codemode.executions.upstream import OWNER, Place, place
from tests.integration.codemode.features.saved.files import save, saved

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[Place]:
    async with place(tmp_path) as found:
        yield found


INNER = """
import random, datetime
first = up.x.post(n=random.randint(1, 1000))
at = datetime.datetime.now().isoformat()
up.x.get(n=number)
[first["n"], at, random.random()]
"""


async def test_the_next_server_finishes_the_program_without_repeating_a_write(here: Place) -> None:
    save(here, "inner", INNER, parameters="{number: {type: integer}}")
    save(here, "outer", "before = up.x.put(n=7)['n']\n[before, saved.inner(number=5)]")
    hold = here.upstream.hold("/get")
    process = await asyncio.create_subprocess_exec(sys.executable, "-m", MODULE, stdin=PIPE, stdout=PIPE)
    assert process.stdin is not None
    given = {"folder": str(here.folder), "port": here.port, "sections": saved(here), "code": "saved.outer()"}
    process.stdin.write(json.dumps(given).encode() + b"\n")
    await here.upstream.wait_for(3)
    process.kill()
    await process.wait()
    lease_has_run_out(here)
    hold.set()
    async with here.service(**saved(here)) as service:
        (execution,) = await service.executions.recover()
        stored = await service.executions.wait(execution, OWNER, 60)
    assert stored.status == "completed", stored.outcome
    before, (number, _, _) = stored.outcome["value"]
    assert before == "7"
    assert here.upstream.seen == ["PUT /put?n=7", f"POST /post?n={number}", "GET /get?n=5", "GET /get?n=5"]
    calls = [(one["path"], one["tool"], one["state"]) for one in stored.outcome["calls"]]
    assert calls == [
        ("1", "saved.outer", "committed"),
        ("1:1", "up.x.put", "committed"),
        ("1:2", "saved.inner", "committed"),
        ("1:2:1", "up.x.post", "committed"),
        ("1:2:2", "up.x.get", "read"),
    ]
