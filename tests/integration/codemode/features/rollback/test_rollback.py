"""Rollback of executions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from codemode.errors import ConfigurationError, ExecutionNotFound
from codemode.executions.types.records import Decision
from codemode.executions.types.rollback import Left
from codemode.features.rollback.rollback import Rollbacks
from codemode.sources.functions.callables import tool
from tests.integration.codemode.executions.upstream import APPROVER, OTHER, OWNER, Place, place

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

REVERT = {"source": {"revert": {"post": "x.drop(n=arguments.n)"}}}
ALLOWED = {"policy": {"default": {"destructive": "allow"}}}


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[Place]:
    async with place(tmp_path) as found:
        yield found


async def test_the_newest_is_taken_back_first_and_what_stays_is_told(here: Place) -> None:
    async with here.service(**REVERT, **ALLOWED) as service:
        done = await service.execute(
            "up.x.get(n=9)\nup.x.post(n=1)\nup.x.secret(word='w')\nup.x.post(n=2)", caller=OWNER
        )
        found = await service.part(Rollbacks).start(done.id, OWNER)
        stored = await service.executions.wait(found.execution, OWNER, 30)
        again = await service.part(Rollbacks).start(done.id, OWNER)
    assert stored.status == "completed"
    assert here.upstream.seen[4:] == ["DELETE /drop?n=2", "DELETE /drop?n=1"]
    assert [(step.path, step.tool, step.arguments) for step in found.steps] == [
        ("4", "up.x.drop", {"n": 2}),
        ("2", "up.x.drop", {"n": 1}),
    ]
    assert found.left == (Left("3", "up.x.secret", "its tool names no inverse"),)
    assert again.execution == found.execution  # once


async def test_it_passes_the_same_policy_and_goes_on_where_it_failed(here: Place) -> None:
    async with here.service(**REVERT) as service:
        done = await service.execute("up.x.post(n=1)\nup.x.post(n=2)", caller=OWNER)
        found = await service.part(Rollbacks).start(done.id, OWNER)
        stored = await service.executions.wait(found.execution, OWNER, 30)
        assert stored.status == "paused"
        for broken in (False, True):
            if broken:
                here.upstream.broken.add("/drop")
            (question,) = await service.executions.approvals(APPROVER)
            await service.executions.decide([Decision(question.id, question.digest, "approved", by="")], APPROVER)
            await service.executions.resume(found.execution, OWNER)
            stored = await service.executions.wait(found.execution, OWNER, 30)
        assert stored.status == "failed"
        here.upstream.broken.clear()
        again = await service.part(Rollbacks).start(done.id, OWNER)
        assert again.execution != found.execution
        stored = await service.executions.wait(again.execution, OWNER, 30)
        assert [call["state"] for call in stored.outcome["calls"]] == ["committed", "pending"]
    assert here.upstream.seen[2:] == ["DELETE /drop?n=2", "DELETE /drop?n=1"]


async def test_what_another_execution_did_is_that_ones_to_take_back(here: Place) -> None:
    async with here.service(**REVERT, **ALLOWED) as service:
        first = await service.execute("up.x.post(n=1)\n1 / 0", caller=OWNER)
        second = await service.execute("up.x.post(n=1)", caller=OWNER, resume_from=first.id)
        found = await service.part(Rollbacks).start(second.id, OWNER)
        assert (found.execution, found.steps) == ("", ())
        assert found.left == (Left("1", "up.x.post", f"it was made by {first.id}: roll that execution back"),)
        for who in (OTHER, APPROVER):
            with pytest.raises(ExecutionNotFound):
                await service.part(Rollbacks).start(first.id, who)


async def test_an_author_may_name_the_inverse_of_a_function(here: Place) -> None:
    made = [1]

    @tool(revert="remove(number=result.number)")
    def make() -> dict[str, int]:
        made.append(made[-1] + 1)
        return {"number": made[-1]}

    @tool(effect="write")
    def remove(number: int) -> None:
        made.remove(number)

    service = type(here.service()).from_settings(here.settings(), functions={"shop": [make, remove]})
    async with service:
        done = await service.execute("shop.make()\nshop.make()", caller=OWNER)
        assert made == [1, 2, 3]
        found = await service.part(Rollbacks).start(done.id, OWNER)
        assert (await service.executions.wait(found.execution, OWNER, 30)).status == "completed"
    assert made == [1]


async def test_what_is_no_inverse_is_told_when_the_configuration_is_read(here: Place) -> None:
    with pytest.raises(ConfigurationError, match=r"sources\.up\.revert: .* must be a call with only keyword arguments"):
        async with here.service(source={"revert": {"post": "drop(1)"}}):
            pass
