"""The tools of a model: what it is offered, and what its calls answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import codemode
from codemode import Caller, CodeMode
from codemode.errors import ConfigurationError, WrongArgument
from codemode.model.tools import CallOptions
from codemode.settings import Settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

CLERK = Caller("clerk")
MANAGER = Caller("mia", "approver")
KEYED = CallOptions(key="key")
ASKS = {"rules": [{"tools": "shop.refund", "decision": "ask"}]}


@codemode.tool(effect="write")
def refund(order: int) -> int:
    """Refund an order."""
    return order


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[CodeMode]:
    settings = Settings.model_validate({"state_folder": tmp_path, "policy": ASKS, "pins": ["shop.refund"]})
    async with CodeMode.from_settings(settings, functions={"shop": [refund]}) as opened:
        yield opened


async def test_the_pins_are_offered_and_called(service: CodeMode) -> None:
    tools = service.tools(CLERK)
    assert [one["function"]["name"] for one in await tools.definitions()] == ["search", "execute", "shop-refund"]
    answer = await tools.call("shop-refund", {"order": 7})
    assert answer.outcome is not None
    assert answer.outcome.status == "paused"


@pytest.mark.parametrize("arguments", [{"order": "7"}, '{"order": "7"}', {"order": 7, "sessionId": "s"}])
async def test_the_arguments_of_a_pin_are_read_as_they_were_meant(service: CodeMode, arguments: Any) -> None:
    answer = await service.tools(CLERK).call("shop-refund", arguments)
    assert answer.outcome is not None
    assert [call.arguments for call in answer.outcome.pending] == [{"order": 7}]


@pytest.mark.parametrize("order", ["seven", "7a", "true", "[7]", 7.5])
async def test_a_wrong_argument_of_a_pin_is_answered_with_a_call(service: CodeMode, order: Any) -> None:
    answer = await service.tools(CLERK).call("shop-refund", {"order": order})
    assert answer.text.endswith('. Call shop-refund({"order": "…"})')
    assert ".. " not in answer.text


@pytest.mark.feature
async def test_programs_of_a_conversation_share_state(service: CodeMode) -> None:
    tools = service.tools(CLERK, "chat")
    await tools.call("execute", {"code": "store('n', 1)\n'first'"})
    assert (await tools.call("execute", {"code": "[load('n'), last]"})).text == '[1, "first"]'
    assert not (await service.tools(CLERK).call("execute", {"code": "last"})).ok


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("search", {"querys": "x"}, "valid: queries"),
        ("execute", {}, "give code"),
        ("execute", {"code": "", "resume_from": "ex_0"}, "ex_0"),
        ("refund", {}, "there is no tool 'refund'"),
    ],
)
async def test_mistakes_of_the_model_are_answered(
    service: CodeMode, name: str, arguments: dict[str, Any], said: str
) -> None:
    answer = await service.tools().call(name, arguments)
    assert not answer.ok
    assert said in answer.text


async def test_a_repeated_call_does_not_run_again(service: CodeMode) -> None:
    tools = service.tools(CLERK)
    first = await tools.call("execute", {"code": "shop.refund(order=1)"}, options=KEYED)
    again = await tools.call("execute", {"code": "shop.refund(order=1)"}, options=KEYED)
    assert first.outcome is not None
    assert again.outcome is not None
    assert again.outcome.id == first.outcome.id
    other = await tools.call("execute", {"code": "2"}, options=KEYED)
    assert not other.ok
    assert first.outcome.id in other.text


async def test_verdicts_of_another_form_are_rejected(service: CodeMode) -> None:
    tools = service.tools(CLERK, approver=MANAGER)
    paused = await tools.call("execute", {"code": "shop.refund(order=1)"})
    assert paused.outcome is not None
    (call,) = await tools.pending(paused.execution)
    for verdicts in ({call.id: "yes"}, True):
        with pytest.raises(WrongArgument, match=r"\{approval id: True or False\}"):
            await tools.decide(paused.outcome.id, verdicts)  # type: ignore[arg-type]
    assert [one.id for one in await tools.pending(paused.execution)] == [call.id]


async def test_a_call_that_another_approver_decided_goes_on(service: CodeMode) -> None:
    tools = service.tools(CLERK, approver=MANAGER)
    paused = await tools.call("execute", {"code": "shop.refund(order=1)"})
    assert paused.outcome is not None
    (call,) = await tools.pending(paused.execution)
    await service.executions.decide(
        [codemode.Decision(call.id, call.digest, "approved", "ben")], Caller("ben", "approver")
    )
    answer = await tools.decide(paused.outcome.id, {call.id: False})
    assert answer.text == "1"


@pytest.mark.parametrize(
    ("approver", "said"),
    [
        (Caller("ben"), "the role .* is not in policy.approvers"),
        (Caller("clerk", "approver"), "clerk is the caller too"),
    ],
)
def test_an_approver_who_may_not_decide_is_rejected_at_once(approver: Caller, said: str) -> None:
    service = CodeMode(Settings.model_validate({"journal": {"enabled": True}}))
    with pytest.raises(ConfigurationError, match=said):
        service.tools(CLERK, approver=approver)


def test_an_approver_needs_the_journal() -> None:
    with pytest.raises(ConfigurationError, match="pauses need the journal"):
        CodeMode.from_functions(shop=[refund]).tools(CLERK, approver=MANAGER)
