"""Grants: one decision for all calls of a tool in an execution, up to a number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from codemode.errors import ApprovalForbidden, ApprovalRefused
from codemode.executions.types.records import Decision
from tests.integration.codemode.executions.upstream import APPROVER, OWNER, Place, document, place

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from codemode.executions.types.outcome import ExecutionOutcome
    from codemode.service import CodeMode

WRITES: dict[str, Any] = {"policy": {"default": {"write": "ask"}}}
ONE_BY_ONE = "[up.x.post(n=n)['n'] for n in range(5)]"
AT_ONCE = "import asyncio\nawait asyncio.gather(*(up.x.post(n=n) for n in range(4)), up.x.put(n=9))"

FOUR = "import asyncio\n[one['n'] for one in await asyncio.gather(*(up.x.post(n=n) for n in range(4)))]"


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[Place]:
    async with place(tmp_path) as yielded:
        yield yielded


async def _granted(service: CodeMode, paused: ExecutionOutcome, up_to: int, verdict: Any = "approved") -> Any:
    call = paused.pending[0]
    decision = Decision(call.id, call.digest, verdict, by="", up_to=up_to)
    decided = await service.executions.decide([decision], APPROVER)
    await service.executions.resume(paused.id, APPROVER)
    return decided, await service.executions.wait(paused.id, OWNER, 30)


async def test_a_grant_approves_later_calls_of_the_tool_each_under_its_own_digest(here: Place) -> None:
    async with here.service(**WRITES) as service:
        paused = await service.execute(ONE_BY_ONE, caller=OWNER)
        grant = paused.pending[0].id
        _, ended = await _granted(service, paused, up_to=5)
        assert (ended.status, ended.outcome["value"]) == ("completed", ["0", "1", "2", "3", "4"])
        rules = [call["rule"] for call in ended.outcome["calls"]]
        assert rules[0] == "default for write, approved by key-3"
        assert rules[1:] == [f"default for write, approved by key-3 under grant {grant}"] * 4
        record = await service.executions.record(paused.id, OWNER)
        assert {call.approval for call in record.calls.values()} == {grant}
        assert len({call.digest for call in record.calls.values()}) == 5


async def test_a_used_up_grant_asks_again_and_earlier_uses_count_in_a_replay(here: Place) -> None:
    async with here.service(**WRITES) as service:
        paused = await service.execute(ONE_BY_ONE, caller=OWNER)
        _, again = await _granted(service, paused, up_to=3)
        assert (again.status, len(here.upstream.seen)) == ("paused", 3)
        (call,) = await service.executions.approvals(APPROVER)
        assert call.arguments == {"n": 3}
        await service.executions.decide([Decision(call.id, call.digest, "approved", by="")], APPROVER)
        await service.executions.resume(paused.id, APPROVER)
        last = await service.executions.wait(paused.id, OWNER, 30)
        assert (last.status, len(here.upstream.seen)) == ("paused", 4)


async def test_calls_of_the_tool_that_wait_already_are_approved_by_their_own_digests(here: Place) -> None:
    async with here.service(**WRITES) as service:
        paused = await service.execute(AT_ONCE, caller=OWNER)
        assert len(paused.pending) == 5
        call = paused.pending[0]
        decided = await service.executions.decide([Decision(call.id, call.digest, "approved", "", up_to=3)], APPROVER)
        assert [one.grant for one in decided] == ["", call.id, call.id]
        assert {one.tool for one in decided} == {"up.x.post"}
        digests = {one.id: one.digest for one in paused.pending}
        assert all(one.digest == digests[one.id] for one in decided)
        left = await service.executions.approvals(APPROVER)
        assert sorted(one.tool for one in left) == ["up.x.post", "up.x.put"]


@pytest.mark.parametrize("place", range(4))
async def test_a_call_that_was_approved_is_sent_whatever_its_place_and_the_others_wait(here: Place, place: int) -> None:
    async with here.service(**WRITES) as service:
        paused = await service.execute(FOUR, caller=OWNER)
        call = next(one for one in paused.pending if one.arguments["n"] == place)
        await service.executions.decide([Decision(call.id, call.digest, "approved", by="")], APPROVER)
        await service.executions.resume(paused.id, APPROVER)
        again = await service.executions.wait(paused.id, OWNER, 30)
        assert (again.status, here.upstream.seen) == ("paused", [f"POST /post?n={place}"])
        left = await service.executions.approvals(APPROVER, paused.id)
        assert sorted(one.arguments["n"] for one in left) == sorted({0, 1, 2, 3} - {place})
        decisions = [Decision(one.id, one.digest, "approved", by="") for one in left]
        await service.executions.decide(decisions, APPROVER)
        await service.executions.resume(paused.id, APPROVER)
        ended = await service.executions.wait(paused.id, OWNER, 30)
        assert (ended.status, ended.outcome["value"]) == ("completed", ["0", "1", "2", "3"])
        assert len(here.upstream.seen) == 4


async def test_a_grant_needs_an_approver_who_did_not_start_the_execution_and_an_approval(here: Place) -> None:
    async with here.service(**WRITES) as service:
        paused = await service.execute(ONE_BY_ONE, caller=APPROVER)
        with pytest.raises(ApprovalForbidden, match="a different person must decide"):
            await _granted(service, paused, up_to=9)
        paused = await service.execute(ONE_BY_ONE, caller=OWNER)
        with pytest.raises(ApprovalRefused, match="up_to goes with the verdict approved only"):
            await _granted(service, paused, up_to=2, verdict="rejected")
        assert here.upstream.seen == []


async def test_a_grant_is_for_one_execution(here: Place) -> None:
    async with here.service(**WRITES) as service:
        await _granted(service, await service.execute(ONE_BY_ONE, caller=OWNER), up_to=9)
        other = await service.execute(ONE_BY_ONE, caller=OWNER)
        assert (other.status, len(here.upstream.seen)) == ("paused", 5)


async def test_a_grant_is_for_the_definition_that_the_person_saw(here: Place) -> None:
    async with here.service(**WRITES) as service:
        paused = await service.execute(ONE_BY_ONE, caller=OWNER)
        call = paused.pending[0]
        await service.executions.decide([Decision(call.id, call.digest, "approved", by="", up_to=5)], APPROVER)
    changed = document()
    changed["paths"]["/post"]["post"]["parameters"][0]["description"] = "How much to pay."
    async with here.service(document=changed, **WRITES) as service:
        await service.executions.resume(paused.id, APPROVER)
        assert (await service.executions.wait(paused.id, OWNER, 30)).status == "paused"
        assert here.upstream.seen == []


async def test_another_server_counts_the_uses_of_a_grant_and_a_second_grant_adds_to_it(here: Place) -> None:
    async with here.service(**WRITES) as service:
        paused = await service.execute(ONE_BY_ONE, caller=OWNER)
        await _granted(service, paused, up_to=3)
        assert len(here.upstream.seen) == 3
    async with here.service(**WRITES) as service:
        (call,) = await service.executions.approvals(APPROVER)
        await service.executions.decide([Decision(call.id, call.digest, "approved", by="", up_to=2)], APPROVER)
        await service.executions.resume(paused.id, APPROVER)
        assert (await service.executions.wait(paused.id, OWNER, 30)).status == "completed"
        assert len(here.upstream.seen) == 5
