"""The part of the budgets: it gives each run its stage, and says what was spent."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Self

from codemode.features.budgets.spending import Spending, Spent
from codemode.features.budgets.stage import Budget, BudgetStage
from codemode.features.feature import FeaturePart

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from codemode.executions.run.stage import Staging
    from codemode.features.feature import Core
    from codemode.gateway.caller import Caller
    from codemode.settings import Settings
    from codemode.settings.budgets import BudgetSettings
    from codemode.shared.values import ValueStore


class Budgets(FeaturePart):
    """The budgets of one service, as of the last reload."""

    def __init__(self, current: Callable[[], Settings], store: ValueStore) -> None:
        self._current = current
        self._spending = Spending(store)
        self._settings: tuple[BudgetSettings, ...] = ()
        self._budgets: tuple[Budget, ...] = ()

    @classmethod
    def of(cls, core: Core) -> Self:
        """See `FeaturePart`."""
        return cls(core.current, core.store)

    def stage(self, staging: Staging) -> BudgetStage | None:
        """See `FeaturePart`."""
        budgets = self._compiled()
        return BudgetStage(staging, budgets, self._spending) if budgets else None

    async def spent(self, caller: Caller | None = None) -> list[dict[str, Any]]:
        """Return what was spent today, by budget and holder; for a `caller`, of its own budgets alone.

        Raises what `SharedValue` raises, and ValueError for a damaged value.
        """
        lines = []
        for budget in self._compiled():
            if caller is not None and budget.settings.roles and caller.role not in budget.settings.roles:
                continue
            today = await asyncio.to_thread(self._spending.today, budget.settings)
            own = None if caller is None else budget.holder(caller)
            lines += self._lines(budget, today if own is None else {own: today.get(own, Spent())})
        return lines

    def _lines(self, budget: Budget, today: Mapping[str, Spent]) -> list[dict[str, Any]]:
        limits = {"most_calls": budget.settings.calls, "most": budget.settings.most}
        own = {"budget": budget.settings.name, "per": budget.settings.per, **limits, "resets": self._spending.resets}
        return [
            {**own, "holder": holder, "calls": spent.calls, "amount": float(spent.amount)}
            for holder, spent in sorted((today or {"": Spent()}).items())
        ]

    def _compiled(self) -> tuple[Budget, ...]:
        settings = self._current().budgets
        if settings != self._settings:
            self._settings, self._budgets = settings, tuple(map(Budget, settings))
        return self._budgets
