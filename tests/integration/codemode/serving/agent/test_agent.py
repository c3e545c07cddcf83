from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from codemode.errors import ConfigurationError
from codemode.serving.agent import (
    Asked,
    CallEnded,
    CallStarted,
    Ended,
    Repaired,
    TextDelta,
    ToolsRequested,
)
from codemode.testing.model_server import ModelRequest, Reply

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from codemode.serving.agent import Agent, Event
    from codemode.testing.model_server import ModelServer
    from tests.integration.codemode.serving.agent.conftest import Shop

    Connect = Callable[..., Awaitable[tuple[Agent, ModelServer]]]

ORDERS = "import asyncio\nawait asyncio.gather(*[shop.find_order(number=n) for n in (1, 2, 3)])"


def searches_then_runs(seen: ModelRequest) -> Reply:
    """What a model does that has read the two definitions: it looks for tools, and then calls what it found."""
    if not seen.answers:
        return Reply(calls=[("search", {"queries": ["find an order"]})])
    if len(seen.answers) == 1:
        assert "shop.find_order(*, number: int)" in seen.answers[0].text
        return Reply("I look them up.", calls=[("execute", {"code": ORDERS})])
    totals = [order["total"] for order in json.loads(seen.answers[1].text.splitlines()[0])]
    return Reply(f"The totals are {totals}.")


async def events_of(agent: Agent, message: str, **given: Any) -> list[Event]:
    return [event async for event in agent.run(message, **given)]


@pytest.mark.parametrize("api", ["chat", "responses"])
@pytest.mark.parametrize("stream", [True, False])
async def test_a_model_that_writes_code_answers_with_two_tools_and_the_pins(
    connect: Connect, shop: Shop, api: str, stream: bool
) -> None:
    agent, server = await connect(searches_then_runs, api=api, stream=stream)
    events = await events_of(agent, "What do orders 1 to 3 come to?")
    assert isinstance(events[-1], Ended)
    result = events[-1].result
    assert (result.status, result.text) == ("completed", "The totals are [10, 20, 30].")
    assert sorted(shop.asked) == [1, 2, 3]
    assert [type(event) for event in events if not isinstance(event, TextDelta)] == [
        *(Asked, CallStarted, CallEnded),
        *(Asked, CallStarted, CallEnded),
        *(Asked, Ended),
    ]
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == (
        "I look them up.The totals are [10, 20, 30]."
    )
    assert [action.name for action in result.actions] == ["search", "execute"]
    assert result.iterations == 3
    assert result.usage.input > result.usage.output > 0
    assert [sorted(seen.tools) for seen in server.seen] == [["execute", "search", "shop-find_order"]] * 3
    assert server.refused == []


async def test_requests_begin_with_the_same_bytes(connect: Connect) -> None:
    agent, server = await connect(searches_then_runs)
    await agent.answer("What do orders 1 to 3 come to?")
    bodies = [seen.body for seen in server.seen]
    assert len({json.dumps(body["tools"]) for body in bodies}) == 1
    for earlier, later in pairwise(bodies):
        assert later["messages"][: len(earlier["messages"])] == earlier["messages"]


async def test_the_next_message_goes_on_from_the_history(connect: Connect) -> None:
    agent, server = await connect(
        lambda seen: Reply(f"{len(seen.messages)} messages, the last: {seen.message}"), figures="off"
    )
    first = await agent.answer("one")
    second = await agent.answer("two", history=first.messages)
    assert second.text == "3 messages, the last: two"
    assert [message["role"] for message in server.seen[-1].messages] == ["user", "assistant", "user"]


async def test_a_plan_reaches_the_model_shortened(connect: Connect) -> None:
    agent, server = await connect(lambda _: Reply("done"))
    await agent.answer("go", plan={"steps": ["find", "cancel"]})
    await agent.answer("go", plan={"steps": ["x" * 5000]})
    assert '{"steps":["find","cancel"]}' in server.seen[0].system
    plan = server.seen[1].system.partition("as far as it is right:\n")[2]
    assert plan.startswith('{"steps":["xxx')
    assert len(plan) == 1500


