"""Transactions for plans. See `transactions` for the form."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from codemode.executions.journal.sql import rows
from codemode.executions.journal.sql.statements import Statement, Transaction, now_us
from codemode.executions.types.plan import Plan
from codemode.executions.types.plan_errors import PlanNotFound, PlanRefused
from codemode.executions.types.planned import PlannedCall
from codemode.executions.types.records import readable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codemode.executions.journal.seals import Seals
    from codemode.executions.types.plan import PlanVerdict

#: Plans of one key that are kept. Older ones are removed when it makes a new one.
PER_OWNER = 100

_SECOND_US = 1_000_000
_COLUMNS = "id, project, owner, created_us, content, seal, verdict, answer, decided_us, verdict_seal, execution"


def save(seals: Seals, plan: Plan, expire_us: int) -> Transaction[Plan]:
    """See `PlanTable.save`."""
    now = yield from now_us()
    fixed = (plan.id, seals.project, plan.owner, now, rows.encode(plan.content()))
    yield Statement(
        f"INSERT INTO plans ({_COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, '', '{{}}', 0, NULL, '')",
        (*fixed, seals.seal(b"plan", *fixed)),
    )
    yield Statement(
        "DELETE FROM plans WHERE project = $1 AND owner = $2 AND (created_us, id) <= (SELECT created_us, id FROM plans"
        " WHERE project = $1 AND owner = $2 ORDER BY created_us DESC, id DESC LIMIT 1 OFFSET $3)",
        (seals.project, plan.owner, PER_OWNER),
    )
    return (yield from get(seals, plan.id, expire_us))


def get(seals: Seals, plan: str, expire_us: int) -> Transaction[Plan]:
    """See `PlanTable.get`."""
    found = yield Statement(f"SELECT {_COLUMNS} FROM plans WHERE id = $1 AND project = $2", (plan, seals.project))
    if not found:
        raise PlanNotFound(plan)
    return _plan(found[0], seals, expire_us)


def list_plans(seals: Seals, owner: str, limit: int, expire_us: int) -> Transaction[tuple[Plan, ...]]:
    """See `PlanTable.list`. An empty string means every owner."""
    found = yield Statement(
        f"SELECT {_COLUMNS} FROM plans WHERE project = $1 AND ($2 = '' OR owner = $2)"
        " ORDER BY created_us DESC, id DESC LIMIT $3",
        (seals.project, owner, limit),
    )
    return tuple(_plan(row, seals, expire_us) for row in found)


def decide(seals: Seals, plan: Plan, verdict: PlanVerdict, by: str, note: str, expire_us: int) -> Transaction[Plan]:
    """See `PlanTable.decide`."""
    now = yield from now_us()
    answer = rows.encode({"by": by, "note": note})
    decided = yield Statement(
        "UPDATE plans SET verdict = $1, answer = $2, decided_us = $3, verdict_seal = $4"
        " WHERE id = $5 AND project = $6 AND verdict = '' AND created_us > $7 RETURNING id",
        (
            *(verdict, answer, now, seals.seal(b"plan verdict", plan.id, verdict, answer, now)),
            *(plan.id, seals.project, now - expire_us),
        ),
    )
    if not decided:
        message = f"the decision on {plan.id} was rejected: it was already answered, or has expired"
        raise PlanRefused(message)
    return (yield from get(seals, plan.id, expire_us))


def use(project: str, plan: str, execution: str, decided_after_us: int) -> Transaction[None]:
    """Record the execution that runs under an approved plan. Among concurrent ones, one succeeds.

    Raises PlanRefused, also for a plan that was not decided after this time.
    """
    used = yield Statement(
        "UPDATE plans SET execution = $1 WHERE id = $2 AND project = $3 AND verdict = 'approved' AND execution = ''"
        " AND decided_us > $4 RETURNING id",
        (execution, plan, project, decided_after_us),
    )
    if not used:
        message = f"{plan} was already used, has expired, or is not approved; make another dry run for a new plan"
        raise PlanRefused(message)


def remove_old(project: str, age_s: float) -> Transaction[None]:
    """Remove plans that were made more than `age_s` seconds ago."""
    now = yield from now_us()
    yield Statement(
        "DELETE FROM plans WHERE project = $1 AND created_us < $2", (project, now - int(age_s * _SECOND_US))
    )


def _plan(row: Sequence[Any], seals: Seals, expire_us: int) -> Plan:
    """Parse a row. Raises JournalDamaged."""
    plan, _, owner, created_us, content, seal, verdict, answer, decided_us, verdict_seal, execution = row
    with readable("the plan", plan):
        seals.require(seal, b"plan", *row[:5])
        if verdict:
            seals.require(verdict_seal, b"plan verdict", plan, verdict, answer, decided_us)
        fixed = json.loads(content)
        return Plan(
            id=plan,
            owner=owner,
            role=fixed["role"],
            code=fixed["code"],
            calls=tuple(PlannedCall(**call) for call in fixed["calls"]),
            reads=tuple(PlannedCall(**call) for call in fixed["reads"]),
            digest=fixed["digest"],
            environment=fixed["environment"],
            inputs=fixed["inputs"],
            created_us=created_us,
            verdict=verdict,
            decided_us=decided_us,
            execution=execution,
            expires_us=max(created_us, decided_us) + expire_us,
            **json.loads(answer),
        )
