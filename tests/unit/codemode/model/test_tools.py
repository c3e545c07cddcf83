"""The tools of a model: what it is offered, and what its calls answer."""

from __future__ import annotations

import json
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

    from codemode.settings import ModeName

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


LONG = "word " * 3_000


def report() -> dict[str, Any]:
    """Return a report."""
    return {"rows": [{"id": number, "text": "x" * 40} for number in range(500)], "text": LONG}


@pytest.fixture
async def reports(tmp_path: Path) -> AsyncIterator[CodeMode]:
    settings = Settings.model_validate({"state_folder": tmp_path})
    async with CodeMode.from_settings(settings, functions={"shop": [report, refund]}) as opened:
        yield opened


@pytest.mark.parametrize("mode", ["native", "menu"])
async def test_a_model_without_programs_loads_the_rest_of_a_cut_result(reports: CodeMode, mode: ModeName) -> None:
    tools = reports.tools(CLERK, mode=mode)
    before = (await tools.offer()).names
    assert "load_result" not in before
    cut = await tools.call("shop-report", {})
    assert cut.changes_offer
    assert f"load_result(handle='h_{cut.execution.removeprefix('ex_')}', path=…, start=…)" in cut.text
    assert set((await tools.offer()).names) - set(before) == {"load_result"}
    handle = cut.data["whole"]
    last = await tools.call("load_result", {"handle": handle, "path": "rows", "start": "499"})
    assert last.text == json.dumps([{"id": 499, "text": "x" * 40}])
    assert not last.changes_offer
    assert (await tools.call("load_result", {"handle": handle, "path": "rows[7].id"})).text == "7"
    ids = await tools.call("load_result", {"handle": handle, "path": "rows[].id", "start": 497})
    assert ids.text == "[497, 498, 499]"
    rest = await tools.call("load_result", {"handle": handle, "path": "text", "start": 14_990})
    assert rest.text == '"word word "'


async def test_what_load_result_cannot_load_is_answered(reports: CodeMode) -> None:
    tools = reports.tools(CLERK, mode="native")
    cut = await tools.call("shop-report", {})
    handle = cut.data["whole"]
    wrong = await tools.call("load_result", {"handle": handle, "path": "rows[x"})
    assert "path: expected names and places, such as items[3].text" in wrong.text
    assert "valid: handle, path, start" in (await tools.call("load_result", {"handel": handle})).text
    assert "'lines'" in (await tools.call("load_result", {"handle": handle, "path": "lines"})).text
    of_other = await reports.tools(MANAGER, mode="native").call("load_result", {"handle": handle})
    assert not of_other.ok
    assert handle in of_other.text


async def test_a_model_with_programs_is_not_offered_load_result(reports: CodeMode) -> None:
    tools = reports.tools(CLERK)
    cut = await tools.call("execute", {"code": "shop.report()"})
    assert "load(" in cut.text
    assert (await tools.offer()).names == ("search", "execute")