async def test_pins_and_a_menu_stand_beside_search_and_execute(connect: Connect, shop: Shop) -> None:
    def calls_the_pin(seen: ModelRequest) -> Reply:
        return Reply(seen.answers[0].text) if seen.answers else Reply(calls=[("shop-find_order", {"number": 7})])

    agent, server = await connect(calls_the_pin, mode="hybrid")
    result = await agent.answer("order 7?")
    assert json.loads(result.text) == {"number": 7, "total": 70}
    assert shop.asked == [7]
    meta = ["request_more_tools", "request_tool"]
    assert sorted(server.seen[0].tools) == ["execute", *meta, "search", "shop-cancel_order", "shop-find_order"]


async def test_every_tool_natively(connect: Connect, shop: Shop) -> None:
    def cancels(seen: ModelRequest) -> Reply:
        return Reply(seen.answers[0].text) if seen.answers else Reply(calls=[("shop-cancel_order", {"number": 2})])

    agent, server = await connect(cancels, mode="native")
    assert (await agent.answer("cancel order 2")).text == '"cancelled"'
    assert shop.cancelled == [2]
    assert sorted(server.seen[0].tools) == ["shop-cancel_order", "shop-find_order"]


async def test_a_menu_is_widened_by_the_model(connect: Connect, shop: Shop, service: Any) -> None:
    def asks_for_more(seen: ModelRequest) -> Reply:
        if "shop-cancel_order" not in seen.tools:
            return Reply(calls=[("request_more_tools", {"categories": ["shop"], "reason": "to cancel"})])
        return (
            Reply("done") if "cancelled" in str(seen.messages) else Reply(calls=[("shop-cancel_order", {"number": 4})])
        )

    menu = {"categories": {"shop": {"keywords": ["nothing like it"]}}, "defaults": [], "request_more_tools": True}
    menus = type(service.settings.menu).model_validate(menu)
    await service.reload(service.settings.model_copy(update={"menu": menus}))
    agent, server = await connect(asks_for_more, mode="menu")
    events = await events_of(agent, "please")
    result = events[-1].result  # type: ignore[union-attr]
    assert result.status == "completed"
    assert shop.cancelled == [4]
    requested = [event for event in events if isinstance(event, ToolsRequested)]
    assert [sorted(event.loaded) for event in requested] == [["shop.cancel_order", "shop.find_order"]]
    assert [action.name for action in result.actions] == ["shop-cancel_order"]
    assert len(server.seen[0].tools) < len(server.seen[1].tools)


async def test_many_calls_of_one_answer_run_in_batches_and_are_answered_in_order(connect: Connect) -> None:
    numbers = [5, 4, 3, 2, 1]

    def asks_for_all(seen: ModelRequest) -> Reply:
        if seen.answers:
            return Reply(" ".join(str(json.loads(answer.text)["number"]) for answer in seen.answers))
        return Reply(calls=[("shop-find_order", {"number": number}) for number in numbers])

    agent, _ = await connect(asks_for_all, mode="hybrid", max_parallel_tool_calls=2)
    events = await events_of(agent, "all")
    assert events[-1].result.text == "5 4 3 2 1"  # type: ignore[union-attr]
    under_way, most = 0, 0
    for event in events:
        under_way += isinstance(event, CallStarted) - isinstance(event, CallEnded)
        most = max(most, under_way)
    assert most == 2


@pytest.mark.parametrize(("choice", "sent"), [("required", "required"), ("none", "none"), ("auto", "auto")])
async def test_the_choice_of_tools_is_sent(connect: Connect, choice: str, sent: str) -> None:
    agent, server = await connect(lambda _: Reply("no"), tool_choice=choice, iterations=1)
    await agent.answer("go")
    assert server.seen[0].body["tool_choice"] == sent


async def test_one_tool_is_forced_until_it_was_called(connect: Connect) -> None:
    def obeys(seen: ModelRequest) -> Reply:
        return Reply("done") if seen.answers else Reply(calls=[("shop-find_order", {"number": 1})])

    agent, server = await connect(obeys, mode="hybrid", tool_choice="shop.find_order")
    assert (await agent.answer("go")).ok
    forced = {"type": "function", "function": {"name": "shop-find_order"}}
    assert [seen.body["tool_choice"] for seen in server.seen] == [forced, "auto"]


async def test_a_forced_tool_that_is_not_offered_is_a_mistake_of_the_configuration(connect: Connect) -> None:
    agent, _ = await connect(lambda _: Reply("no"), tool_choice="shop.refund")
    with pytest.raises(ConfigurationError, match=r"'shop.refund' is not offered; there are: search, execute"):
        await agent.answer("go")


