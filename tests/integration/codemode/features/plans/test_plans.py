"""Programs that run under the approved list of their dry run, against Python functions that count their calls."""

from __future__ import annotations

import asyncio
from textwrap import dedent
from typing import TYPE_CHECKING, Any

import pytest
from typing_extensions import TypedDict  # pydantic needs it before Python 3.12

from codemode import CodeMode, tool
from codemode.errors import ApprovalForbidden, ExecutionWaiting, RequestRepeated, WrongArgument
from codemode.executions.types.plan_errors import PlanNotFound, PlanRefused
from codemode.executions.types.records import Decision
from codemode.features.cards.desk import Cards
from codemode.features.plans.plans import Plans
from codemode.serving.output.card_text import card_text
from codemode.settings import Settings
from tests.integration.codemode.executions.upstream import APPROVER, OTHER, OWNER

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from codemode.executions.types.outcome import ExecutionOutcome
    from tests.conftest import Gym


class Invoice(TypedDict):
    """An invoice."""

    id: int
    amount: int


class Shop:
    """A shop whose prices can change, and the calls that it received."""

    def __init__(self) -> None:
        self.price = 200
        self.calls: list[str] = []

    @tool(effect="read")
    def get_price(self) -> int:
        """Return the price."""
        return self.price

    @tool(effect="read")
    def get_invoice(self, id: int) -> Invoice:  # noqa: A002
        """Return an invoice."""
        return {"id": id, "amount": self.price}

    @tool(effect="write")
    def bill(self, client: str, amount: int) -> Invoice:
        """Make an invoice."""
        self.calls.append(f"bill {client} {amount}")
        return {"id": 100 + len(self.calls), "amount": amount}

    @tool(effect="destructive")
    def send(self, invoice: int, password: str = "") -> str:
        """Send an invoice."""
        self.calls.append(f"send {invoice} {password}".rstrip())
        return "sent"


PROGRAM = dedent("""
    for client in ["Ann", "Bob"]:
        invoice = shop.bill(client=client, amount=shop.get_price())
        shop.send(invoice=shop.get_invoice(id=invoice["id"])["id"])
""")


@pytest.fixture
def shop() -> Shop:
    return Shop()


def opened(tmp_path: Path, shop: Shop, **sections: Any) -> CodeMode:
    folders = {"state_folder": tmp_path / "state", "cache_folder": tmp_path / "cache"}
    settings = Settings.model_validate({**folders, "journal": {"enabled": True}, **sections})
    functions = {"shop": [shop.get_price, shop.get_invoice, shop.bill, shop.send]}
    return CodeMode.from_settings(settings, functions=functions)


@pytest.fixture
async def service(shop: Shop, tmp_path: Path) -> AsyncIterator[CodeMode]:
    async with opened(tmp_path, shop) as service:
        yield service


async def planned(service: CodeMode, code: str = PROGRAM, *, approve: bool = True) -> str:
    """Return the id of the plan of a dry run."""
    outcome = await service.execute(code, dry_run=True, caller=OWNER)
    assert outcome.ok, outcome.failure
    if approve:
        plans = service.part(Plans)
        found = await plans.get(outcome.plan, APPROVER)
        await plans.decide(outcome.plan, found.digest, "approved", APPROVER, note="as agreed")
    return outcome.plan


async def approved(service: CodeMode, outcome: ExecutionOutcome) -> ExecutionOutcome:
    """Approve the pending calls of an execution, and return its next outcome."""
    pending = await service.executions.approvals(APPROVER, outcome.id)
    decisions = [Decision(call.id, call.digest, "approved", "") for call in pending]
    await service.executions.decide(decisions, APPROVER)
    await service.executions.resume(outcome.id, OWNER)
    stored = await service.executions.wait(outcome.id, OWNER, 60)
    return type(outcome).from_json({**stored.outcome, "status": stored.status})


async def test_the_list_of_a_dry_run_is_approved_as_a_whole_and_then_runs(service: CodeMode, shop: Shop) -> None:
    plan = await planned(service)
    assert shop.calls == []
    outcome = await service.execute("", plan=plan, caller=OWNER)
    assert outcome.ok, outcome.failure
    assert shop.calls == ["bill Ann 200", "send 101", "bill Bob 200", "send 103"]
    assert outcome.plan == plan
    assert {call.rule for call in outcome.calls if call.tool == "shop.send"} == {
        f"default for destructive, approved by {APPROVER.id} in {plan}"
    }
    assert {call.rule for call in outcome.calls if call.tool == "shop.bill"} == {
        f"default for write, approved by {APPROVER.id} in {plan}"
    }
    used = await service.part(Plans).get(plan, OWNER)
    assert (used.execution, used.by, used.note) == (outcome.id, APPROVER.id, "as agreed")


