"""Hooks: their order, what their answers mean, and what a failing plugin cannot do."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from typing import Any

import pytest

from codemode import Approved, CallAnswer, Plugin, PluginCall, Rejected
from codemode.catalog.tool import Effect, Tool
from codemode.errors import AccessDenied, UpstreamError
from codemode.executions.plugins.hooks import NO_HOOKS, Hooks
from codemode.gateway.call import CallState, JudgedCall, ToolCall, ToolOutcome
from codemode.gateway.caller import Caller
from codemode.gateway.policy import Decision, Ruling
from codemode.transports.base import Page

SECRET = "hunter2-in-a-message"


def judged(*, decision: Decision = Decision.ALLOW, low_risk: bool = False) -> JudgedCall:
    tool = Tool("shop.refund", source="shop", effect=Effect.WRITE)
    arguments = {"order": {"id": 7}}
    call = ToolCall("ex_1", "1", "shop.refund", arguments, caller=Caller("key-1", "support"))
    return JudgedCall(call, tool, arguments, Ruling(decision, "rule 2", "money", low_risk))


def committed(value: Any) -> ToolOutcome:
    return ToolOutcome("shop.refund", CallState.COMMITTED, value=value)


class Named(Plugin):
    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name


class Guard(Named):
    """Refuses with a given answer, raises it if it is an exception, and keeps what it saw."""

    def __init__(self, name: str, answer: Any) -> None:
        super().__init__(name)
        self.answer = answer
        self.seen: list[PluginCall] = []

    async def before_call(self, call: PluginCall) -> Any:
        self.seen.append(call)
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer


async def test_a_call_passes_when_no_plugin_objects() -> None:
    call, guard = judged(), Guard("a", None)
    assert await Hooks([guard]).before(call) is call
    assert await NO_HOOKS.before(call) is call
    assert guard.seen == [
        PluginCall("ex_1", "1", "shop.refund", "write", {"order": {"id": 7}}, "key-1", "support", "rule 2", "money")
    ]


async def test_the_first_refusal_decides() -> None:
    last = Guard("c", "not asked")
    refused = await Hooks([Guard("a", None), Guard("b", "the office is closed"), last]).before(judged())
    assert refused.state is CallState.DENIED
    assert isinstance(refused.error, AccessDenied)
    assert str(refused.error) == (
        "shop.refund is not allowed with these arguments by plugin b: the office is closed; nothing was sent"
    )
    assert last.seen == []


@pytest.mark.parametrize("answer", [RuntimeError(SECRET), SystemExit(SECRET), asyncio.CancelledError(SECRET), True, 3])
async def test_a_plugin_that_fails_before_a_call_refuses_it(answer: Any, caplog: pytest.LogCaptureFixture) -> None:
    refused = await Hooks([Guard("a", answer)]).before(judged())
    assert refused.state is CallState.DENIED
    assert "plugin a: the plugin failed" in str(refused.error)
    assert SECRET not in str(refused.error) + caplog.text
    assert "plugin a failed in before_call: " in caplog.text


async def test_a_plugin_cannot_change_the_arguments() -> None:
    class Editor(Named):
        async def before_call(self, call: PluginCall) -> None:
            call.arguments["order"]["id"] = 8

    call, witness = judged(), Guard("witness", None)
    assert (await Hooks([Editor("editor"), witness]).before(call)).arguments == {"order": {"id": 7}}
    assert witness.seen[0].arguments == {"order": {"id": 7}}


class Rewriter(Named):
    """Replaces values by what a function makes of them."""

    def __init__(self, name: str, change: Any) -> None:
        super().__init__(name)
        self.change = change
        self.seen: list[CallAnswer] = []

    async def after_call(self, call: PluginCall, answer: CallAnswer) -> CallAnswer | None:
        self.seen.append(answer)
        return replace(answer, value=self.change(answer.value), state=CallState.FAILED, error="made up")


async def test_answers_are_replaced_in_order_and_states_are_not() -> None:
    notes: list[str] = []
    hooks = Hooks([Rewriter("a", lambda value: [*value, 1]), Rewriter("b", lambda value: {"all": value})])
    assert await hooks.after(judged(), committed([0]), notes.append) == committed({"all": [0, 1]})
    assert notes == []


def _raise(_: Any) -> None:
    raise LookupError(SECRET)


@pytest.mark.parametrize("change", [_raise, lambda _: {1, 2}, lambda _: float("nan")])
async def test_a_failure_after_a_call_is_noted_and_the_answer_stands(
    change: Any, caplog: pytest.LogCaptureFixture
) -> None:
    notes: list[str] = []
    later = Rewriter("later", lambda value: value)
    answer = committed({"total": 5})
    assert await Hooks([Rewriter("a", change), later]).after(judged(), answer, notes.append) is answer
    assert notes == ["plugin a failed after a call of shop.refund, so it did not change the answer"]
    assert [seen.value for seen in later.seen] == [{"total": 5}]
    assert SECRET not in caplog.text
    assert "plugin a failed in after_call: " in caplog.text


async def test_a_failed_call_is_seen_and_gets_no_value() -> None:
    notes: list[str] = []
    plugin = Rewriter("a", lambda _: "a value")
    failed = ToolOutcome("shop.refund", CallState.FAILED, error=UpstreamError("no such order"))
    assert await Hooks([plugin]).after(judged(), failed, notes.append) is failed
    assert plugin.seen == [CallAnswer(CallState.FAILED, None, "no such order")]
    assert len(notes) == 1


@pytest.mark.parametrize(
    ("value", "keys"), [([1, 2], ()), ({"items": [1, 2]}, ("items",)), ({"data": {"rows": [1, 2]}}, ("data", "rows"))]
)
async def test_the_items_of_a_page_follow_its_new_value(value: Any, keys: tuple[str, ...]) -> None:
    items = value
    for key in keys:
        items = items[key]

    def shorter(whole: Any) -> Any:
        if isinstance(whole, list):
            return whole[:1]
        return {key: shorter(part) for key, part in whole.items()}

    page = Page(value, items, {"offset": 2})
    replaced = await Hooks([Rewriter("a", shorter)]).after(judged(), committed(page), pytest.fail)
    assert replaced.value == Page(shorter(value), [1], {"offset": 2})


@pytest.mark.parametrize(
    ("page", "value"),
    [
        (Page({"edges": [{"node": 1}]}, [1], None), {"edges": []}),
        (Page({"items": [1]}, [], None), {"items": []}),
        (Page(value := {"items": [1]}, value["items"], None), {"rows": [1]}),
    ],
)
async def test_a_page_whose_items_are_elsewhere_is_left_alone(page: Page, value: Any) -> None:
    notes: list[str] = []
    answer = committed(page)
    assert await Hooks([Rewriter("a", lambda _: value)]).after(judged(), answer, notes.append) is answer
    assert len(notes) == 1


class Approver(Named):
    def __init__(self, name: str, answer: Any) -> None:
        super().__init__(name)
        self.answer = answer

    async def answer_approval(self, call: PluginCall) -> Any:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.mark.parametrize("low_risk", [True, False])
async def test_a_rejection_always_counts(low_risk: bool) -> None:
    hooks = Hooks([Approver("a", None), Approver("b", Rejected("too late"))])
    asked = judged(decision=Decision.ASK, low_risk=low_risk)
    assert await hooks.approval(asked) == ("plugin b", Rejected("too late"))


async def test_an_approval_counts_for_low_risk_only(caplog: pytest.LogCaptureFixture) -> None:
    hooks = Hooks([Approver("a", Approved())])
    assert await hooks.approval(judged(decision=Decision.ASK, low_risk=True)) == ("plugin a", Approved())
    assert await hooks.approval(judged(decision=Decision.ASK)) is None
    assert "plugin a may not approve shop.refund: its rule is not low_risk" in caplog.text


async def test_an_approval_that_does_not_count_leaves_others_their_say() -> None:
    hooks = Hooks([Approver("a", Approved()), Approver("b", Rejected("no"))])
    assert await hooks.approval(judged(decision=Decision.ASK)) == ("plugin b", Rejected("no"))


@pytest.mark.parametrize("answer", [RuntimeError(SECRET), True, "approved"])
async def test_a_failing_approver_leaves_the_call_to_a_person(answer: Any, caplog: pytest.LogCaptureFixture) -> None:
    assert await Hooks([Approver("a", answer)]).approval(judged(decision=Decision.ASK, low_risk=True)) is None
    assert "plugin a failed in answer_approval" in caplog.text
    assert SECRET not in caplog.text


async def test_plugins_are_closed_backwards_in_spite_of_a_failure(caplog: pytest.LogCaptureFixture) -> None:
    closed: list[str] = []

    class Closing(Guard):
        async def aclose(self) -> None:
            closed.append(self.name)
            if self.name == "b":
                raise OSError(SECRET)

    with caplog.at_level(logging.ERROR):
        await Hooks([Closing("a", None), Closing("b", None)]).aclose()
    assert closed == ["b", "a"]
    assert SECRET not in caplog.text
