"""What was spent of each budget today, in the store that all servers share."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from codemode.text.times import rfc3339

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from codemode.settings.budgets import BudgetSettings
    from codemode.shared.values import SharedValue, ValueStore

_DAY_S = 24 * 3600

#: Calls of one holder that may wait for a person, and are counted already.
_MOST_WAITING = 1000


@dataclass(frozen=True, slots=True)
class Spent:
    """What one holder of a budget has spent today. `waiting` are the calls that wait for a person, which count."""

    calls: int = 0
    amount: Decimal = Decimal(0)
    waiting: tuple[str, ...] = field(default=(), repr=False)

    def more(self, amount: Decimal, calls: int = 1) -> Spent:
        """Return this with further calls."""
        return replace(self, calls=self.calls + calls, amount=self.amount + amount)


class Overdrawn(Exception):
    """The budget is used up. The message says how much was spent, of how much, and when it begins anew."""


class Spending:
    """Counts calls against budgets. A `clock` returns seconds since 1970.

    All methods wait for the store, and raise what `SharedValue` raises, and ValueError for a damaged value.
    """

    def __init__(self, store: ValueStore, clock: Callable[[], float] = time.time) -> None:
        self._store = store
        self._clock = clock

    def take(self, budget: BudgetSettings, holder: str, call: str, amount: Decimal, *, waits: bool) -> None:
        """Count a call of a holder. Raises Overdrawn, and nothing is counted.

        A call that `waits` for a person is counted once, however often its execution continues, and not again when it
        is sent.
        """

        def counted(before: Spent) -> Spent:
            if call in before.waiting:
                return before if waits else replace(before, waiting=_without(call, before.waiting))
            after = before.more(amount)
            self._check(budget, before, after, amount)
            if not waits:
                return after
            if len(after.waiting) >= _MOST_WAITING:
                message = f"{_MOST_WAITING} calls wait for a person already"
                raise Overdrawn(message)
            return replace(after, waiting=(*after.waiting, call))

        self._change(budget, holder, counted)

    def give_back(self, budget: BudgetSettings, holder: str, call: str, amount: Decimal) -> None:
        """Take back what `take` has counted for a call that is not sent."""
        self._change(
            budget,
            holder,
            lambda spent: replace(spent.more(-amount, -1), waiting=_without(call, spent.waiting)),
        )

    def today(self, budget: BudgetSettings) -> Mapping[str, Spent]:
        """Return what was spent today, by holder."""
        return self._read(self._value(budget).read())

    @property
    def resets(self) -> str:
        """When the budgets of today begin anew (RFC 3339)."""
        return rfc3339((self._day() + 1) * _DAY_S * 1_000_000)

    def _check(self, budget: BudgetSettings, before: Spent, after: Spent, amount: Decimal) -> None:
        if budget.calls is not None and after.calls > budget.calls:
            message = f"{before.calls} of {budget.calls} calls were made today; it begins anew at {self.resets}"
            raise Overdrawn(message)
        if budget.most is not None and after.amount > Decimal(str(budget.most)):
            message = (
                f"{before.amount} of {budget.most:g} were spent today, and this call is about {amount}; it begins anew "
                f"at {self.resets}"
            )
            raise Overdrawn(message)

    def _change(self, budget: BudgetSettings, holder: str, function: Callable[[Spent], Spent]) -> None:
        def changed(data: bytes | None) -> bytes:
            spent = {**self._read(data)}
            spent[holder] = function(spent.get(holder, Spent()))
            whole = {who: [one.calls, str(one.amount), *one.waiting] for who, one in spent.items()}
            return json.dumps({"day": self._day(), "spent": whole}).encode()

        self._value(budget).change(changed)

    def _read(self, data: bytes | None) -> Mapping[str, Spent]:
        stored: Any = json.loads(data) if data is not None else {}
        if not isinstance(stored, dict):
            raise ValueError("the record of budgets is damaged")
        if stored.get("day") != self._day():
            return {}
        return {
            who: Spent(calls, Decimal(amount), tuple(waiting))
            for who, (calls, amount, *waiting) in stored["spent"].items()
        }

    def _day(self) -> int:
        return int(self._clock() // _DAY_S)

    def _value(self, budget: BudgetSettings) -> SharedValue:
        return self._store.value("budgets", budget.name)


def _without(call: str, waiting: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(one for one in waiting if one != call)
