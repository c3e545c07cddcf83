"""Saved programs where tools are offered: pins, menus, the list of sources, and events."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from codemode.executions.types.promotion import Promotion
from codemode.executions.types.records import Decision
from codemode.features.rollback.rollback import Rollbacks
from codemode.features.saved.saved import SavedPrograms
from tests.integration.codemode.executions.upstream import APPROVER, OWNER, Place, place
from tests.integration.codemode.features.saved.files import save, saved

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[Place]:
    async with place(tmp_path) as found:
        yield found


async def test_a_program_is_pinned_and_offered_in_a_menu(here: Place) -> None:
    save(here, "freeze", "up.x.post(n=n)", parameters="{n: {type: integer}}", description="Freeze a membership.")
    async with here.service(**saved(here), pins=["saved.freeze"]) as cm:
        names = [one["function"]["name"] for one in await cm.definitions()]
        answer = await cm.tools(OWNER).call(names[-1], {"n": 3})
        menu = await cm.select_menu("freeze the membership of Ann")
        described = await cm.describe("saved")
    assert answer.data["calls"][0]["tool"] == "saved.freeze"
    assert any("freeze" in one["function"]["name"] for one in menu.to_json()["tools"])
    assert "saved.freeze" in described


async def test_events_name_the_program_its_version_and_its_calls(here: Place) -> None:
    save(here, "get", "up.x.get(n=1)['n']", effect="read", version=7)
    async with here.service(**saved(here)) as cm:
        outcome = await cm.execute("saved.get()", caller=OWNER)
        events = [event async for event in cm.executions.events(outcome.id, OWNER)]
    started = [one.data for one in events if one.type == "call_started"]
    named = [(one["path"], one["tool"], one.get("version")) for one in started]
    assert named == [("1", "saved.get", 7), ("1:1", "up.x.get", None)]
    ended = [one.data["path"] for one in events if one.type == "call_ended"]
    assert ended == ["1:1", "1"]


async def test_the_writes_of_a_program_are_rolled_back(here: Place) -> None:
    save(here, "make", "up.x.post(n=4)\nup.x.post(n=5)")
    source = {"revert": {"x.post": "x.put(n=arguments.n)"}}
    async with here.service(**saved(here), source=source) as cm:
        outcome = await cm.execute("saved.make()", caller=OWNER)
        undone = await cm.part(Rollbacks).start(outcome.id, OWNER)
        await cm.executions.wait(undone.execution, OWNER, 30)
    assert here.upstream.seen == ["POST /post?n=4", "POST /post?n=5", "PUT /put?n=5", "PUT /put?n=4"]


async def test_a_promoted_program_asks_for_what_its_execution_was_asked_for(here: Place) -> None:
    async with here.service(**saved(here)) as cm:
        paused = await cm.execute("n = 6\nup.x.drop(n=n)['n']", caller=OWNER)
        asked = paused.pending[0]
        await cm.executions.decide([Decision(asked.id, asked.digest, "approved", by="")], APPROVER)
        await cm.executions.resume(paused.id, OWNER)
        await cm.executions.wait(paused.id, OWNER, 30)
        tool = await cm.part(SavedPrograms).promote(
            Promotion(paused.id, "drop", "Drop a number.", {"n": {}}), reader=OWNER
        )
        again = await cm.execute("saved.drop(n=8)", caller=OWNER)
    assert tool.effect == "destructive"
    assert [(one.path, one.arguments) for one in again.pending] == [("1:1", {"n": 8})]
