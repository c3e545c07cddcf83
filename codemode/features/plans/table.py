"""The plans in a journal. `create` of the journal marks the plan of an execution as used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codemode.executions.journal.sql import plans

if TYPE_CHECKING:
    from codemode.executions.journal.base import Journal
    from codemode.executions.types.plan import Plan, PlanVerdict


class PlanTable:
    """Reads and writes plans. All methods raise JournalUnavailable."""

    def __init__(self, journal: Journal) -> None:
        self._tables = journal.tables

    async def save(self, plan: Plan) -> Plan:
        """Record a new plan and return it with its time. Each owner's newest 100 plans are kept."""
        return await self._tables.write(plans.save(self._tables.seals, plan, self._tables.expire_us))

    async def get(self, plan: str) -> Plan:
        """Return a plan. Raises PlanNotFound, JournalDamaged."""
        return await self._tables.read(plans.get(self._tables.seals, plan, self._tables.expire_us))

    async def list(self, owner: str, limit: int) -> tuple[Plan, ...]:
        """Return the plans of an owner, newest first; of all owners if `owner` is empty. Raises JournalDamaged."""
        return await self._tables.read(plans.list_plans(self._tables.seals, owner, limit, self._tables.expire_us))

    async def decide(self, plan: Plan, verdict: PlanVerdict, by: str, note: str) -> Plan:
        """Record a decision on a plan and return the plan. Raises PlanRefused if it was already decided."""
        tables = self._tables
        return await tables.write(plans.decide(tables.seals, plan, verdict, by, note, tables.expire_us))
