"""Answers of weak models: calls in the text, mistakes as answers, invented figures, programs that do nothing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from codemode.serving.agent import Ended, ModeChanged, Repaired
from codemode.testing.model_server import ModelRequest, Reply

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from codemode.serving.agent import Agent, AgentResult, Event
    from codemode.testing.model_server import ModelServer
    from tests.integration.codemode.serving.agent.conftest import Shop

    Connect = Callable[..., Awaitable[tuple[Agent, ModelServer]]]


def answers(*says: Reply) -> Callable[[ModelRequest], Reply]:
    """A model that says one thing after the other."""
    given = iter(says)
    return lambda _: next(given)


async def played(agent: Agent, message: str = "go") -> tuple[list[Event], AgentResult]:
    events = [event async for event in agent.run(message)]
    assert isinstance(events[-1], Ended)
    return events, events[-1].result


@pytest.mark.parametrize(
    "text",
    [
        '```json\n{"name": "execute", "arguments": {"code": "shop.find_order(number=3)"}}\n```',
        '```json\n{"name": "execute", "arguments": {"code": """\nshop.find_order(number=3)\n"""}}\n```',
        '<tool_call>\n{"name": "execute", "arguments": {"code": "shop.find_order(number=3)"}}\n</tool_call>',
        '{"name": "execute", "arguments": {"code": "shop.find_order(number=3)"}}',
        '{"name": "shop.find_order", "arguments": {"number": 3}}',
        "I run this:\n```python\norder = shop.find_order(number=3)\nprint(order)\n```",
    ],
)
async def test_a_call_in_the_text_of_a_model_with_function_calling_is_made(
    connect: Connect, shop: Shop, text: str
) -> None:
    agent, server = await connect(answers(Reply(text), Reply("It is 30.")))
    _, result = await played(agent)
    assert (result.status, result.text) == ("completed", "It is 30.")
    assert shop.asked == [3]
    assert [message["role"] for message in server.seen[1].messages] == ["user", "assistant", "tool"]
    assert server.refused == []


async def test_written_calls_have_ids_of_their_own_in_the_history(connect: Connect) -> None:
    texts = [f'{{"name": "shop.find_order", "arguments": {{"number": {number}}}}}' for number in (1, 2)]
    agent, _ = await connect(answers(*map(Reply, texts), Reply("Done.")))
    _, result = await played(agent)
    given = [json.loads(one["content"])["number"] for one in result.messages if one["role"] == "tool"]
    assert given == [1, 2]


async def test_several_programs_in_an_answer_are_asked_for_as_one(connect: Connect, shop: Shop) -> None:
    steps = "\n".join(f"{n}.\n```python\nshop.find_order(number={n})\n```" for n in (1, 2))
    whole = Reply(calls=[("execute", {"code": "shop.find_order(number=1)\nshop.find_order(number=2)"})])
    agent, server = await connect(answers(Reply(steps), whole, Reply(steps)))
    _, result = await played(agent)
    assert server.seen[1].message.startswith("None of your 2 programs has run.")
    assert (result.text, shop.asked) == (steps, [1, 2]), "with results, programs are part of the answer"


async def test_an_example_in_an_answer_is_no_call(connect: Connect) -> None:
    text = 'Send this to your mail service:\n```json\n{"name": "send_mail", "arguments": {"to": "ann"}}\n```'
    agent, server = await connect(lambda _: Reply(text))
    assert (await played(agent))[1].text == text
    assert len(server.seen) == 1


@pytest.mark.parametrize("arguments", ['["order by number"]', '{"question": "order by number"}', "order by number"])
async def test_queries_without_their_name_are_answered_with_the_right_call(connect: Connect, arguments: str) -> None:
    agent, server = await connect(answers(Reply(calls=[("search", arguments)]), Reply("I see.")))
    await played(agent)
    told = server.seen[1].answers[0].text
    assert told.endswith('search takes queries: search({"queries": ["order by number"]})')


async def test_a_repeated_error_is_not_the_answer(connect: Connect, shop: Shop) -> None:
    def script(seen: ModelRequest) -> Reply:
        if len(seen.messages) == 1:
            return Reply(calls=[("search", {})])
        if "not an answer" in seen.message:
            return Reply("Done.") if seen.answers else Reply(calls=[("execute", {"code": "shop.find_order(number=3)"})])
        return Reply(seen.answers[-1].text)

    agent, _ = await connect(script)
    events, result = await played(agent)
    assert result.text == "Done."
    assert shop.asked == [3]
    assert any(isinstance(event, Repaired) and "error of your last call" in event.problem for event in events)


async def test_a_figure_that_no_call_gave_is_asked_for_once(connect: Connect) -> None:
    agent, server = await connect(answers(Reply("There are 18 orders."), Reply("There are 18 orders.")))
    _, result = await played(agent, "How many orders are there?")
    assert (result.status, result.text, result.figures) == ("completed", "There are 18 orders.", ("18",))
    assert "No result contains 18. Make a call for it." in server.seen[1].message


async def test_a_figure_from_a_result_is_the_answer(connect: Connect) -> None:
    agent, server = await connect(
        answers(
            Reply(calls=[("execute", {"code": "shop.find_order(number=7)"})]), Reply("Order 7 comes to 70.00 euro.")
        )
    )
    _, result = await played(agent)
    assert (result.text, result.figures, len(server.seen)) == ("Order 7 comes to 70.00 euro.", (), 2)


async def test_figures_are_not_checked_if_the_settings_say_so(connect: Connect) -> None:
    agent, server = await connect(lambda _: Reply("There are 18 orders."), figures="off")
    assert (await played(agent))[1].figures == ()
    assert len(server.seen) == 1


@pytest.mark.parametrize("others", [30])
@pytest.mark.parametrize("program", ["1 +", "shop.find_orders(number=1)", "1 / 0", "import os\nos.listdir()"])
async def test_a_model_that_writes_no_usable_program_gets_a_menu(connect: Connect, shop: Shop, program: str) -> None:
    def script(seen: ModelRequest) -> Reply:
        if "execute" in seen.tools:
            return Reply(calls=[("execute", {"code": program + "\n" * len(seen.answers)})])
        return Reply("done") if shop.asked else Reply(calls=[("shop-find_order", {"number": 4})])

    agent, server = await connect(script, mode="auto", menu_after=2)
    events, result = await played(agent, "find order 4")
    assert (result.status, result.mode, shop.asked) == ("completed", "menu", [4])
    assert [event for event in events if isinstance(event, ModeChanged)] == [ModeChanged("menu", 2)]
    assert result.to_json()["mode"] == "menu"
    assert ["execute" in seen.tools for seen in server.seen] == [True, True, False, False]


@pytest.mark.parametrize("others", [30])
async def test_a_model_that_writes_programs_keeps_them(connect: Connect, shop: Shop) -> None:
    agent, server = await connect(
        answers(Reply(calls=[("execute", {"code": "shop.find_order(number=3)"})]), Reply("done")),
        mode="auto",
        menu_after=1,
    )
    _, result = await played(agent)
    assert (result.mode, len(server.seen)) == ("code", 2)


@pytest.mark.parametrize(("others", "mode"), [(0, "native"), (15, "code"), (30, "code")])
async def test_the_mode_is_chosen_by_the_length_of_the_definitions(connect: Connect, mode: str) -> None:
    agent, server = await connect(answers(Reply("done"), Reply("done")), mode="auto")
    _, result = await played(agent)
    assert result.mode == mode
    assert ("execute" in server.seen[0].tools) is (mode == "code")
    await played(agent, "again")
    assert server.seen[1].tools == server.seen[0].tools


async def test_a_model_with_native_tools_keeps_them(connect: Connect) -> None:
    agent, _ = await connect(lambda _: Reply(calls=[("shop-find_order", {"number": "x"})]), mode="auto", menu_after=1)
    events, result = await played(agent)
    assert (result.mode, [event for event in events if isinstance(event, ModeChanged)]) == ("native", [])


def never_right(seen: ModelRequest) -> Reply:
    return Reply(calls=[("execute", {"program": "x" * len(seen.messages)})])


async def test_mistakes_end_as_malformed_and_not_as_an_answer(connect: Connect) -> None:
    agent, server = await connect(never_right, repairs=2)
    _, result = await played(agent)
    assert (result.status, result.ok, len(server.seen)) == ("malformed", False, 3)


async def test_a_filter_that_fits_no_tool_is_left_out(connect: Connect) -> None:
    search = Reply(calls=[("search", {"queries": ["cancel order"], "namespace": "web", "tag": "orders"})])
    agent, server = await connect(answers(search, Reply("Done.")))
    await played(agent)
    lines = server.seen[1].answers[0].text.splitlines()
    assert lines[0] == "# no tool has the namespace 'web'; there are: shop. Searched without it:"
    assert lines[1].startswith("# no tool has the tag 'orders'; there are: ")
    assert lines[2].startswith("shop.cancel_order(*, number: int)")


async def test_the_same_search_again_is_answered_with_the_next_step(connect: Connect) -> None:
    search = Reply(calls=[("search", {"queries": ["cancel order"]})])
    program = Reply(calls=[("execute", {"code": "1 + 1"})])
    agent, server = await connect(answers(search, search, program, search, Reply("Done.")))
    await played(agent)
    first, again, _, later = server.seen[4].answers
    assert again.text == (
        "you have just got the answer to this search. Next, run a program that calls these tools, such as "
        'execute({"code": "shop.cancel_order(number=…)"})'
    )
    assert "shop.cancel_order(*, number: int)" in first.text
    assert later.text == first.text


@pytest.mark.parametrize("arguments", [{"args": [4]}, {"order": 4}, {"arguments": {"number": 4}}])
@pytest.mark.parametrize("mode", ["native", "menu"])
async def test_a_native_call_with_wrong_arguments_is_answered_with_the_right_one(
    connect: Connect, shop: Shop, mode: str, arguments: dict[str, object]
) -> None:
    agent, server = await connect(
        answers(Reply(calls=[("shop-find_order", arguments)]), Reply("I see.")), mode=mode, figures="off"
    )
    await played(agent, "find order 4")
    told = server.seen[1].answers[0].text
    assert told.startswith("shop.find_order: there is no parameter")
    assert told.endswith('Call shop-find_order({"number": 4})')
    assert shop.asked == []


async def test_an_error_of_a_native_call_says_nothing_of_programs(connect: Connect) -> None:
    agent, server = await connect(
        answers(Reply(calls=[("shop-find_order", {"number": 0})]), Reply("I see.")), mode="native"
    )
    await played(agent)
    told = server.seen[1].answers[0].text
    assert told == "failed: ToolError: shop.find_order raised ValueError: orders count from 1"


CANCEL = {
    "native": Reply(calls=[("shop-cancel_order", {"number": 4})]),
    "code": Reply(calls=[("execute", {"code": "shop.cancel_order(number=4)"})]),
}


@pytest.mark.parametrize("mode", CANCEL)
async def test_what_changed_something_is_not_repeated_as_it_is(connect: Connect, shop: Shop, mode: str) -> None:
    agent, server = await connect(answers(CANCEL[mode], CANCEL[mode], Reply("Done.")), mode=mode)
    _, result = await played(agent)
    told = server.seen[2].answers[1].text
    assert (shop.cancelled, result.status) == ([4], "completed")
    assert told.startswith("Not done again: this exact call has changed something already.")
    assert told.endswith('"cancelled"')


@pytest.mark.parametrize("number", [4417, 5])
async def test_a_number_that_a_change_was_made_with_is_a_fact(connect: Connect, number: int) -> None:
    cancel = Reply(calls=[("execute", {"code": f"shop.cancel_order(number={number + 12})"})])
    agent, _ = await connect(answers(cancel, Reply(f"Order {number + 12} is cancelled."), Reply("Hm.")))
    events, _ = await played(agent)
    assert not [event for event in events if isinstance(event, Repaired)]


@pytest.mark.parametrize("mode", CANCEL)
async def test_what_was_answered_with_an_error_may_be_repeated(connect: Connect, shop: Shop, mode: str) -> None:
    def cancels_twice(seen: ModelRequest) -> Reply:
        if len(seen.answers) == 1:
            assert seen.answers[0].text == '{"error": "order 4 is locked"}'
            shop.locked.clear()
        return CANCEL[mode] if len(seen.answers) < 2 else Reply("Done.")

    shop.locked.add(4)
    agent, _ = await connect(cancels_twice, mode=mode)
    await played(agent)
    assert shop.cancelled == [4]


async def test_a_model_that_only_repeats_what_it_has_done_is_ended(connect: Connect, shop: Shop) -> None:
    agent, _ = await connect(lambda _: CANCEL["native"], mode="native", repairs=1)
    _, result = await played(agent)
    assert (shop.cancelled, result.status) == ([4], "repeating")


async def test_the_settings_may_allow_it(connect: Connect, shop: Shop) -> None:
    agent, _ = await connect(
        answers(CANCEL["native"], CANCEL["native"], Reply("Done.")), mode="native", repeat_writes=True
    )
    await played(agent)
    assert shop.cancelled == [4, 4]


async def test_reads_may_be_repeated(connect: Connect, shop: Shop) -> None:
    find = Reply(calls=[("shop-find_order", {"number": 4})])
    agent, _ = await connect(answers(find, find, Reply("Done.")), mode="native")
    await played(agent)
    assert shop.asked == [4, 4]


async def test_two_equal_calls_in_one_answer_are_both_made(connect: Connect, shop: Shop) -> None:
    twice = Reply(calls=[("shop-cancel_order", {"number": 4}), ("shop-cancel_order", {"number": 4})])
    agent, _ = await connect(answers(twice, Reply("Done.")), mode="native")
    await played(agent)
    assert shop.cancelled == [4, 4]
