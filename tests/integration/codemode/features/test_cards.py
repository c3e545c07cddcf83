"""Approval cards: ten payments, two of them wrong, told apart by the card alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from codemode import CodeMode, tool
from codemode.errors import ExecutionNotFound
from codemode.executions.types.records import Decision
from codemode.features.cards.desk import Cards
from codemode.gateway.caller import Caller
from codemode.serving.output.card_text import card_text
from codemode.settings import Settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from codemode.executions.types.card import ApprovalCard
    from codemode.executions.types.outcome import ExecutionOutcome

CLERK, BOSS, OTHER = Caller("key:c", label="help desk"), Caller("key:b", "approver"), Caller("key:o")

NAMES = ("Ana", "Ben", "Cho", "Dan", "Eva", "Fay", "Gil", "Hal", "Ida", "Jon")


@tool(effect="read")
def get_due_refunds() -> list[dict[str, Any]]:
    """List the refunds that are due."""
    return [
        {"id": 170 + n, "memberId": 20 + n, "amount": 100.0 + n, "dueOn": "2026-12-01", "status": "due"}
        for n in range(10)
    ]


@tool(effect="read")
def get_members() -> dict[str, Any]:
    """List the members."""
    return {"members": [{"id": 20 + n, "name": name, "apiToken": "hush"} for n, name in enumerate(NAMES)]}


@tool(effect="write")
def pay(refundId: int, memberId: int, amount: float, password: str = "") -> str:  # noqa: N803 -- as services name them
    """Pay a refund to a member.

    The money leaves at once.
    """
    return f"{amount} for {refundId} to {memberId} {password}"


@tool(effect="write")
def file(document: bytes) -> str:
    """File a document."""
    return document.decode()


#: The fourth payment goes to another member, the seventh is of another amount.
PAYMENTS = """
import asyncio
members = desk.get_members()
refunds = desk.get_due_refunds()
def wrong(n, one):
    return {**one, "memberId": 29} if n == 3 else {**one, "amount": 1060.0} if n == 6 else one
