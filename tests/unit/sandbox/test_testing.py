"""The fakes that ship do what the real ones do, as far as whoever uses them can see."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from sandbox import Call, CallFailed, CallSite, Limits, Outcome, ProgramRefused, Refusal, Sandbox, Status
from sandbox.testing import Ending, FakeSandbox, Script, Tools

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with Sandbox(limits=Limits(wall_s=40.0)) as started:
        yield started


async def buying(fruit: str) -> str:
    await asyncio.sleep(0)
    return f"a {fruit}"


async def test_tools_answer_a_real_program_and_record_what_it_asked(sandbox: Sandbox) -> None:
    tools = Tools(
        {
            "shop.price": lambda fruit: {"apple": 30}[fruit],
            "shop.buy": buying,
            "shop.stock": Script(2, 1, 0),
            "bank.pay": CallFailed("no money", kind="denied", status=402),
            "bank.balance": 7,
        }
    )
    code = """
stock = [shop.stock() for _ in range(4)]
try:
    bank.pay(amount=1)
except ToolError as error:
    status = error.status
try:
    shop.steal(fruit="pear")
except ToolError as error:
    missing = error.kind
[shop.price(fruit="apple"), shop.buy(fruit="pear"), stock, status, missing, bank.balance()]
"""

    outcome = await sandbox.run(code, names=tools.names, call=tools)

    assert tools.names == ("bank", "shop")
    assert outcome.value == [30, "a pear", [2, 1, 0, 0], 402, "tool_not_found", 7]
    assert tools.of("shop.price") == [{"fruit": "apple"}]
    assert [call.tool for call in tools.calls][-2:] == ["shop.buy", "bank.balance"]
    assert tools.most_at_once == 1


async def test_calls_that_are_held_wait_together(sandbox: Sandbox) -> None:
    tools = Tools({"shop.price": lambda n: n})
    tools.hold("shop.price")
    code = "import asyncio\nawait asyncio.gather(*[shop.price(n=n) for n in range(3)])"

    running = asyncio.create_task(sandbox.run(code, names=tools.names, call=tools))
    await tools.wait_for(3)
    under_way = tools.under_way
    tools.release("shop.price")
    outcome = await running

    assert (under_way, tools.most_at_once) == (3, 3)
    assert outcome.value == [0, 1, 2]


async def test_a_call_that_is_given_up_is_recorded(sandbox: Sandbox) -> None:
    tools = Tools({"shop.price": 1})
    tools.hold("shop.price")

    running = asyncio.create_task(sandbox.run("shop.price()", names=tools.names, call=tools))
    await tools.wait_for(1)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    assert [call.tool for call in tools.cancelled] == ["shop.price"]


async def test_an_error_of_a_tool_that_is_no_call_failed_is_raised_as_it_is() -> None:
    with pytest.raises(KeyError):
        await Tools({"a.b": KeyError("x")})(Call(1, "1", "a.b", {}))


def test_a_script_without_answers_is_none() -> None:
    with pytest.raises(ValueError, match="needs an answer"):
        Script()


async def test_the_fake_sandbox_records_and_ends_programs_as_it_is_told() -> None:
    tools = Tools({"shop.price": 30})
    ending = Ending(Outcome(Status.COMPLETED, result=30, has_value=True), calls=(("shop.price", {"fruit": "fig"}),))

    async with FakeSandbox(ending, Outcome(Status.TIMED_OUT, limit="wall_s")) as fake:
        first = await fake.run("shop.price(fruit='fig')", names=tools.names, call=tools, inputs={"n": 1})
        second, third = [await fake.run("while True: pass") for _ in range(2)]

    assert first.ok
    assert first.usage.calls == 1
    assert (second.status, third.limit) == (Status.TIMED_OUT, "wall_s")
    assert fake.ran[0].answers == [30]
    assert (fake.ran[0].names, fake.ran[0].inputs) == (("shop",), {"n": 1})
    assert len(fake.ran) == 3
    assert not fake.is_open


@pytest.mark.parametrize("is_fake", [True, False])
async def test_preflight_and_failing_calls_end_a_program_alike(is_fake: bool, sandbox: Sandbox) -> None:
    site = CallSite("shop.price", (), 0, open_ended=False, line=1, column=0)
    done = Ending(Outcome(Status.COMPLETED), calls=(("shop.price", {}),), sites=(site,))
    under_test = FakeSandbox(done) if is_fake else sandbox
    seen: list[tuple[CallSite, ...]] = []

    async def look(sites: tuple[CallSite, ...]) -> None:
        seen.append(sites)

    async def refuse(sites: tuple[CallSite, ...]) -> None:
        raise ProgramRefused([Refusal("call", "no", 1)])

    tools = Tools({"shop.price": CallFailed("sold out", status=409)})
    failed = await under_test.run("shop.price()", names=("shop",), call=tools, preflight=look)
    refused = await under_test.run("shop.price()", names=("shop",), call=tools, preflight=refuse)
    lonely = await under_test.run("shop.price()", names=("shop",))

    assert seen == [(site,)]
    assert (failed.status, failed.failure.type) == (Status.FAILED, "ToolError")
    assert "sold out" in failed.failure.message
    assert (refused.status, refused.failure.refusals[0].message) == (Status.REFUSED, "no")
    assert "was given no tools" in lonely.failure.message
    assert len(tools.calls) == 1


async def test_a_fake_takes_no_arguments_that_a_sandbox_does_not_take() -> None:
    names: Any = "shop"
    fake = FakeSandbox(2)
    with pytest.raises(TypeError, match="names='shop' is one string"):
        await fake.run("1 + 1", names=names)
    assert fake.ran == []
