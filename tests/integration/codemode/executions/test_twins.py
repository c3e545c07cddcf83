"""The same program again while its approval waits, and the same call in two programs."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from codemode.errors import ApprovalRefused, ProgramWaiting
from codemode.executions.life.programs import Request
from codemode.executions.types.records import Decision
from codemode.features.cards.desk import Cards
from codemode.serving.output.card_text import card_text
from tests.integration.codemode.executions.upstream import APPROVER, OTHER, OWNER, Place, place

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from codemode.service import CodeMode

WRITES: dict[str, Any] = {"policy": {"default": {"write": "ask"}}}
PAY = "up.x.get(n=0)\nup.x.post(n=7)['n']"


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[tuple[CodeMode, Place]]:
    async with place(tmp_path) as here, here.service(**WRITES) as entered:
        yield entered, here


async def _approve(cm: CodeMode, *calls: Any) -> None:
    await cm.executions.decide([Decision(one.id, one.digest, "approved", by="") for one in calls], APPROVER)


async def test_the_program_that_waits_is_joined_and_the_model_is_told_to_continue_it(
    service: tuple[CodeMode, Place],
) -> None:
    cm, here = service
    first = await cm.execute(PAY, caller=OWNER)
    again = await cm.execute(PAY, caller=OWNER)
    assert (again.id, again.status) == (first.id, "paused")
    assert [call.id for call in again.pending] == [call.id for call in first.pending]
    assert f"this program already waits for a person, as {first.id}" in again.notes[-1]
    assert f"continue it with resume_from='{first.id}'" in again.notes[-1]
    assert here.upstream.seen == ["GET /get?n=0"], "nothing was run again"
    with pytest.raises(ProgramWaiting):
        await cm.executions.start(Request(PAY), OWNER)
    (call,) = await cm.executions.approvals(APPROVER)
    await _approve(cm, call)
    await cm.executions.resume(first.id, OWNER)
    ended = await cm.executions.wait(first.id, OWNER, 30)
    assert (ended.status, here.upstream.seen.count("POST /post?n=7")) == ("completed", 1)
    assert (await cm.execute(PAY, caller=OWNER)).id != first.id, "it waits no more"


@pytest.mark.parametrize("difference", ["owner", "role", "inputs", "conversation", "key", "credentials"])
async def test_a_request_that_differs_is_another_one(service: tuple[CodeMode, Place], difference: str) -> None:
    cm, _ = service
    options: dict[str, dict[str, Any]] = {
        "owner": {"caller": OTHER},
        "role": {"caller": replace(OWNER, role="support")},
        "inputs": {"inputs": {"a": 1}},
        "conversation": {"conversation": "chat-1"},
        "key": {"idempotency_key": "k1"},
        "credentials": {"credentials": {"a": "b"}},
    }
    first = await cm.execute(PAY, caller=OWNER)
    assert (await cm.execute(PAY, **({"caller": OWNER} | options[difference]))).id != first.id


async def test_the_same_call_of_another_program_is_named_on_both_cards(service: tuple[CodeMode, Place]) -> None:
    cm, _ = service
    paused = [await cm.execute(code, caller=OWNER) for code in (PAY, f"{PAY}\n# again")]
    ids = [one.pending[0].id for one in paused]
    for mine, other in (ids, reversed(ids)):
        card = await cm.part(Cards).show(mine, APPROVER)
        assert card.to_json()["twins"] == [other]
        assert f"! the same call also waits as {other}: approving both makes it twice" in card_text(card)
    await _approve(cm, paused[0].pending[0])
    later = await cm.part(Cards).show(ids[1], APPROVER)
    assert (later.twins, later.earlier and later.earlier.changes) == ((), ())


async def test_two_approvals_of_programs_that_were_sent_at_once_pay_once(service: tuple[CodeMode, Place]) -> None:
    cm, here = service
    hold = here.upstream.hold("/get")
    sent = [asyncio.create_task(cm.execute(PAY, caller=OWNER)) for _ in range(2)]
    await here.upstream.wait_for(2)
    hold.set()
    one, other = [(await each).pending[0] for each in sent]
    assert one.execution != other.execution
    await _approve(cm, one)
    with pytest.raises(ApprovalRefused, match=f"the same call of the same program was approved as {one.id}"):
        await _approve(cm, other)
