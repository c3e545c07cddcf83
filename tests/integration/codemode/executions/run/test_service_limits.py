"""The limit of a service is waited out by the host, for writes too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.integration.codemode.executions.upstream import OWNER, place

if TYPE_CHECKING:
    from pathlib import Path


async def test_a_refused_write_is_sent_again_when_the_service_said_and_noted(tmp_path: Path) -> None:
    async with place(tmp_path) as here, here.service() as service:
        here.upstream.refusals["/post"] = 1
        outcome = await service.execute("up.x.post(n=1)['n']", caller=OWNER)
    assert (outcome.failure, outcome.value) == (None, "1")
    assert here.upstream.seen == ["POST /post?n=1", "POST /post?n=1"]
    assert [str(call.state) for call in outcome.calls] == ["committed"]
    assert "waited 1 s for up's limit" in outcome.notes


async def test_what_its_program_gave_up_meanwhile_is_not_sent_again(tmp_path: Path) -> None:
    program = (
        "import asyncio\ntask = asyncio.create_task(up.x.post(n=1))\nawait asyncio.sleep(0.2)\ntask.cancel()\n"
        "up.x.get(n=2)['n']"
    )
    async with place(tmp_path) as here, here.service() as service:
        here.upstream.refusals["/post"] = 1
        outcome = await service.execute(program, caller=OWNER)
    assert outcome.value == "2"
    assert here.upstream.seen == ["POST /post?n=1", "GET /get?n=2"]
    assert {call.tool: str(call.state) for call in outcome.calls} == {"up.x.post": "failed", "up.x.get": "read"}
