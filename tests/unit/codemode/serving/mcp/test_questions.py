"""Pending calls as forms, and the answers to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from mcp_types import ElicitationCapability, ElicitResult, FormElicitationCapability, UrlElicitationCapability

from codemode.executions.types.card import ApprovalCard, Requester
from codemode.executions.types.records import PendingCall
from codemode.serving.mcp.in_client import Round, can_show
from codemode.serving.mcp.questions import decision, question
from codemode.serving.output.card_text import WHOLE, card_text

if TYPE_CHECKING:
    from codemode.executions.types.records import QuestionKind

CALL = PendingCall("ap_1", "ex_1", "1", "bank.pay", {"to": "x" * 500}, "d1", "money leaves", host="bank.example")
LINK = {"mode": "url", "message": "Log in\u202e", "url": "https://login.example"}
ASKING = PendingCall("ap_2", "ex_1", "2", "bank.pay", {}, "d2", "", kind="input", asks=LINK)


def _card(call: PendingCall) -> ApprovalCard:
    return ApprovalCard(call, Requester("key-1", "Ada", "default"), 0, {})


def test_a_form_shows_the_card_and_has_no_default() -> None:
    params: Any = question(_card(CALL)).params
    assert params.message == card_text(_card(CALL), with_answers=False, most=WHOLE)
    assert "bank.pay" in params.message
    assert "default" not in str(params.requested_schema)


def test_a_link_of_a_service_is_shown_to_clients_that_open_links() -> None:
    params: Any = question(_card(ASKING)).params
    assert (params.message, params.url) == ("bank.pay asks: Log in\\u202e", "https://login.example")
    forms = ElicitationCapability(form=FormElicitationCapability())
    links = ElicitationCapability(url=UrlElicitationCapability())
    assert [can_show(each, ASKING) for each in (ElicitationCapability(), forms, links)] == [False, False, True]
    assert [can_show(each, CALL) for each in (ElicitationCapability(), forms, links)] == [True, True, False]


@pytest.mark.parametrize(
    ("kind", "answer", "verdict"),
    [
        ("approval", ElicitResult(action="accept", content={"decision": "approve"}), "approved"),
        ("approval", ElicitResult(action="accept", content={"decision": "reject"}), "rejected"),
        ("approval", ElicitResult(action="accept", content={"decision": ["approve"]}), None),
        ("approval", ElicitResult(action="accept"), None),
        ("approval", ElicitResult(action="decline"), "rejected"),
        ("approval", ElicitResult(action="cancel", content={"decision": "approve"}), None),
        ("input", ElicitResult(action="accept", content={"project": "roof"}), "answered"),
        ("input", ElicitResult(action="decline"), "declined"),
        ("input", ElicitResult(action="cancel"), None),
    ],
)
def test_an_answer_is_a_verdict_or_none(kind: QuestionKind, answer: ElicitResult, verdict: str | None) -> None:
    decided = decision(kind, "ap_1", "d1", answer, "ann")
    assert (decided and decided.verdict) == verdict
    assert decided is None or (decided.id, decided.digest, decided.by) == ("ap_1", "d1", "ann")


def test_a_round_survives_its_state() -> None:
    asked = Round("ex_1", {"ap_1": ("approval", "d1")}, frozenset({"ap_2"}))
    assert Round.of(asked.state()) == asked