async def test_the_environment_names_model_address_key_and_choice(
    connect: Connect, service: Any, served: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from codemode.serving.agent import Agent

    server = await served(lambda _: Reply("here"))
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
    monkeypatch.setenv("OPENAI_API_KEY", server.key)
    monkeypatch.setenv("CODEMODE_MODEL", "from-the-environment")
    monkeypatch.setenv("OPENAI_TOOL_CHOICE", '{"type": "function", "function": {"name": "search"}}')
    async with Agent(service) as agent:
        assert (await agent.answer("go")).text == "here"
    body = server.seen[0].body
    assert body["model"] == "from-the-environment"
    assert body["tool_choice"]["function"]["name"] == "search"


async def test_without_a_model_the_message_says_where_to_name_one(
    service: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from codemode.serving.agent import Agent

    monkeypatch.delenv("CODEMODE_MODEL", raising=False)
    with pytest.raises(ConfigurationError, match=r"agent\.model in the configuration, --model, or CODEMODE_MODEL"):
        Agent(service)


# --- how models really answer -----------------------------------------------------------------------------------


def answers(*says: Reply) -> Callable[[ModelRequest], Reply]:
    """A model that says one thing after the other."""
    given = iter(says)
    return lambda _: next(given)


@pytest.mark.parametrize(
    "arguments",
    [
        json.dumps(json.dumps({"code": "shop.find_order(number=3)"})),
        '```json\n{"code": "shop.find_order(number=3)"}\n```',
        "shop.find_order(number=3)",
        "```python\nshop.find_order(number=3)\n```",
        '{"code": "```python\\nresult = shop.find_order(number=3)\\nresult\\n```"}',
        '{"code": "order = shop.find_order(number=3)"}',
        '{"code": "shop.find_order(\nnumber=3)"}',
    ],
)
async def test_arguments_as_models_write_them(connect: Connect, shop: Shop, arguments: str) -> None:
    agent, _ = await connect(answers(Reply(calls=[("execute", arguments)]), Reply("done")))
    result = await agent.answer("order 3?")
    assert result.ok
    assert shop.asked == [3]
    assert result.actions[0].ok, result.actions[0].observation


@pytest.mark.parametrize("name", ["shop.find_order", "shop-find_order", "functions.shop-find_order"])
async def test_the_exact_name_of_a_tool_that_was_not_offered_runs(connect: Connect, shop: Shop, name: str) -> None:
    agent, _ = await connect(answers(Reply(calls=[(name, {"number": 9})]), Reply("done")))
    assert (await agent.answer("order 9?")).ok
    assert shop.asked == [9]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (("shop.find_orders", {"number": 1}), "there is no tool 'shop.find_orders'; closest: shop-find_order"),
        (("serch", {"queries": ["x"]}), "there is no tool 'serch'; closest: search"),
        (("execute", '{"code": "1 +'), "the arguments of execute are not JSON: Unterminated string"),
        (
            ("execute", {"program": "1", "language": "python"}),
            "language: unknown argument; valid: code, resume_from",
        ),
        (("search", "[1]"), "the arguments of search are a list: send a JSON object"),
        (("search", {}), "search: queries: required argument is missing"),
    ],
)
async def test_a_malformed_call_is_told_exactly_and_repaired_once(
    connect: Connect, shop: Shop, call: tuple[str, Any], said: str
) -> None:
    agent, server = await connect(answers(Reply(calls=[call]), Reply("I see.")))
    events = await events_of(agent, "go")
    assert any(isinstance(event, Repaired) for event in events)
    assert said in server.seen[1].answers[0].text
    assert events[-1].result.status == "completed"  # type: ignore[union-attr]
    assert shop.asked == []


async def test_a_model_that_stays_malformed_is_not_asked_for_ever(connect: Connect) -> None:
    agent, server = await connect(lambda _: Reply(calls=[("execute", '{"code": ')]), repairs=3)
    result = await agent.answer("go")
    assert result.status == "malformed"
    assert len(server.seen) == 4
    assert "are not JSON" in result.text


@pytest.mark.parametrize("first", [Reply(""), Reply("The answer is", finish="length"), Reply("", finish="length")])
async def test_an_empty_or_cut_off_answer_is_asked_for_once_more(connect: Connect, first: Reply) -> None:
    agent, server = await connect(answers(first, Reply("42")), figures="off")
    assert (await agent.answer("go")).text == "42"
    assert "empty" in server.seen[1].message or "cut off" in server.seen[1].message


