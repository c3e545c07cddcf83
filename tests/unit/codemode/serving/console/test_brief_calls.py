"""The arguments of a call in a list."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from codemode.executions.types.card import ApprovalCard, Requester
from codemode.executions.types.records import PendingCall
from codemode.serving.console.brief_calls import brief_call, call_groups, filled_operation, twins_among


def call(**arguments: Any) -> PendingCall:
    return PendingCall("ap_1", "ex_1", "1", "bank.pay", arguments, "d", "money")


def test_each_value_is_cut_by_itself_so_that_none_hides_another() -> None:
    brief = brief_call(call(note="x" * 2_100, to="acct-evil", amount=9_000))
    assert brief.arguments[0] == ("note", "x" * 200 + "… 1,900 more characters")
    assert brief.arguments[1:] == (("to", "acct-evil"), ("amount", "9000"))
    assert not brief.is_whole


def test_a_call_that_is_shown_whole_says_so() -> None:
    brief = brief_call(call(to="A\u200bB", parts=[{"n": 1}], when=None))
    assert brief.arguments == (("to", "A\\u200bB"), ("parts", '[{"n": 1}]'), ("when", "null"))
    assert (brief.is_whole, brief.more) == (True, 0)


def test_a_call_that_waits_in_two_executions_is_a_twin() -> None:
    one, same, other = call(to="a"), replace(call(to="a"), id="ap_2", execution="ex_2"), replace(call(), digest="e")
    beside = replace(one, id="ap_3")
    assert twins_among([("ann", one), ("ann", same), ("ann", other)]) == {"ap_1", "ap_2"}
    assert twins_among([("ann", one), ("bob", same), ("ann", beside)]) == frozenset()


def test_a_call_with_many_arguments_or_long_names_is_not_whole() -> None:
    many = brief_call(call(**{f"a{n}": n for n in range(25)}))
    assert (len(many.arguments), many.more, many.is_whole) == (20, 5, False)
    assert not brief_call(call(**{"n" * 81: 1})).is_whole
    assert not brief_call(call(nested={"a": "x" * 300})).is_whole


def test_the_path_of_a_call_is_filled_in() -> None:
    assert filled_operation("POST /salaries/{salaryId}/pay/{x}", {"salaryId": 7}) == "POST /salaries/7/pay/{x}"
    assert filled_operation("GET /{name}", {"name": "\u202eevil"}) == "GET /\\u202eevil"


def test_calls_of_one_tool_by_one_caller_are_a_group_and_say_in_what_they_differ() -> None:
    ada, bob = Requester("a", "Ada", "default"), Requester("b", "Bob", "default")
    first, second = call(to="acct-1", amount=5), call(to="acct-2", amount=5)
    cards = [ApprovalCard(one, who, 0, {}) for one, who in ((first, ada), (first, bob), (second, ada))]
    groups = call_groups(cards)
    assert [[card.call for card in group.cards] for group in groups] == [[first, second], [first]]
    assert [group.differing for group in groups] == [{"to"}, set()]
