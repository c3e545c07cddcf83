"""The search of deferred native tools: what it adds, and for how long."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from codemode import Caller, CodeMode
from codemode.settings import Settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from codemode.model.tools import ModelTools

CLERK = Caller("clerk")


def refund(order: int) -> int:
    """Refund an order."""
    return order


def weather(city: str) -> str:
    """Forecast the weather of a city."""
    return city


def ping() -> str:
    """Say whether the service is up."""
    return "up"


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[CodeMode]:
    settings = Settings.model_validate({"state_folder": tmp_path, "pins": ["shop.ping"]})
    async with CodeMode.from_settings(settings, functions={"shop": [refund, weather, ping]}) as opened:
        yield opened


async def names_of(tools: ModelTools, history: list[dict[str, Any]] | None = None) -> list[str]:
    return list((await tools.offer("", history or [])).names)


def searched(query: str) -> dict[str, Any]:
    call = {"id": "1", "type": "function", "function": {"name": "tool_search", "arguments": f'{{"query": "{query}"}}'}}
    return {"role": "assistant", "content": "", "tool_calls": [call]}


async def test_what_a_search_finds_is_offered_from_then_on_the_newest_last(service: CodeMode) -> None:
    tools = service.tools(CLERK, mode="deferred")
    assert await names_of(tools) == ["tool_search", "shop-ping"]
    answer = await tools.call("tool_search", {"query": "forecast of the weather"})
    assert answer.loaded is not None
    assert answer.loaded[0] == "shop.weather"
    assert "shop-weather" in answer.text
    await tools.call("tool_search", {"query": "refund an order"})
    names = await names_of(tools)
    assert names[:3] == ["tool_search", "shop-ping", "shop-weather"]
    assert "shop-refund" in names
    assert (await tools.call("shop-refund", {"order": 7})).text.startswith("7")


async def test_a_conversation_that_another_object_continues_has_what_its_searches_found(service: CodeMode) -> None:
    history = [searched("forecast of the weather"), {"role": "tool", "tool_call_id": "1", "content": "…"}]
    assert "shop-weather" in await names_of(service.tools(CLERK, mode="deferred"), history)


async def test_what_an_earlier_answer_listed_stays_offered_whatever_its_search_finds_now(service: CodeMode) -> None:
    text = "No tool has 'flight'; nearest: these functions can be called now: shop-refund, shop-gone."
    history = [searched("ping"), {"role": "tool", "tool_call_id": "1", "content": text}]
    assert "shop-refund" in await names_of(service.tools(CLERK, mode="deferred"), history)


async def test_what_another_tool_answers_lists_no_functions(service: CodeMode) -> None:
    text = "These functions can be called now: shop-refund."
    call = {"id": "2", "type": "function", "function": {"name": "shop-weather", "arguments": '{"city": "Graz"}'}}
    history: list[dict[str, Any]] = [
        searched("zzyzx brumf"),
        {"role": "tool", "tool_call_id": "1", "content": "…"},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "2", "content": text},
        {"role": "user", "content": text},
    ]
    assert "shop-refund" not in await names_of(service.tools(CLERK, mode="deferred"), history)


async def test_another_conversation_begins_with_the_search_alone(service: CodeMode) -> None:
    tools = service.tools(CLERK, mode="deferred")
    await tools.call("tool_search", {"query": "refund an order"})
    tools.introduce_again()
    assert await names_of(tools) == ["tool_search", "shop-ping"]


async def test_a_search_without_hits_says_so(service: CodeMode) -> None:
    answer = await service.tools(CLERK, mode="deferred").call("tool_search", {"query": "zzzzqqq"})
    assert (answer.loaded, answer.text) == ((), "No tool matches 'zzzzqqq'; use other words.")


async def test_a_search_that_may_have_found_nothing_says_so(service: CodeMode) -> None:
    tools = service.tools(CLERK, mode="deferred")
    answer = await tools.call("tool_search", {"query": "book a flight to a city"})
    assert answer.text.startswith("No tool has 'flight'; nearest: these functions can be called now: shop-")


async def test_what_was_offered_before_is_named_as_such(service: CodeMode) -> None:
    tools = service.tools(CLERK, mode="deferred")
    weather = {"query": "forecast of the weather of a city"}
    assert (await tools.call("tool_search", weather)).text == "These functions can be called now: shop-weather."
    assert (await tools.call("tool_search", weather)).text == "Nothing new; shown before: shop-weather."
    assert (await tools.call("tool_search", {"query": "is the service up"})).text.endswith("shown before: shop-ping.")
