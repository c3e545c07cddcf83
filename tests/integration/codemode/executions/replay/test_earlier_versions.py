"""Executions that an earlier version recorded replay as they ran: the same calls, random numbers, times and order.

If a test fails, programs behave differently now. Restore the behaviour, or let the versions not continue each other's
executions: set `REPLAYS_FROM` to the coming release, and record them again (`recorded.py`).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from codemode.executions.run.replay.dependencies import REPLAYS_FROM
from codemode.executions.types.ids import new_execution
from codemode.sources.destination import ADDRESS, CREDENTIALS, WAY
from tests.integration.codemode.executions.replay.recorded import FILE, journal_in, leave
from tests.integration.codemode.executions.upstream import OWNER, place

if TYPE_CHECKING:
    from pathlib import Path

RECORDED = json.loads(FILE.read_text())

#: What depends on the machine of the test, and not on the version.
LOCAL = (ADDRESS, CREDENTIALS, WAY, "the version of Python")


@pytest.mark.parametrize("data", RECORDED)
async def test_a_recorded_execution_replays_as_it_ran(tmp_path: Path, data: dict[str, Any]) -> None:
    async with place(tmp_path) as here:
        journal = journal_in(here)
        async with here.service() as service:
            probe = await service.execute("1", caller=OWNER)
            await journal.open()
            now = (await journal.get(probe.id)).request.digests
            here_now = {name: value for name, value in now.items() if name.startswith(LOCAL)}
            then = {name: value for name, value in data["digests"].items() if not name.startswith(LOCAL)}
            assert then["the version of codemode"] == REPLAYS_FROM
            execution = new_execution()
            await leave(journal, execution, data, then | here_now)
            await journal.aclose()
            assert await service.executions.recover() == (execution,)
            stored = await service.executions.wait(execution, OWNER, 60)
    outcome = stored.outcome
    assert {name: outcome.get(name) for name in ("status", "value", "output")} == data["outcome"], outcome
    assert here.upstream.seen == []
