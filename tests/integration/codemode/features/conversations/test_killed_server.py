"""State of a program whose server was killed while it ran."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from codemode.executions.types.records import Decision
from tests.integration.codemode.executions.stopped import running
from tests.integration.codemode.executions.upstream import APPROVER, OWNER, Place, place

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

PROGRAM = """
store("own", "by the killed server")
loaded = [load("shared"), last]
up.x.get(n=1)
[loaded, load("own"), load("shared")]
"""

ASKING = """
store("own", 1)
seen = last
try:
    up.x.drop(n=1)
except ToolRejected:
    pass
[seen, load("own")]
"""


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[Place]:
    async with place(tmp_path) as found:
        yield found


async def test_what_was_loaded_stays_and_nothing_is_stored_again(here: Place) -> None:
    hold = here.upstream.hold("/get")
    async with here.service() as service:
        await service.execute("store('shared', 'old')\n'old result'", caller=OWNER, conversation="chat")
    async with running(here, PROGRAM, conversation="chat") as process:
        await here.upstream.wait_for(1)
        process.kill()
        await process.wait()
    hold.set()
    async with here.service() as service:
        later = "store('own', 'by a later program')\nstore('shared', 'new')\n'new result'"
        await service.execute(later, caller=OWNER, conversation="chat")
        (execution,) = await service.executions.recover()
        stored = await service.executions.wait(execution, OWNER, 60)
        result = [["old", "old result"], "by a later program", "new"]
        assert (stored.status, stored.outcome["value"]) == ("completed", result)
        outcome = await service.execute("[load('own'), last]", caller=OWNER, conversation="chat")
        assert outcome.value == ["by a later program", result]


async def test_a_paused_program_goes_on_in_its_conversation(here: Place) -> None:
    async with here.service() as service:
        await service.execute("'old result'", caller=OWNER, conversation="chat")
        paused = await service.execute(ASKING, caller=OWNER, conversation="chat")
        assert paused.status == "paused"
    async with here.service() as service:
        between = await service.execute("store('own', load('own') + 1)\nlast", caller=OWNER, conversation="chat")
        assert between.value == "old result"
        decision = Decision(paused.pending[0].id, paused.pending[0].digest, "rejected", by="")
        await service.executions.decide([decision], APPROVER)
        await service.executions.resume(paused.id, OWNER)
        stored = await service.executions.wait(paused.id, OWNER, 60)
    assert (stored.status, stored.outcome["value"]) == ("completed", ["old result", 2])