async def test_a_write_that_differs_waits_for_a_person_who_sees_the_difference(service: CodeMode, shop: Shop) -> None:
    plan = await planned(service)
    shop.price = 250
    outcome = await service.execute(PROGRAM, plan=plan, caller=OWNER)
    assert (outcome.status, shop.calls) == ("paused", [])
    assert [(call.tool, call.reason, call.planned) for call in outcome.pending] == [
        ("shop.bill", "not in the plan: it differs in amount", {"amount": 200})
    ]
    card = card_text(await service.part(Cards).show(outcome.pending[0].id, APPROVER))
    assert "    amount = 250\n    ! the plan lists amount = 200" in card
    shop.price = 200
    outcome = await approved(service, outcome)
    assert shop.calls == ["bill Ann 250"]
    assert [(call.reason, call.planned) for call in outcome.pending] == [
        ("not in the plan: it differs in invoice", {"invoice": "<id of shop.get_invoice #1>"})
    ]
    outcome = await approved(service, outcome)
    assert (outcome.status, shop.calls) == ("completed", ["bill Ann 250", "send 101", "bill Bob 200", "send 103"])


async def test_concurrent_calls_may_come_in_another_order(service: CodeMode, shop: Shop) -> None:
    code = """
    import asyncio
    async def pay(client, pause):
        await asyncio.sleep(pause)
        invoice = await shop.bill(client=client, amount=1)
        await shop.send(invoice=invoice["id"])
    await asyncio.gather(pay("Ann", shop.get_price() / 4000), pay("Bob", 0))
    """
    shop.price = 0
    plan = await planned(service, dedent(code))
    shop.price = 200
    outcome = await service.execute("", plan=plan, caller=OWNER)
    assert outcome.ok, (outcome.failure, outcome.pending)
    assert shop.calls == ["bill Bob 1", "send 101", "bill Ann 1", "send 103"]


async def test_a_denial_of_the_policy_stays_a_denial(tmp_path: Path, shop: Shop) -> None:
    async with opened(tmp_path, shop) as service:
        plan = await planned(service)
    deny = {"rules": [{"tools": "shop.send", "where": {"invoice": 101}, "decision": "deny"}]}
    async with opened(tmp_path, shop, policy=deny) as service:
        outcome = await service.execute("", plan=plan, caller=OWNER)
    assert outcome.status == "failed"
    assert shop.calls == ["bill Ann 200"]
    assert [str(call.state) for call in outcome.calls if call.tool == "shop.send"] == ["denied"]


async def test_secrets_are_bound_by_their_digest_and_shown_nowhere(service: CodeMode, shop: Shop) -> None:
    code = "shop.send(invoice=1, password=f'sesame {shop.get_price()}')"
    first, second = await planned(service, code), await planned(service, code)
    (call,) = (await service.part(Plans).get(first, APPROVER)).calls
    assert "sesame" not in str(call.arguments)
    outcome = await service.execute("", plan=first, caller=OWNER)
    assert (outcome.ok, shop.calls) == (True, ["send 1 sesame 200"])
    shop.price = 250
    outcome = await service.execute("", plan=second, caller=OWNER)
    (waiting,) = outcome.pending
    assert waiting.reason == "not in the plan: it differs in password"
    assert str((waiting.planned or {})["password"]).startswith("[secret ")
    assert "sesame" not in str(outcome)


async def test_a_plan_is_used_once(service: CodeMode, shop: Shop) -> None:
    plan = await planned(service)
    both = await asyncio.gather(
        *(service.execute("", plan=plan, caller=OWNER) for _ in range(2)), return_exceptions=True
    )
    assert sorted(type(one).__name__ for one in both) == ["ExecutionOutcome", "PlanRefused"]
    with pytest.raises(PlanRefused, match="it is used by ex_"):
        await service.execute("", plan=plan, caller=OWNER)
    assert len(shop.calls) == 4


async def test_a_plan_needs_an_approver_who_is_not_its_owner(service: CodeMode, shop: Shop) -> None:
    plan = await planned(service, approve=False)
    plans = service.part(Plans)
    digest = (await plans.get(plan, OWNER)).digest
    with pytest.raises(ExecutionWaiting, match=f"{plan} waits for a person"):
        await service.execute("", plan=plan, caller=OWNER)
    with pytest.raises(ApprovalForbidden, match="only the roles approver"):
        await plans.decide(plan, digest, "approved", OWNER)
    with pytest.raises(PlanNotFound):
        await plans.get(plan, OTHER)
    with pytest.raises(PlanRefused, match="another list of calls"):
        await plans.decide(plan, "0" * 64, "approved", APPROVER)
    await plans.decide(plan, digest, "rejected", APPROVER)
    with pytest.raises(PlanRefused, match="the plan is rejected"):
        await plans.decide(plan, digest, "approved", APPROVER)
    with pytest.raises(PlanRefused, match="it is rejected; make another dry run"):
        await service.execute("", plan=plan, caller=OWNER)
    with pytest.raises(PlanNotFound):
        await service.execute("", plan=plan, caller=APPROVER)
    assert shop.calls == []


