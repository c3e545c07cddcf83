"""The stage of the budgets in a run: it counts each call before it is sent, and refuses those that are too many."""

from __future__ import annotations

import asyncio
import logging
import re
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from codemode.catalog.tool import Effect
from codemode.executions.run.stage import Stage
from codemode.features.budgets.spending import Overdrawn
from codemode.gateway.call import CallState
from codemode.gateway.conditions import Condition
from codemode.gateway.policy import Globs
from codemode.shared.values import UNAVAILABLE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codemode.catalog.tool import Tool
    from codemode.executions.run.stage import Staging
    from codemode.executions.types.record import RecordedCall
    from codemode.features.budgets.spending import Spending
    from codemode.gateway.call import JudgedCall
    from codemode.gateway.caller import Caller
    from codemode.settings.budgets import BudgetSettings

log = logging.getLogger(__name__)

_NUMBER = re.compile(r"-?\d{1,15}(\.\d{1,9})?", re.ASCII)


class Budget:
    """One budget, compiled."""

    def __init__(self, settings: BudgetSettings) -> None:
        self.settings = settings
        self.label = f"budget {settings.name}"
        self._tools = Globs(settings.tools)
        self._amount = Condition(settings.amount, ()) if settings.amount is not None else None

    def concerns(self, tool: Tool, role: str) -> bool:
        """Return whether calls of the tool count."""
        own = self.settings
        is_of_effect = not own.effects or tool.effect in own.effects
        return is_of_effect and self._tools.fit(tool.id) and (not own.roles or role in own.roles)

    def holder(self, caller: Caller) -> str:
        """Return whose calls are counted together with those of a caller."""
        return {"caller": caller.id, "role": caller.role, "all": ""}[self.settings.per]

    def whose(self, caller: Caller) -> str:
        """Return the same for a reader who may know nothing of others."""
        of = {"caller": caller.label or "this key", "role": f"the role {caller.role}", "all": "all callers together"}
        return of[self.settings.per]

    def amount(self, tool: Tool, arguments: Mapping[str, Any]) -> Decimal | None:
        """Return what a call is about, None if that is not certain."""
        if self._amount is None:
            return Decimal(0)
        values = self._amount.values(tool, arguments)
        if self._amount.may_be_absent and all(value is None for value in values):
            return Decimal(0)
        numbers = [_number(value) for value in values]
        return sum((one for one in numbers if one is not None), Decimal(0)) if None not in numbers else None


class BudgetStage(Stage):
    """Counts the calls of one run. In a dry run, only reads are sent and count."""

    def __init__(self, staging: Staging, budgets: tuple[Budget, ...], spending: Spending) -> None:
        self._run = staging.run
        self._is_dry = staging.assignment.is_dry
        self._budgets = budgets
        self._spending = spending

    async def decide(self, judged: JudgedCall, recorded: RecordedCall | None) -> JudgedCall:
        """See `codemode.executions.run.stage.Stage`. A call whose start is recorded was counted then."""
        tool, caller = judged.tool, judged.call.caller
        if recorded is not None or tool is None or judged.state not in (CallState.NOT_STARTED, CallState.PENDING):
            return judged
        if self._is_dry and tool.effect is not Effect.READ:
            return judged
        taken: list[tuple[Budget, Decimal]] = []
        for budget in self._budgets:
            if not budget.concerns(tool, caller.role):
                continue
            amount = budget.amount(tool, judged.arguments)
            if amount is None:
                path = budget.settings.amount
                reason = f"`{path}` is no number, so that its amount is not known"
            else:
                reason = await self._take(budget, judged, amount)
            if reason:
                await self._give_back(taken, judged)
                return self._run.amend(judged.denied(budget.label, reason))
            taken.append((budget, amount or Decimal(0)))
        return judged

    async def _take(self, budget: Budget, judged: JudgedCall, amount: Decimal) -> str:
        """Count a call, or return why it is not sent."""
        caller, waits = judged.call.caller, judged.state is CallState.PENDING
        try:
            await asyncio.to_thread(
                self._spending.take, budget.settings, budget.holder(caller), _id(judged), amount, waits=waits
            )
        except Overdrawn as overdrawn:
            return f"for {budget.whose(caller)}, {overdrawn}; the operator may raise `budgets` in the configuration"
        except (*UNAVAILABLE, ValueError) as error:
            log.error("the %s cannot be counted: %s", budget.label, error)
            return "what was spent of it cannot be read now; nothing was sent, try again later"
        return ""

    async def _give_back(self, taken: list[tuple[Budget, Decimal]], judged: JudgedCall) -> None:
        for budget, amount in taken:
            holder = budget.holder(judged.call.caller)
            try:
                await asyncio.to_thread(self._spending.give_back, budget.settings, holder, _id(judged), amount)
            except (*UNAVAILABLE, ValueError) as error:
                log.error("the %s counts a call that was not sent: %s", budget.label, error)


def _id(judged: JudgedCall) -> str:
    return f"{judged.call.execution} {judged.call.path}"


def _number(value: Any) -> Decimal | None:
    """Return the size of an amount. A negative one counts too: a service may read it as the opposite."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    text = repr(value) if isinstance(value, float) else str(value)
    if isinstance(value, float) and "e" in text and value == value:
        text = f"{value:.9f}"
    return abs(Decimal(text)) if _NUMBER.fullmatch(text) else None