@pytest.mark.parametrize("api", ["chat", "responses"])
@pytest.mark.parametrize("stream", [True, False])
async def test_a_refusal_is_the_end(connect: Connect, api: str, stream: bool) -> None:
    agent, server = await connect(lambda _: Reply(refusal="I will not."), api=api, stream=stream)
    result = await agent.answer("go")
    assert (result.status, result.text, len(server.seen)) == ("refused", "I will not.", 1)


async def test_the_same_call_again_and_again_ends(connect: Connect, shop: Shop) -> None:
    agent, _ = await connect(lambda _: Reply(calls=[("shop.find_order", {"number": 1})]), repeats=3)
    result = await agent.answer("go")
    assert result.status == "repeating"
    assert len(shop.asked) == 3


async def test_a_program_in_the_text_alone_is_run(connect: Connect, shop: Shop) -> None:
    agent, _ = await connect(
        answers(Reply("I run it:\n```python\nshop.find_order(number=6)\n```\nThat is it."), Reply("done"))
    )
    assert (await agent.answer("go")).ok
    assert shop.asked == [6]


async def test_an_example_of_other_code_is_an_answer(connect: Connect) -> None:
    agent, server = await connect(lambda _: Reply("So:\n```python\nprint('hello')\n```"))
    assert (await agent.answer("how do I print?")).ok
    assert len(server.seen) == 1


# --- bounds -----------------------------------------------------------------------------------------------------


def goes_on(seen: ModelRequest) -> Reply:
    """A model that is never done."""
    number = len(seen.answers) + 1
    return Reply(f"step {number}", calls=[("shop.cancel_order", {"number": number})], usage=(1000, 100))


@pytest.mark.parametrize(
    ("bounds", "status", "done"),
    [
        ({"iterations": 3}, "iterations", [1, 2, 3]),
        ({"mode": "menu"}, "iterations", [1, 2, 3, 4, 5]),
        ({"tokens": 3000}, "tokens", [1, 2]),
        ({"cost": 0.0025, "price": {"input": 1, "output": 0}}, "cost", [1, 2]),
    ],
)
async def test_a_bound_ends_with_what_was_achieved(
    connect: Connect, shop: Shop, bounds: dict[str, Any], status: str, done: list[int]
) -> None:
    agent, _ = await connect(goes_on, **bounds)
    result = await agent.answer("go")
    assert result.status == status
    assert shop.cancelled == done
    assert len(result.actions) == len(done)
    assert result.text.count('"cancelled"') == len(done)
    assert f"agent.{status}" in result.text
    again, server = await connect(lambda _: Reply("fine"))
    assert (await again.answer("and now?", history=result.messages)).ok, "the history of a bounded turn can be sent"
    assert server.refused == []


async def test_cost_counts_what_was_cached_at_its_own_price(connect: Connect) -> None:
    price = {"input": 2.0, "output": 8.0, "cached_input": 0.5}
    agent, _ = await connect(lambda _: Reply("done", usage=(1_000_000, 500_000)), price=price)
    assert (await agent.answer("go")).cost == pytest.approx(6.0)


async def test_tokens_are_estimated_where_the_service_tells_none(connect: Connect) -> None:
    agent, _ = await connect(lambda _: Reply("done", usage=()))
    result = await agent.answer("go")
    assert result.usage.input > 100
    assert result.usage.output >= 1


async def test_a_service_that_refuses_is_told_without_the_key(connect: Connect, served: Any) -> None:
    agent, server = await connect(lambda _: Reply("done"))
    server.key = "another-key"
    result = await agent.answer("go")
    assert result.status == "unreachable"
    assert "Incorrect API key" in result.text
    assert "a-model-key" not in result.text


async def test_a_service_that_is_not_there(service: Any) -> None:
    from codemode.serving.agent import Agent
    from codemode.settings import AgentSettings

    settings = AgentSettings(model="x", base_url="http://127.0.0.1:9/v1")
    async with Agent(service, settings) as agent:
        result = await agent.answer("go")
    assert result.status == "unreachable"
    assert "http://127.0.0.1:9/v1/ cannot be reached" in result.text