async def test_an_approver_cannot_approve_a_plan_of_the_same_key(service: CodeMode) -> None:
    outcome = await service.execute(PROGRAM, dry_run=True, caller=APPROVER)
    found = await service.part(Plans).get(outcome.plan, APPROVER)
    with pytest.raises(ApprovalForbidden, match="a different person must decide"):
        await service.part(Plans).decide(outcome.plan, found.digest, "approved", APPROVER)


async def test_a_plan_expires(tmp_path: Path, shop: Shop) -> None:
    async with opened(tmp_path, shop) as service:
        plan = await planned(service)
    async with opened(tmp_path, shop, journal={"enabled": True, "expire_s": 1e-6}) as service:
        with pytest.raises(PlanRefused, match="it is expired"):
            await service.execute("", plan=plan, caller=OWNER)
    assert shop.calls == []


async def test_a_plan_runs_its_own_program_only(service: CodeMode) -> None:
    plan = await planned(service)
    with pytest.raises(PlanRefused, match="the program differs"):
        await service.execute("1", plan=plan, caller=OWNER)
    with pytest.raises(WrongArgument, match="plan and resume_from exclude each other"):
        await service.execute("", plan=plan, resume_from="ex_1", caller=OWNER)
    with pytest.raises(WrongArgument, match="dry_run and plan exclude each other"):
        await service.execute("1", plan=plan, dry_run=True, caller=OWNER)
    with pytest.raises(PlanNotFound, match="there is no plan 'pl_1'"):
        await service.execute("", plan="pl_1", caller=OWNER)


async def test_only_a_completed_dry_run_with_calls_makes_a_plan(tmp_path: Path, shop: Shop) -> None:
    async with opened(tmp_path, shop) as service:
        reads = await service.execute("shop.get_price()", dry_run=True)
        failed = await service.execute("shop.bill(client='Ann', amount=1); 1 / 0", dry_run=True)
    async with opened(tmp_path, shop, journal={"enabled": False}) as service:
        unrecorded = await service.execute("shop.bill(client='Ann', amount=1)", dry_run=True)
    assert [reads.plan, failed.plan, unrecorded.plan] == ["", "", ""]


async def test_a_request_that_is_repeated_under_its_key_names_the_execution(service: CodeMode, shop: Shop) -> None:
    plan = await planned(service)
    outcome = await service.execute("", plan=plan, caller=OWNER, idempotency_key="once")
    with pytest.raises(RequestRepeated) as repeated:
        await service.execute("", plan=plan, caller=OWNER, idempotency_key="once")
    assert repeated.value.execution == outcome.id
    assert len(shop.calls) == 4


async def test_a_list_of_more_than_a_mebibyte_has_no_plan(service: CodeMode) -> None:
    outcome = await service.execute("shop.bill(client='x' * 2**20, amount=1)", dry_run=True)
    assert (outcome.ok, outcome.plan) == (True, "")
    assert any("takes more than 1 MiB" in note for note in outcome.notes)


ENROL = """
person = dict(firstName="Ada", lastName="Approved", email="ada.approved@example.com", birthDate="1990-01-01")
client = gym.clients.create_client(**person, branchId=gym.core.get_branches_info()["items"][0]["id"])
plan = gym.plans.create_plan(name="Approved trial", description="A week", durationDays=7, priceMinor=0)
details = gym.clients.get_client_details(clientId=client["id"])
membership = gym.clients.update_client(clientId=details["id"], email=f"client.{client['id']}@example.com")
client["id"]
"""


async def test_a_plan_against_a_service(gym: Gym) -> None:
    """Every write needs a person, and one approval of the plan is enough."""
    settings = gym.settings(journal={"enabled": True}, policy={"default": {"write": "ask"}})
    async with CodeMode.from_settings(settings) as service:
        plan = await planned(service, ENROL)
        outcome = await service.execute("", plan=plan, caller=OWNER)
    assert outcome.ok, (outcome.failure, outcome.pending)
    assert [call.tool for call in outcome.calls if plan in call.rule] == [
        *("gym.clients.create_client", "gym.plans.create_plan", "gym.clients.update_client")
    ]
