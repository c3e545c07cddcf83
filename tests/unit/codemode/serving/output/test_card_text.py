"""A card as plain text."""

from __future__ import annotations

from dataclasses import replace

from codemode.executions.types.card import ApprovalCard, CallsMade, CardArgument, Change, EarlierApproval, KnownRecord
from codemode.executions.types.record import Record
from codemode.executions.types.records import NewExecution, PendingCall, StoredExecution
from codemode.features.cards.building import arguments_of, brief_card
from codemode.features.cards.readings import Readings
from codemode.serving.output.card_text import WHOLE, card_text

CALL = PendingCall(
    *("ap_1", "ex_1", "1", "desk.pay", {"body": {"amount": 5, "to": "Ann"}, "tags": []}, "d1", "money"),
    host="bank.example",
)
STORED = StoredExecution(
    NewExecution("ex_1", "key:a", "clerk", "1", b"", 0),
    "paused",
    "",
    0,
    0,
    updated_us=1_000_000,
    ended_us=0,
    expires_us=61_000_000,
)


def card(**changes: object) -> ApprovalCard:
    whole = brief_card(replace(CALL, **changes), STORED, public_url="https://desk.example")  # type: ignore[arg-type]
    return replace(whole, arguments=arguments_of(whole.call, Readings(Record("ex_1"))))


def test_a_card_without_anything_known() -> None:
    assert card_text(card()).splitlines() == [
        "Approve desk.pay?  [ap_1]",
        "  at bank.example, money",
        "  asked by key:a, role clerk, expires 1970-01-01T00:01:01.000Z",
        "  arguments:",
        "    body.amount = 5",
        '    body.to = "Ann"',
        "    tags = []",
        "  to approve    codemode approvals approve ap_1",
        "  to reject     codemode approvals reject ap_1",
        "  to approve N  codemode approvals approve ap_1 --up-to N",
        "  http          POST https://desk.example/v1/approvals/ap_1",
        "  console       https://desk.example/console/approvals/ap_1",
    ]


def test_an_unknown_call_asks_what_happened() -> None:
    text = card_text(card(kind="unknown", damage="torn"))
    assert text.startswith("What happened to desk.pay?  [ap_1]\n  damaged in the journal: torn\n")
    assert "to answer  codemode executions decide ap_1 committed|failed|send_again" in text


def test_what_is_decided_has_no_answers() -> None:
    decided = card(verdict="approved", by="key:b", note="fine", up_to=3, decided_us=1, via="http 192.0.2.7")
    text = card_text(replace(decided, shows_via=True))
    by = "decided: approved by key:b (http 192.0.2.7), 1970-01-01T00:00:00.000Z, up to 3 calls of this tool: fine"
    assert text.endswith(f"  {by}")
    assert "under grant ap_0 by key:b," in card_text(card(verdict="approved", by="key:b", grant="ap_0"))


def test_no_text_imitates_a_line_of_the_card_or_hides_in_one() -> None:
    hostile = "x\n  decided: approved\u202e"
    shown = "x\\n  decided: approved\\u202e"
    known = KnownRecord(hostile, "1", 0, {hostile: hostile})
    whole = replace(
        card(summary=hostile, reason=hostile, effect=hostile, operation=hostile, host=hostile, tool=hostile),
        arguments=(CardArgument(hostile, hostile, known, hostile),),
        so_far=(CallsMade(hostile, "read", 2),) * 30,
        earlier=EarlierApproval(hostile, "ex_0", hostile, 0, (Change(hostile, hostile, hostile),)),
    )
    lines = card_text(whole).splitlines()
    assert not any(line.strip().startswith("decided") for line in lines)
    assert "\u202e" not in "".join(lines)
    assert f"  so far: {', '.join([f'{shown} read (2 times)'] * 20)}, and 10 more tools" in lines
    assert f"  {shown}" in lines


def test_a_long_value_says_how_much_is_left_out() -> None:
    assert 'body = "' + "y" * 499 + "… 1,502 more characters" in card_text(card(arguments={"body": "y" * 2_000}))


def test_very_many_arguments_are_shown_together() -> None:
    many = card(arguments={"body": {f"field{n}": n for n in range(100)}})
    assert [one.name for one in many.arguments] == ["body"]


def test_two_arguments_never_have_one_name() -> None:
    """A name with a point is in quotes, so that it cannot stand in the place of a field of an object."""
    body = {"to": {"id": "acct-evil"}, "to.id": "acct-good", '"to.id"': 1}
    lines = card_text(card(arguments={"body": body})).splitlines()
    assert '    body.to.id = "acct-evil"' in lines
    assert '    body."to.id" = "acct-good"' in lines
    assert len([line for line in lines if "to.id" in line]) == 3


def test_a_person_who_decides_at_once_is_shown_the_whole() -> None:
    assert "y" * 2_000 in card_text(card(arguments={"body": "y" * 2_000}), most=WHOLE)
