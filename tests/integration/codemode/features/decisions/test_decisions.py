"""Remembered decisions: an approval also covers the same call later, within bounds."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from codemode import CodeMode
from codemode.errors import ApprovalRefused
from codemode.executions.types.records import Decision
from codemode.features.decisions.decisions import DecisionNotFound, RememberedDecisions
from codemode.features.decisions.memory import MOST_OF_OWNER
from codemode.gateway.caller import Caller
from codemode.serving.application.app import create_app
from codemode.serving.auth.callers import Callers
from codemode.serving.auth.keys import KeyFile
from codemode.settings import Settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from codemode.executions.types.outcome import ExecutionOutcome

ANN, BOB, GRACE = Caller("key:ann"), Caller("key:bob"), Caller("key:grace", "approver")
ASK: dict[str, Any] = {"rules": [{"tools": "bank.pay", "decision": "ask"}]}
PAY = "bank.pay(to='rent', amount=10)"


class Bank:
    def __init__(self) -> None:
        self.paid: list[Any] = []

    def pay(self, to: str, amount: int) -> str:
        """Pay somebody."""
        self.paid.append((to, amount))
        return "paid"


def refund(to: str, amount: int) -> str:
    """Refund somebody."""
    raise AssertionError(to, amount)


@asynccontextmanager
async def served(
    folder: Path, pay: Callable[..., str], policy: dict[str, Any] | None = None, **more: Any
) -> AsyncIterator[CodeMode]:
    settings = Settings.model_validate(
        {"name": "bank", "state_folder": str(folder / "state"), "policy": policy or ASK, **more}
    )
    async with CodeMode.from_settings(settings, functions={"bank": [pay]}) as service:
        yield service


async def run(service: CodeMode, code: str = PAY, caller: Caller = ANN, conversation: str = "a") -> ExecutionOutcome:
    return await service.execute(f"{code}\n1", caller=caller, conversation=conversation)


async def remember(service: CodeMode, scope: Any, outcome: ExecutionOutcome | None = None) -> ExecutionOutcome:
    """Approve the call of a program, and have it remembered."""
    outcome = outcome or await run(service)
    (pending,) = outcome.pending
    decision = Decision(pending.id, pending.digest, "approved", by="", note="each month", remember=scope)
    await service.executions.decide([decision], GRACE)
    await service.executions.resume(outcome.id, GRACE)
    await service.executions.wait(outcome.id, ANN, 30)
    return outcome


async def test_the_same_call_is_approved_again_in_the_conversation(tmp_path: Path) -> None:
    bank = Bank()
    async with served(tmp_path, bank.pay) as service:
        await remember(service, "conversation")
        again = await run(service)
        assert again.status == "completed"
        (one,) = await service.part(RememberedDecisions).list(GRACE)
        assert again.calls[0].rule == f"rule 1, approved by key:grace, remembered as {one.id}"
        assert (one.tool, one.owner, one.arguments) == ("bank.pay", "key:ann", {"to": "rent", "amount": 10})
        assert round(one.expires - one.at) == 24 * 3600
        assert (await run(service, conversation="b")).status == "paused", "another conversation"
        assert len(bank.paid) == 2


async def test_an_hour_reaches_all_conversations_of_the_key_and_no_further(tmp_path: Path) -> None:
    bank = Bank()
    async with served(tmp_path, bank.pay) as service:
        await remember(service, "hour")
        for conversation in ("a", "b", ""):
            assert (await run(service, conversation=conversation)).status == "completed"
        (one,) = await service.part(RememberedDecisions).list(GRACE)
        assert round(one.expires - one.at) == 3600
        service.part(RememberedDecisions)._memory.clock = lambda: one.expires
        assert (await run(service)).status == "paused", "it is over"


async def test_other_arguments_keys_and_roles_ask_a_person(tmp_path: Path) -> None:
    bank = Bank()
    async with served(tmp_path, bank.pay, {**ASK, "roles": ["support"]}) as service:
        await remember(service, "hour")
        for code in ("bank.pay(to='rent', amount=11)", "bank.pay(to='Rent', amount=10)"):
            assert (await run(service, code)).status == "paused", code
        assert (await run(service, caller=BOB)).status == "paused"
        assert (await run(service, caller=Caller("key:ann", "support"))).status == "paused"
        assert (await run(service, "bank.pay(amount=10, to='rent')")).status == "completed", "the same arguments"


async def test_a_denial_is_absolute(tmp_path: Path) -> None:
    bank = Bank()
    async with served(tmp_path, bank.pay) as service:
        await remember(service, "hour")
    deny = {"rules": [{"tools": "bank.pay", "where": {"to": "rent"}, "decision": "deny", "reason": "frozen"}]}
    async with served(tmp_path, bank.pay, deny) as service:
        outcome = await run(service)
        assert outcome.calls[0].state == "denied"
        assert "frozen" in str(outcome.failure)
    async with served(tmp_path, bank.pay) as service:
        outcome = await run(service, caller=Caller("key:ann", read_only=True))
        assert outcome.calls[0].state == "denied"
    assert len(bank.paid) == 1


async def test_a_tool_that_has_changed_or_got_the_name_of_another_asks_a_person(tmp_path: Path) -> None:
    bank = Bank()
    async with served(tmp_path, bank.pay) as service:
        await remember(service, "hour")

    def pay(to: str, amount: int, day: str = "") -> str:
        """Pay somebody on a day."""
        raise AssertionError(to, amount, day)

    async with served(tmp_path, pay) as service:
        assert (await run(service)).status == "paused"
    async with served(tmp_path, bank.pay) as service:
        assert (await run(service, f"# again\n{PAY}")).status == "completed", "after a restart, the same tool"


async def test_a_revoked_decision_covers_nothing_any_more(tmp_path: Path) -> None:
    bank = Bank()
    audit = tmp_path / "audit.jsonl"
    async with served(tmp_path, bank.pay, observe={"audit_file": str(audit)}) as service:
        await remember(service, "hour")
        part = service.part(RememberedDecisions)
        (one,) = await part.list(ANN)
        assert await part.list(BOB) == ()
        with pytest.raises(DecisionNotFound, match=f"no remembered decision '{one.id}' in force"):
            await part.revoke(one.id, BOB)
        assert (await part.revoke(one.id, ANN)).status(part.now()) == "revoked by key:ann"
        with pytest.raises(DecisionNotFound):
            await part.revoke(one.id, GRACE)
        assert (await run(service)).status == "paused"
    lines = [json.loads(line) for line in audit.read_text(encoding="utf-8").splitlines()]
    about = [(line["event"], line["by"], line["caller"]) for line in lines if line.get("decision") == one.id]
    assert about == [("remembered", "key:grace", "key:ann"), ("revoked", "key:ann", "key:ann")]


async def test_what_cannot_be_remembered_is_not_decided(tmp_path: Path) -> None:
    bank = Bank()
    async with served(tmp_path, bank.pay) as service:
        outcome = await run(service, conversation="")
        (pending,) = outcome.pending
        wrong = Decision(pending.id, pending.digest, "rejected", by="", remember="hour")
        for decision, problem in (
            (Decision(pending.id, pending.digest, "approved", by="", remember="conversation"), "is of no conversation"),
            (wrong, "remember goes with the verdict approved only"),
        ):
            with pytest.raises(ApprovalRefused, match=problem):
                await service.executions.decide([decision], GRACE)
        assert [call.id for call in await service.executions.approvals(GRACE)] == [pending.id]
    async with served(tmp_path, bank.pay, approvals={"remember": False}) as service:
        decision = Decision(pending.id, pending.digest, "approved", by="", remember="hour")
        with pytest.raises(ApprovalRefused, match=r"`approvals\.remember` is false"):
            await service.executions.decide([decision], GRACE)


async def test_decisions_are_bounded_in_number(tmp_path: Path) -> None:
    bank = Bank()
    async with served(tmp_path, bank.pay) as service:
        outcome = await remember(service, "hour")
        file = tmp_path / "state" / "decisions.json"
        (one,) = json.loads(file.read_text(encoding="utf-8"))
        many = [{**one, "id": f"rd_{number}", "digest": str(number)} for number in range(MOST_OF_OWNER)]
        file.write_text(json.dumps(many), encoding="utf-8")
        outcome = await run(service)
        with pytest.raises(ApprovalRefused, match="50 decisions are remembered for key:ann already"):
            await remember(service, "hour", outcome)


async def test_a_damaged_record_approves_nothing(tmp_path: Path) -> None:
    bank = Bank()
    async with served(tmp_path, bank.pay) as service:
        await remember(service, "hour")
        (tmp_path / "state" / "decisions.json").write_text('[{"id": "rd_1"}]', encoding="utf-8")
        assert (await run(service)).status == "paused"


async def test_it_is_made_listed_and_revoked_over_http(tmp_path: Path) -> None:
    bank = Bank()
    async with served(tmp_path, bank.pay) as service:
        keys = {name: Caller(f"key:{name}", role) for name, role in (("ann", "default"), ("grace", "approver"))}
        app = create_app(service, Callers(keys, KeyFile(tmp_path / "keys.json")))
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://bank.example") as client:
            ann, grace = ({"Authorization": f"Bearer {name}"} for name in keys)
            body = {"code": f"{PAY}\n1", "conversation": "a"}
            paused = (await client.post("/v1/execute", json=body, headers=ann)).json()
            (pending,) = paused["pending"]
            decision = {"digest": pending["digest"], "verdict": "approved", "remember": "hour"}
            path = f"/v1/approvals/{pending['id']}"
            assert (await client.post(path, json=decision | {"remember": "ever"}, headers=grace)).status_code == 422
            assert (await client.post(path, json=decision, headers=grace)).status_code == 200
            await service.executions.wait(paused["id"], GRACE, 30)
            (one,) = (await client.get("/v1/decisions", headers=ann)).json()["decisions"]
            assert (one["tool"], one["reaches"], one["status"]) == ("bank.pay", "all of the key", "in force")
            assert (await client.post("/v1/execute", json=body, headers=ann)).json()["status"] == "completed"
            page = await client.get("/console/decisions", headers=grace)
            assert "bank.pay" in page.text
            ended = await client.delete(f"/v1/decisions/{one['id']}", headers=grace)
            assert ended.json()["status"] == "revoked by key:grace"
            again = await client.delete(f"/v1/decisions/{one['id']}", headers=grace)
            assert (again.status_code, again.json()["code"]) == (404, "decision_not_found")
            assert (await client.post("/v1/execute", json=body, headers=ann)).json()["status"] == "paused"
