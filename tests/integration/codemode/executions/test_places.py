"""Executions whose calls would now go elsewhere, or under other credentials."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from codemode.errors import ExecutionChanged
from codemode.executions.types.records import Decision
from codemode.features.rollback.rollback import Rollbacks
from codemode.serving.executions import continue_after_decision
from tests.integration.codemode.executions.upstream import APPROVER, OWNER, Place, Upstream, place
from tests.unit.codemode.transports.sockets import listening

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from codemode.service import CodeMode


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[Place]:
    async with place(tmp_path) as made:
        yield made


@pytest.fixture
async def elsewhere() -> AsyncIterator[tuple[Upstream, int]]:
    upstream = Upstream()
    async with listening(upstream.answer) as port:
        yield upstream, port


async def approve(service: CodeMode) -> dict[str, Any]:
    (asked,) = await service.executions.approvals(APPROVER)
    await service.executions.decide([Decision(asked.id, asked.digest, "approved", "")], APPROVER)
    return await continue_after_decision(service, asked.execution, APPROVER)


async def test_an_approved_call_waits_until_its_place_is_the_one_that_was_shown(
    here: Place, elsewhere: tuple[Upstream, int]
) -> None:
    other, port = elsewhere
    async with here.service() as service:
        paused = await service.execute("up.x.drop(n=1)", caller=OWNER)
        assert paused.pending[0].host == f"127.0.0.1:{here.port}"
    async with here.service(source={"base_url": f"http://127.0.0.1:{port}/v1"}) as service:
        after = await approve(service)
        assert after["status"] == "paused"
        said = f"the address of up was http://127.0.0.1:{here.port} and is now http://127.0.0.1:{port}/v1"
        assert said in after["reason"]
        with pytest.raises(ExecutionChanged, match="nothing was run"):
            await service.executions.resume(paused.id, OWNER)
    assert other.seen == here.upstream.seen == []
    async with here.service() as service:
        await service.executions.resume(paused.id, OWNER)
        assert (await service.executions.wait(paused.id, OWNER, 60)).status == "completed"
    assert here.upstream.seen == ["DELETE /drop?n=1"]


async def test_a_decided_execution_that_cannot_continue_says_why_and_continues_once_the_policy_is_back(
    here: Place,
) -> None:
    async with here.service() as service:
        paused = await service.execute("up.x.drop(n=1)", caller=OWNER)
    changed = {"default": {"destructive": "ask", "write": "deny"}, "approvers": ["approver"]}
    async with here.service(policy=changed) as service:
        after = await approve(service)
        assert after["status"] == "paused"
        assert "the policy has changed. The decision is recorded: undo the change" in after["reason"]
        assert f"`codemode executions cancel {paused.id}`" in after["reason"]
        stored = await service.executions.get(paused.id, OWNER)
        assert (stored.status, stored.outcome["pending"], stored.outcome["notes"]) == ("paused", [], [after["reason"]])
        assert (await continue_after_decision(service, paused.id, APPROVER)) == after
        assert (await service.executions.get(paused.id, OWNER)).outcome["notes"] == [after["reason"]]
    assert here.upstream.seen == []
    async with here.service() as service:
        await service.executions.resume(paused.id, OWNER)
        assert (await service.executions.wait(paused.id, OWNER, 60)).status == "completed"
    assert here.upstream.seen == ["DELETE /drop?n=1"]


async def test_another_reference_is_another_place_and_another_value_is_not(
    here: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKEN_A", "one")
    monkeypatch.setenv("TOKEN_B", "one")

    def bearer(name: str) -> dict[str, Any]:
        return {"credentials": [{"kind": "bearer", "token": {"env": name}, "scheme": "*"}]}

    async with here.service(source=bearer("TOKEN_A")) as service:
        paused = await service.execute("up.x.drop(n=1)", caller=OWNER)
    async with here.service(source=bearer("TOKEN_B")) as service:
        after = await approve(service)
        assert "was bearer (token from the environment variable TOKEN_A) and is now bearer" in after["reason"]
    monkeypatch.setenv("TOKEN_A", "two")
    async with here.service(source=bearer("TOKEN_A")) as service:
        await service.executions.resume(paused.id, OWNER)
        assert (await service.executions.wait(paused.id, OWNER, 60)).status == "completed"
    assert here.upstream.seen == ["DELETE /drop?n=1"]


async def test_repair_and_rollback_stay_where_the_execution_was(here: Place, elsewhere: tuple[Upstream, int]) -> None:
    other, port = elsewhere
    revert = {"revert": {"x.post": "x.put(n=arguments.n)"}}
    async with here.service(source=revert) as service:
        failed = await service.execute("up.x.post(n=1)\nmissing", caller=OWNER)
        assert failed.status in ("failed", "refused")
        done = await service.execute("up.x.post(n=2)", caller=OWNER)
        assert done.ok
    before = list(here.upstream.seen)
    async with here.service(source={**revert, "base_url": f"http://127.0.0.1:{port}"}) as service:
        with pytest.raises(ExecutionChanged, match="the address of up was"):
            await service.execute("up.x.post(n=1)\nup.x.post(n=3)", caller=OWNER, resume_from=failed.id)
        with pytest.raises(ExecutionChanged, match="the address of up was"):
            await service.part(Rollbacks).start(done.id, OWNER)
    assert other.seen == []
    assert here.upstream.seen == before


async def test_what_was_left_running_is_paused_where_its_place_has_changed(
    here: Place, elsewhere: tuple[Upstream, int]
) -> None:
    other, port = elsewhere
    async with here.service() as service:
        paused = await service.execute("up.x.drop(n=1)", caller=OWNER)
        (asked,) = await service.executions.approvals(APPROVER)
        await service.executions.decide([Decision(asked.id, asked.digest, "approved", "")], APPROVER)
        await service.executions._journal.claim(paused.id)  # and its server dies
    async with here.service(source={"base_url": f"http://127.0.0.1:{port}"}) as service:
        assert await service.executions.recover() == (paused.id,)
        stored = await service.executions.get(paused.id, OWNER)
        assert stored.status == "paused"
        assert f"and is now http://127.0.0.1:{port}" in stored.outcome["notes"][0]
    assert other.seen == here.upstream.seen == []


async def test_a_source_that_is_reloaded_elsewhere_is_another_place(
    here: Place, elsewhere: tuple[Upstream, int]
) -> None:
    other, port = elsewhere
    async with here.service() as service:
        await service.execute("up.x.drop(n=1)", caller=OWNER)
        await service.reload(here.settings(source={"base_url": f"http://127.0.0.1:{port}"}))
        assert (await approve(service))["status"] == "paused"
    assert other.seen == here.upstream.seen == []
