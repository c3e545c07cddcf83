"""Plans in a journal, on both stores: made, decided once, used once, removed, and protected against edits."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from codemode.errors import JournalDamaged
from codemode.executions.journal.checking import check
from codemode.executions.journal.sql import plans
from codemode.executions.types.ids import new_plan
from codemode.executions.types.plan import PLAN, Plan
from codemode.executions.types.plan_errors import PlanNotFound, PlanRefused
from codemode.executions.types.planned import PlannedCall
from codemode.executions.types.records import Retention
from codemode.features.plans.table import PlanTable
from tests.integration.codemode.executions.journal.conftest import new
from tests.integration.codemode.executions.journal.edits import edited

if TYPE_CHECKING:
    from tests.integration.codemode.executions.journal.conftest import Store

CALL = PlannedCall("1", "a.b #1", "a.b", "write", "host", {"n": 1}, "ask", "rule 1", "d1", "d2")


def made(owner: str = "key-1", **fields: Any) -> Plan:
    return Plan(new_plan(), owner, "default", "a.b(n=1)", (CALL,), (), "digest", {"version": "1"}, **fields)


async def test_a_plan_is_kept_with_the_decision_on_it(store: Store) -> None:
    journal = await store.server()
    first, second = await PlanTable(journal).save(made()), await PlanTable(journal).save(made("key-2"))
    assert first.created_us <= second.created_us
    assert await PlanTable(journal).get(first.id) == first
    assert await PlanTable(journal).list("", 10) == (second, first)
    assert await PlanTable(journal).list("key-1", 10) == (first,)
    decided = await PlanTable(journal).decide(first, "approved", "ann", "as agreed")
    assert (decided.verdict, decided.by, decided.note) == ("approved", "ann", "as agreed")
    assert decided.decided_us >= first.created_us
    assert await PlanTable(await store.server()).get(first.id) == decided
    with pytest.raises(PlanRefused, match="already answered"):
        await PlanTable(journal).decide(first, "rejected", "bob", "")
    with pytest.raises(PlanNotFound):
        await PlanTable(journal).get(new_plan())


async def test_among_concurrent_executions_one_uses_the_plan(store: Store) -> None:
    journals = [await store.server(), await store.server()]
    plan = await PlanTable(journals[0]).save(made())

    async def use(number: int) -> object:
        execution = new(f"ex_{number}", settings={PLAN: plan.approved()})
        try:
            await journals[number % 2].create(execution)
        except PlanRefused as error:
            return error
        return execution.id

    assert isinstance(await use(0), PlanRefused), "nobody has approved it"
    await PlanTable(journals[0]).decide(plan, "approved", "ann", "")
    ids = [one for one in await asyncio.gather(*map(use, range(6))) if isinstance(one, str)]
    assert len(ids) == 1
    assert (await PlanTable(journals[1]).get(plan.id)).execution == ids[0]
    assert [stored.request.id for stored in await journals[0].list()] == ids


async def test_old_plans_and_all_but_the_newest_of_a_key_are_removed(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plans, "PER_OWNER", 2)
    journal = await store.server()
    other = await PlanTable(journal).save(made("key-2"))
    kept = [await PlanTable(journal).save(made()) for _ in range(4)][2:]
    assert await PlanTable(journal).list("", 10) == (*reversed(kept), other)
    await journal.prune(Retention(age_s=3600, count=10))
    assert len(await PlanTable(journal).list("", 10)) == 3
    await journal.prune(Retention(age_s=-60, count=10))
    assert await PlanTable(journal).list("", 10) == ()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE plans SET content = replace(content, 'a.b(n=1)', 'a.b(n=2)')",
        "UPDATE plans SET owner = 'key-2'",
        "UPDATE plans SET answer = replace(answer, 'ann', 'eve')",
        "UPDATE plans SET decided_us = decided_us + 1",
        "UPDATE plans SET verdict = 'rejected'",
    ],
)
async def test_a_plan_edited_by_hand_is_damaged(store: Store, statement: str) -> None:
    journal = await store.server()
    plan = await PlanTable(journal).save(made())
    await PlanTable(journal).decide(plan, "approved", "ann", "")
    async with edited(journal) as edit:
        await edit(statement)
    with pytest.raises(JournalDamaged, match="its seal does not match"):
        await PlanTable(journal).get(plan.id)
    assert list((await check(journal)).damaged) == [plan.id]
