"""The tools for the OpenAI Agents SDK in a real agent."""

from __future__ import annotations

import re
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from codemode import Caller
from codemode.testing.model_server import ModelRequest, ModelServer, Reply
from tests.integration.codemode.adapters.conftest import CLERK, MANAGER, REFUND

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from codemode.testing.model_server import Script
    from tests.integration.codemode.adapters.conftest import Shop

pytest.importorskip("agents", reason="openai-agents is not installed: make servers")

from agents import Agent, OpenAIResponsesModel, RunConfig, Runner
from openai import AsyncOpenAI

from codemode.adapters.openai_agents import codemode_tools

QUIET = RunConfig(tracing_disabled=True)


def refunds(seen: ModelRequest) -> Reply:
    if not seen.answers:
        return Reply(calls=[("execute", {"code": REFUND})])
    if len(seen.answers) == 1:
        paused = re.search(r"resume_from='(\w+)'", seen.answers[0].text)
        assert paused is not None, seen.answers[0].text
        return Reply(calls=[("execute", {"code": "", "resume_from": paused[1]})])
    return Reply(f"done: {seen.answers[-1].text}")


@asynccontextmanager
async def agent_of(shop: Shop, script: Script) -> AsyncIterator[tuple[Agent, ModelServer]]:
    """An agent whose connections are closed in the end."""
    tools = await codemode_tools(shop.service, caller=CLERK, approver=MANAGER)
    async with ModelServer(script) as server, AsyncOpenAI(base_url=server.base_url, api_key=server.key) as client:
        yield Agent("clerk", model=OpenAIResponsesModel("scripted", client), tools=tools), server


async def test_an_agent_searches_and_executes(shop: Shop) -> None:
    def counts(seen: ModelRequest) -> Reply:
        if not seen.answers:
            return Reply(calls=[("search", {"queries": ["count the orders"]})])
        if len(seen.answers) == 1:
            assert "shop.count_orders(" in seen.answers[0].text
            return Reply(calls=[("execute", {"code": "shop.count_orders()"})])
        return Reply(f"{seen.answers[-1].text} orders")

    async with agent_of(shop, counts) as (agent, server):
        result = await Runner.run(agent, "How many orders are there?", run_config=QUIET)
    assert result.final_output == "3 orders"
    assert [sorted(seen.tools) for seen in server.seen] == [["execute", "search"]] * 3


async def test_continuing_a_paused_program_needs_approval(shop: Shop) -> None:
    async with agent_of(shop, refunds) as (agent, _):
        paused = await Runner.run(agent, "Refund order 7.", run_config=QUIET)
        (asked,) = paused.interruptions
        assert shop.done == ["note asked"]

        state = paused.to_state()
        state.approve(asked)
        ended = await Runner.run(agent, state, run_config=QUIET)
    assert ended.final_output == 'done: "order 7 is refunded"'
    assert shop.done == ["note asked", "refund 7"]


async def test_a_rejected_call_is_not_made(shop: Shop) -> None:
    async with agent_of(shop, refunds) as (agent, _):
        paused = await Runner.run(agent, "Refund order 7.", run_config=QUIET)
        state = paused.to_state()
        state.reject(paused.interruptions[0])
        await Runner.run(agent, state, run_config=QUIET)
    assert shop.done == ["note asked"]


async def test_an_unknown_execution_needs_no_approval(shop: Shop) -> None:
    def confuses(seen: ModelRequest) -> Reply:
        if seen.answers:
            return Reply(seen.answers[0].text)
        return Reply(calls=[("execute", {"code": "", "resume_from": "exec_unknown"})])

    async with agent_of(shop, confuses) as (agent, _):
        result = await Runner.run(agent, "Go on.", run_config=QUIET)
    assert "exec_unknown" in result.final_output


async def test_the_user_cannot_approve_the_calls_of_another_caller(shop: Shop) -> None:
    others = await shop.service.execute(REFUND, caller=Caller("bea"))

    def continues(seen: ModelRequest) -> Reply:
        if seen.answers:
            return Reply(seen.answers[0].text)
        return Reply(calls=[("execute", {"code": "", "resume_from": others.id})])

    async with agent_of(shop, continues) as (agent, _):
        result = await Runner.run(agent, "Go on.", run_config=QUIET)
    assert result.interruptions == []
    assert others.id in result.final_output
    assert shop.done == ["note asked"]