await asyncio.gather(*(
    desk.pay(refundId=one["id"], memberId=one["memberId"], amount=one["amount"])
    for one in (wrong(n, one) for n, one in enumerate(refunds))
))
"""


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[CodeMode]:
    settings = Settings.model_validate(
        {
            "state_folder": str(tmp_path),
            "policy": {"rules": [{"name": "money", "tools": "desk.pay", "decision": "ask", "reason": "money leaves"}]},
        }
    )
    async with CodeMode.from_settings(settings, functions={"desk": [get_due_refunds, get_members, pay]}) as entered:
        yield entered


async def _cards(service: CodeMode, paused: ExecutionOutcome) -> dict[int, ApprovalCard]:
    cards = [await service.part(Cards).show(call.id, BOSS) for call in paused.pending]
    return {card.call.arguments["refundId"]: card for card in cards}


async def test_ten_payments_two_of_them_wrong_are_told_apart_by_their_cards(service: CodeMode) -> None:
    paused = await service.execute(PAYMENTS, caller=CLERK)
    cards = await _cards(service, paused)
    assert len(cards) == 10
    suspicious = {
        number: {one.name: one.contrast for one in card.arguments if one.contrast is not None}
        for number, card in cards.items()
        if any(one.contrast is not None for one in card.arguments)
    }
    assert suspicious == {173: {"memberId": 23}, 176: {"amount": 106.0}}
    names = {
        number: next(one.record.fields["name"] for one in card.arguments if one.name == "memberId" and one.record)
        for number, card in cards.items()
    }
    expected = dict(zip(range(170, 180), NAMES, strict=True))
    assert names == {**expected, 173: "Jon"}


async def test_a_card_says_what_is_known_in_plain_text(service: CodeMode) -> None:
    paused = await service.execute(PAYMENTS, caller=CLERK)
    card = (await _cards(service, paused))[176]
    text = card_text(card)
    lines = [line.strip() for line in text.splitlines()]
    assert lines[0] == f"Approve desk.pay?  [{card.call.id}]"
    assert lines[1] == "Pay a refund to a member. The money leaves at once."
    assert "write, money leaves" in lines[2]
    assert lines[3].startswith("asked by help desk (key:c), role default at 20")
    assert ", expires 20" in lines[3]
    at = lines.index("refundId = 176")
    assert lines[at + 1] == 'is: memberId → name "Gil", amount 106.0, dueOn "2026-12-01", status "due"'
    assert lines[at + 2].startswith("read earlier in this execution by desk.get_due_refunds, 20")
    at = lines.index("amount = 1060.0")
    assert lines[at + 1] == "! it is 106.0 in the record that was read"
    assert "so far: desk.get_members read, desk.get_due_refunds read" in lines
    assert f"codemode approvals approve {card.call.id}" in text
    assert f"/console/approvals/{card.call.id}" in text
    assert "hush" not in text


async def test_a_card_compares_with_what_was_approved_before(service: CodeMode) -> None:
    one = "desk.pay(refundId={}, memberId=20, amount=5.0, password='open')"
    first = await service.execute(one.format(170), caller=CLERK)
    call = first.pending[0]
    decision = Decision(call.id, call.digest, "approved", by="", note="agreed", via="http 192.0.2.7")
    await service.executions.decide([decision], BOSS)
    second = await service.execute(one.format(171), caller=CLERK)
    card = await service.part(Cards).show(second.pending[0].id, BOSS)
    assert card.earlier is not None
    assert (card.earlier.id, card.earlier.by) == (call.id, BOSS.id)
    assert [(change.name, change.before, change.now) for change in card.earlier.changes] == [("refundId", 170, 171)]
    assert "refundId: 170 then, 171 now" in card_text(card)
    assert "open" not in str(card.to_json())
    decided = await service.part(Cards).show(call.id, BOSS)
    assert (decided.answers, decided.expires_us, decided.to_json()["via"]) == ({}, 0, "http 192.0.2.7")
    assert f"decided: approved by {BOSS.id} (http 192.0.2.7), 20" in card_text(decided)
    seen_by_owner = await service.part(Cards).show(call.id, CLERK)
    assert "192.0.2.7" not in str(seen_by_owner.to_json()) + card_text(seen_by_owner)


async def test_a_card_exists_for_approvers_and_for_the_owner_only(service: CodeMode) -> None:
    paused = await service.execute(PAYMENTS, caller=CLERK)
    id_ = paused.pending[0].id
    assert (await service.part(Cards).show(id_, CLERK)).call.id == id_
    for approval, caller in ((id_, OTHER), ("ap_0", BOSS)):
        with pytest.raises(ExecutionNotFound, match="there is no approval") as refused:
            await service.part(Cards).show(approval, caller)
        assert refused.value.code == "approval_not_found"
    assert await service.part(Cards).waiting(OTHER) == ()
    waiting = await service.part(Cards).waiting(BOSS, paused.id)
    assert len(waiting) == 10
    assert waiting[0].brief()["requester"] == {"id": "key:c", "label": "help desk", "role": "default"}
    assert str(waiting[0].brief()["expires"]).startswith("20")


async def test_texts_that_hide_or_imitate_are_shown_as_such(service: CodeMode) -> None:
    code = "desk.pay(refundId=1, memberId=2, amount=3.0, password='x')"
    paused = await service.execute(code, caller=Caller("key:e\n  decided: approved\u202e"))
    text = card_text(await service.part(Cards).show(paused.pending[0].id, BOSS))
    assert "asked by key:e\\n  decided: approved\\u202e, role default" in text


async def test_a_card_shows_the_stored_file_and_not_what_the_program_says_of_it(tmp_path: Path) -> None:
    """The policy, the digest of the approval and the plan see the same."""
    rules = [{"name": "files", "tools": "desk.file", "decision": "ask", "reason": "a file leaves"}]
    settings = Settings.model_validate({"state_folder": str(tmp_path), "policy": {"rules": rules}})
    async with CodeMode.from_settings(settings, functions={"desk": [file]}) as service:
        kept = await service.keep_content(b"rm -rf", name="evil.sh", media_type="text/plain", caller=CLERK)
        lie = {"$content": kept["$content"], "name": "contract.pdf", "media_type": "application/pdf"}
        paused = await service.execute("desk.file(document=lie)", inputs={"lie": lie}, caller=CLERK)
        call = paused.pending[0]
        assert call.arguments == {"document": kept}
        card = await service.part(Cards).show(call.id, BOSS)
        assert "evil.sh" in card_text(card)
        assert "contract.pdf" not in card_text(card) + str(card.to_json())
        dry = await service.execute("desk.file(document=lie)", inputs={"lie": lie}, caller=CLERK, dry_run=True)
        assert dry.planned[0].arguments == {"document": kept}
        assert dry.planned[0].digest == call.digest
        await service.executions.decide([Decision(call.id, call.digest, "approved", by="")], BOSS)
        await service.executions.resume(paused.id, CLERK)
        ended = await service.executions.wait(paused.id, CLERK, 30)
        assert (ended.status, ended.outcome["value"]) == ("completed", "rm -rf")


@pytest.mark.parametrize("secret", ["29", "2900", "member-29", "29."])
@pytest.mark.parametrize("dry_run", [False, True])
async def test_a_secret_argument_cannot_hide_another_one(service: CodeMode, secret: str, *, dry_run: bool) -> None:
    """A value that is secret in one argument is removed from the others: a person would not see who is paid."""
    program = f"desk.pay(refundId=1, memberId=2900, amount=5.0, password={secret!r})"
    outcome = await service.execute(program, caller=CLERK, dry_run=dry_run)
    shown = outcome.planned if dry_run else outcome.pending
    if shown:
        assert shown[0].arguments["memberId"] == 2900
    else:
        assert "repeats the value of a secret argument" in str(outcome.failure)
