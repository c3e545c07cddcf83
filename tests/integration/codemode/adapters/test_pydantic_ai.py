"""The pydantic-ai capability in a real agent."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from codemode.errors import ConfigurationError
from codemode.testing.model_server import ModelRequest, ModelServer, Reply
from tests.integration.codemode.adapters.conftest import CLERK, MANAGER, REFUND

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from codemode.testing.model_server import Script
    from tests.integration.codemode.adapters.conftest import Shop

pytest.importorskip("pydantic_ai", reason="pydantic-ai is not installed: make servers")

from openai import AsyncOpenAI
from pydantic_ai import Agent, DeferredToolRequests
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from codemode.adapters.pydantic_ai import CodeModeCapability


def refunds(seen: ModelRequest) -> Reply:
    if not seen.answers:
        return Reply(calls=[("execute", {"code": REFUND})])
    return Reply(f"done: {seen.answers[-1].text}")


@asynccontextmanager
async def serving(script: Script) -> AsyncIterator[tuple[OpenAIChatModel, ModelServer]]:
    """A model whose connections are closed in the end."""
    async with ModelServer(script) as server, AsyncOpenAI(base_url=server.base_url, api_key=server.key) as client:
        yield OpenAIChatModel("scripted", provider=OpenAIProvider(openai_client=client)), server


async def test_an_agent_searches_and_executes(shop: Shop) -> None:
    def counts(seen: ModelRequest) -> Reply:
        if not seen.answers:
            return Reply(calls=[("search", {"queries": ["count the orders"]})])
        if len(seen.answers) == 1:
            assert "shop.count_orders(" in seen.answers[0].text
            return Reply(calls=[("execute", {"code": "shop.count_orders()"})])
        return Reply(f"{seen.answers[-1].text} orders")

    async with serving(counts) as (model, server):
        agent = Agent(model, capabilities=[CodeModeCapability(shop.service, caller=CLERK)])
        assert (await agent.run("How many orders are there?")).output == "3 orders"
    assert [sorted(seen.tools) for seen in server.seen] == [["execute", "search"]] * 3


async def test_a_failed_program_is_told_to_the_model(shop: Shop) -> None:
    def fails(seen: ModelRequest) -> Reply:
        return Reply(seen.answers[0].text) if seen.answers else Reply(calls=[("execute", {"code": "1 / 0"})])

    async with serving(fails) as (model, _):
        agent = Agent(model, capabilities=[CodeModeCapability(shop.service)])
        assert "ZeroDivisionError" in (await agent.run("Divide.")).output


async def paused(shop: Shop, model: OpenAIChatModel) -> tuple[Any, Any]:
    capability = CodeModeCapability(shop.service, caller=CLERK, approver=MANAGER)
    agent = Agent(model, capabilities=[capability], output_type=[str, DeferredToolRequests])
    result = await agent.run("Refund order 7.")
    assert isinstance(result.output, DeferredToolRequests)
    return agent, result


async def test_a_pause_is_a_deferred_call_and_its_approval_continues_the_same_execution(shop: Shop) -> None:
    async with serving(refunds) as (model, _):
        agent, result = await paused(shop, model)
        requests = result.output
        (asked,) = requests.approvals
        (call,) = requests.metadata[asked.tool_call_id]["approvals"]
        assert (call["tool"], call["arguments"], call["reason"]) == ("shop.refund", {"order": 7}, "a manager agrees")
        assert shop.done == ["note asked"]

        answers = requests.build_results(approve_all=True, metadata=requests.metadata)
        ended = await agent.run(message_history=result.all_messages(), deferred_tool_results=answers)
    assert ended.output == 'done: "order 7 is refunded"'
    assert shop.done == ["note asked", "refund 7"]


async def test_a_denied_call_is_not_made(shop: Shop) -> None:
    async with serving(refunds) as (model, _):
        agent, result = await paused(shop, model)
        requests = result.output
        answers = requests.build_results(approvals={requests.approvals[0].tool_call_id: False})
        ended = await agent.run(message_history=result.all_messages(), deferred_tool_results=answers)
    assert "denied" in ended.output
    assert shop.done == ["note asked"]


async def test_an_approval_without_its_metadata_is_rejected(shop: Shop) -> None:
    async with serving(refunds) as (model, _):
        agent, result = await paused(shop, model)
        answers = result.output.build_results(approve_all=True)
        with pytest.raises(ConfigurationError, match=r"pass metadata=requests\.metadata"):
            await agent.run(message_history=result.all_messages(), deferred_tool_results=answers)
    assert shop.done == ["note asked"]
