"""Budgets: what one caller, one role or all callers may do in a day."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from codemode import CodeMode
from codemode.errors import ConfigurationError
from codemode.executions.types.records import Decision
from codemode.features.budgets.budgets import Budgets
from codemode.features.budgets.spending import Overdrawn, Spending
from codemode.gateway.caller import Caller
from codemode.settings import Settings
from codemode.settings.budgets import BudgetSettings
from codemode.shared.files import FolderStore
from tests.command_line import codemode

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

ANN, BOB = Caller("key:ann", "default", "Ann"), Caller("key:bob", "default", "Bob")
APPROVER = Caller("key:grace", "approver")


class Bank:
    """Functions that record what reached them."""

    def __init__(self) -> None:
        self.paid: list[Any] = []

    def pay(self, amount: Any = None, to: str = "") -> str:
        """Pay an amount."""
        self.paid.append(amount)
        return "paid"

    def balance(self) -> int:
        """Return the balance."""
        return 7


def settings_of(folder: Path, *budgets: dict[str, Any], **more: Any) -> Settings:
    return Settings.model_validate({"state_folder": str(folder / "state"), "budgets": budgets, **more})


@asynccontextmanager
async def served(folder: Path, bank: Bank, *budgets: dict[str, Any], **more: Any) -> AsyncIterator[CodeMode]:
    settings = settings_of(folder, *budgets, **more)
    async with CodeMode.from_settings(settings, functions={"bank": [bank.pay, bank.balance]}) as service:
        yield service


async def test_a_caller_makes_no_more_calls_than_the_budget_of_the_day(tmp_path: Path) -> None:
    bank = Bank()
    async with served(tmp_path, bank, {"name": "payments", "tools": "bank.pay", "calls": 2}) as service:
        assert (await service.execute("bank.pay(amount=1)\nbank.pay(amount=1)\nbank.balance()", caller=ANN)).ok
        outcome = await service.execute("bank.pay(amount=1)", caller=ANN)
        assert outcome.failure is not None
        assert outcome.calls[0].state == "denied"
        resets = service.part(Budgets)._spending.resets
        assert outcome.calls[0].rule == "budget payments"
        assert (
            f"for Ann, 2 of 2 calls were made today; it begins anew at {resets}; the operator may raise `budgets` in "
            "the configuration"
        ) in outcome.failure.message
        assert (await service.execute("bank.pay(amount=1)", caller=BOB)).ok, "everybody has a budget of their own"
        assert len(bank.paid) == 3


async def test_a_role_and_all_callers_share_a_budget(tmp_path: Path) -> None:
    for per, third in (("role", Caller("key:c", "support")), ("all", None)):
        bank = Bank()
        budget = {"name": "payments", "tools": "bank.pay", "calls": 2, "per": per}
        folder = tmp_path / per
        async with served(folder, bank, budget, policy={"roles": ["support"]}) as service:
            for caller in (ANN, BOB):
                assert (await service.execute("bank.pay(amount=1)", caller=caller)).ok
            assert not (await service.execute("bank.pay(amount=1)", caller=ANN)).ok
            if third is not None:
                assert (await service.execute("bank.pay(amount=1)", caller=third)).ok, "another role"


async def test_an_amount_is_summed_up_and_must_be_certain(tmp_path: Path) -> None:
    bank = Bank()
    budget = {"name": "money", "tools": "bank.pay", "amount": "amount", "most": 100}
    async with served(tmp_path, bank, budget) as service:
        for amount in ("60", "'30.5'", "-9.5"):
            assert (await service.execute(f"bank.pay(amount={amount})", caller=ANN)).ok, amount
        outcome = await service.execute("bank.pay(amount=1)", caller=ANN)
        assert outcome.failure is not None
        assert "100.0 of 100 were spent today, and this call is about 1" in outcome.failure.message
        for amount in ("'much'", "True", "None", "{'value': 1}", "float('1e300')"):
            outcome = await service.execute(f"bank.pay(amount={amount})", caller=BOB)
            assert outcome.failure is not None, amount
            assert "`amount` is no number" in outcome.failure.message, amount
        assert len(bank.paid) == 3


async def test_a_call_that_one_budget_refuses_is_given_back_to_the_others(tmp_path: Path) -> None:
    bank = Bank()
    budgets = ({"name": "many", "calls": 3}, {"name": "money", "amount": "amount", "most": 10})
    async with served(tmp_path, bank, *(dict(one, tools="bank.pay") for one in budgets)) as service:
        assert not (await service.execute("bank.pay(amount=11)", caller=ANN)).ok
        program = "for _ in range(3):\n    bank.pay(amount=1)\n"
        assert (await service.execute(program, caller=ANN)).ok
        spent = {one["budget"]: (one["calls"], one["amount"]) for one in await service.part(Budgets).spent(ANN)}
        assert spent == {"many": (3, 0.0), "money": (3, 3.0)}


async def test_calls_side_by_side_do_not_exceed_a_budget(tmp_path: Path) -> None:
    bank = Bank()
    program = (
        "import asyncio\n"
        "async def pay():\n    try:\n        await bank.pay(amount=1)\n    except Exception:\n        pass\n"
        "await asyncio.gather(*(pay() for _ in range(12)))\n1"
    )
    async with served(tmp_path, bank, {"name": "payments", "tools": "bank.pay", "calls": 5}) as service:
        await asyncio.gather(*(service.execute(program, caller=ANN) for _ in range(2)))
        assert len(bank.paid) == 5


async def test_a_call_that_waits_for_a_person_counts_once(tmp_path: Path) -> None:
    bank = Bank()
    rules = {"rules": [{"tools": "bank.pay", "decision": "ask"}]}
    budget = {"name": "payments", "tools": "bank.pay", "calls": 1}
    async with served(tmp_path, bank, budget, policy=rules, journal={"enabled": True}) as service:
        outcome = await service.execute("bank.pay(amount=1)", caller=ANN)
        assert outcome.status == "paused"
        second = await service.execute("bank.pay(amount=2)", caller=ANN)
        assert second.failure is not None, "a call that waits is spent, or two approvals would exceed the budget"
        (pending,) = outcome.pending
        await service.executions.decide([Decision(pending.id, pending.digest, "approved", by="")], APPROVER)
        await service.executions.resume(outcome.id, APPROVER)
        assert (await service.executions.wait(outcome.id, ANN, 30)).status == "completed"
        assert bank.paid == [1]
        assert (await service.part(Budgets).spent(ANN))[0]["calls"] == 1


async def test_a_dry_run_spends_nothing_on_writes(tmp_path: Path) -> None:
    bank = Bank()
    async with served(tmp_path, bank, {"name": "payments", "tools": "bank.pay", "calls": 1}) as service:
        for _ in range(3):
            assert (await service.execute("bank.pay(amount=1)\n1", caller=ANN, dry_run=True)).ok
        assert (await service.part(Budgets).spent(ANN))[0]["calls"] == 0


async def test_an_unreadable_budget_allows_nothing(tmp_path: Path) -> None:
    bank = Bank()
    file = tmp_path / "state" / "budgets" / "payments.budgets.json"
    file.parent.mkdir(parents=True)
    file.write_text("[]", encoding="utf-8")
    async with served(tmp_path, bank, {"name": "payments", "calls": 1}) as service:
        outcome = await service.execute("bank.pay(amount=1)", caller=ANN)
        assert outcome.failure is not None
        assert "what was spent of it cannot be read now" in outcome.failure.message
        assert bank.paid == []


async def test_a_reload_changes_a_budget(tmp_path: Path) -> None:
    bank = Bank()
    async with served(tmp_path, bank, {"name": "payments", "tools": "bank.pay", "calls": 1}) as service:
        assert (await service.execute("bank.pay(amount=1)", caller=ANN)).ok
        assert not (await service.execute("bank.pay(amount=1)", caller=ANN)).ok
        raised = settings_of(tmp_path, {"name": "payments", "tools": "bank.pay", "calls": 2})
        await service.reload(raised)
        assert (await service.execute("bank.pay(amount=1)", caller=ANN)).ok


def test_a_day_begins_with_nothing_spent_and_servers_share_it(tmp_path: Path) -> None:
    now = [1_795_875_000.0]
    budget = BudgetSettings(name="payments", calls=1)
    one, other = (Spending(FolderStore(tmp_path), lambda: now[0]) for _ in range(2))
    assert one.resets == "2026-11-29T00:00:00.000Z"
    one.take(budget, "ann", "exec 1", Decimal(0), waits=False)
    with pytest.raises(Overdrawn, match=r"1 of 1 calls were made today; it begins anew at 2026-11-29T00:00:00.000Z"):
        other.take(budget, "ann", "exec 2", Decimal(0), waits=False)
    now[0] += 24 * 3600
    other.take(budget, "ann", "exec 2", Decimal(0), waits=False)


@pytest.mark.parametrize(
    ("budget", "problem"),
    [
        ({"name": "a"}, "write `calls`, or `amount` and `most`"),
        ({"name": "a", "amount": "amount"}, "`amount` and `most` belong together"),
    ],
)
def test_a_budget_limits_something(budget: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        Settings.model_validate({"budgets": [budget]})


def test_a_budget_is_named_once() -> None:
    with pytest.raises(ValueError, match="the budget 'a' is named twice"):
        Settings.model_validate({"budgets": [{"name": "a", "calls": 1}, {"name": "a", "calls": 2}]})


def test_a_service_without_the_feature_refuses_budgets() -> None:
    with pytest.raises(ConfigurationError, match="`budgets` is configured, and this service was made without"):
        CodeMode(Settings.model_validate({"budgets": [{"name": "a", "calls": 1}]}), features=())


async def test_the_command_shows_what_was_spent(tmp_path: Path) -> None:
    bank = Bank()
    async with served(tmp_path, bank, {"name": "payments", "tools": "bank.pay", "calls": 3}) as service:
        await service.execute("bank.pay(amount=1)", caller=ANN)
    file = tmp_path / "codemode.yaml"
    sources = "sources: {tickets: {location: tickets.json}}"
    budgets = "budgets: [{name: payments, calls: 3}]"
    file.write_text(f"state_folder: {tmp_path / 'state'}\n{sources}\n{budgets}\n", encoding="utf-8")
    answer = await asyncio.to_thread(codemode, "policy", "budgets", "--config", str(file), "--json")
    (line,) = json.loads(answer.stdout)
    assert (line["budget"], line["holder"], line["calls"], line["most_calls"]) == ("payments", "key:ann", 1, 3)