async def test_a_service_that_sends_the_request_elsewhere_is_not_followed(service: Any, served: Any) -> None:
    from starlette.applications import Starlette
    from starlette.responses import RedirectResponse
    from starlette.routing import Route

    from codemode.serving.agent import Agent
    from codemode.settings import AgentSettings
    from tests.unit.codemode.sources.served import served as serving

    elsewhere = await served(lambda _: Reply("not me"))

    async def redirect(_: Any) -> RedirectResponse:
        return RedirectResponse(f"{elsewhere.base_url}/chat/completions", 307)

    application = Starlette(routes=[Route("/{path:path}", redirect, methods=["POST"])])
    async with serving(application) as url, Agent(service, AgentSettings(model="x", base_url=f"{url}/v1")) as agent:
        result = await agent.answer("go")
    assert result.status == "unreachable"
    assert elsewhere.seen == []
    assert elsewhere.refused == []


# --- models without tool calling --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "Let me look.\n```python\nshop.find_order(number=8)\n```\n",
        '```call execute\n{"code": "shop.find_order(number=8)"}\n```',
        '```json\n{"name": "execute", "arguments": {"code": "shop.find_order(number=8)"}}\n```',
        '<tool_call>\n{"name": "execute", "arguments": {"code": "shop.find_order(number=8)"}}\n</tool_call>',
        'Thought: I look.\nAction: execute\nAction Input: {"code": "shop.find_order(number=8)"}\n',
        "```python\nshop.find_order(number=8)",
        '```call shop.find_order\n{"number": 8}\n```',
    ],
)
async def test_calls_are_read_from_text(connect: Connect, shop: Shop, text: str) -> None:
    def writes(seen: ModelRequest) -> Reply:
        assert "tools" not in seen.body
        return Reply("Final Answer: it is 80.") if "Observation of" in seen.message else Reply(text)

    agent, server = await connect(writes, use_function_calling=False)
    result = await agent.answer("order 8?")
    assert (result.status, result.text) == ("completed", "it is 80.")
    assert shop.asked == [8]
    assert "- search: Details of tools" in server.seen[0].system
    assert [message["role"] for message in server.seen[1].messages] == ["user", "assistant", "user"]


async def test_a_menu_without_tool_calling(connect: Connect, shop: Shop) -> None:
    def writes(seen: ModelRequest) -> Reply:
        if "Observation of" in seen.message:
            return Reply("done")
        return Reply('```call shop-cancel_order\n{"number": 3}\n```\n```call shop-cancel_order\n{"number": 4}\n```')

    agent, _ = await connect(writes, use_function_calling=False, mode="menu")
    assert (await agent.answer("cancel orders 3 and 4 of the shop")).ok
    assert sorted(shop.cancelled) == [3, 4]


async def test_who_stops_listening_ends_the_work(connect: Connect) -> None:
    agent, server = await connect(lambda _: Reply(calls=[("execute", {"code": "import time\ntime.sleep(25)"})]))
    running = agent.run("go")
    async for event in running:
        if isinstance(event, CallStarted):
            break
    await running.aclose()
    assert len(server.seen) == 1


@pytest.mark.parametrize("others", [200])
async def test_the_tools_for_a_later_message_follow_it_and_stay_in_the_history(connect: Connect) -> None:
    agent, server = await connect(lambda seen: Reply("Done."))
    first = await agent.answer("Hello, I am Ann.")
    second = await agent.answer("Find order 3", history=first.messages)
    await agent.answer("Thanks.", history=second.messages)
    _, asked, thanked = (seen.body["messages"] for seen in server.seen)
    assert asked[-1]["content"].startswith("Find order 3\n\n(Further tools that a search for this message finds:\n")
    assert "shop.find_order(*, number: int)" in asked[-1]["content"]
    assert thanked[: len(asked)] == asked
    assert thanked[-1]["content"] == "Thanks."


async def test_a_conversation_that_another_agent_continues_begins_with_the_same_bytes(connect: Connect) -> None:
    def finds(seen: ModelRequest) -> Reply:
        calls = [("execute", {"code": "shop.find_order(number=3)"})] if len(seen.answers) == 0 else []
        return Reply("" if calls else "Done.", calls=calls)

    agent, server = await connect(finds)
    first = await agent.answer("Find order 3")
    other, continued = await connect(lambda seen: Reply("Done."))
    await other.answer("Thanks.", history=first.messages)
    await other.answer("Find order 4")
    begun, ended, new = server.seen[0].body, continued.seen[0].body, continued.seen[1].body
    assert ended["tools"] == begun["tools"]
    assert ended["messages"][: len(begun["messages"])] == begun["messages"]
    assert "observed result" not in json.dumps(begun)
    assert "observed result" in json.dumps(new["tools"])  # what was learned is in the next conversation
