"""The LangChain adapter in real agents and graphs."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from codemode.testing.model_server import ModelRequest, ModelServer, Reply
from tests.integration.codemode.adapters.conftest import CLERK, MANAGER, REFUND

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from codemode.testing.model_server import Script
    from tests.integration.codemode.adapters.conftest import Shop

pytest.importorskip("langchain", reason="langchain is not installed: make servers")

from langchain.agents import create_agent
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.types import Command
from openai import AsyncOpenAI
from pydantic import SecretStr

from codemode.adapters.langchain import CodeModeMiddleware, codemode_tools


def counts(seen: ModelRequest) -> Reply:
    if not seen.answers:
        return Reply(calls=[("search", {"queries": ["count the orders"]})])
    if len(seen.answers) == 1:
        assert "shop.count_orders(" in seen.answers[0].text
        return Reply(calls=[("execute", {"code": "shop.count_orders()"})])
    return Reply(f"{seen.answers[-1].text} orders")


def refunds(seen: ModelRequest) -> Reply:
    if not seen.answers:
        return Reply(calls=[("execute", {"code": REFUND})])
    return Reply(f"done: {seen.answers[-1].text}")


@asynccontextmanager
async def serving(script: Script) -> AsyncIterator[tuple[ChatOpenAI, ModelServer]]:
    """A model whose connections are closed in the end."""
    async with ModelServer(script) as server, AsyncOpenAI(base_url=server.base_url, api_key=server.key) as client:
        yield ChatOpenAI(model="scripted", async_client=client.chat.completions, api_key=SecretStr(server.key)), server


async def test_the_middleware_replaces_the_bound_tools(shop: Shop) -> None:
    @tool
    def bound_by_others(text: str) -> str:
        """Do something else."""
        return text

    middleware = CodeModeMiddleware(await codemode_tools(shop.service, caller=CLERK))
    async with serving(counts) as (model, server):
        agent = create_agent(model, [bound_by_others], middleware=[middleware])
        ended = await agent.ainvoke({"messages": [("user", "How many orders are there?")]})
    assert ended["messages"][-1].content == "3 orders"
    assert [sorted(seen.tools) for seen in server.seen] == [["execute", "search"]] * 3


async def test_a_failed_program_is_an_error_that_the_model_reads(shop: Shop) -> None:
    def fails(seen: ModelRequest) -> Reply:
        return Reply("it failed") if seen.answers else Reply(calls=[("execute", {"code": "1 / 0"})])

    async with serving(fails) as (model, _):
        agent = create_agent(model, await codemode_tools(shop.service))
        ended = await agent.ainvoke({"messages": [("user", "Divide.")]})
    answer = ended["messages"][-2]
    assert answer.status == "error"
    assert "ZeroDivisionError" in answer.content


async def graph_of(shop: Shop, model: ChatOpenAI, checkpointer: Any) -> Any:
    """A graph of the user's own, whose node of tools runs again after an interrupt."""
    tools = await codemode_tools(shop.service, caller=CLERK, approver=MANAGER)
    bound = model.bind_tools(tools)

    async def ask(state: MessagesState) -> dict[str, Any]:
        return {"messages": [await bound.ainvoke(state["messages"])]}

    graph = StateGraph(MessagesState)
    graph.add_node("model", ask)
    graph.add_node("tools", ToolNode(tools))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    return graph.compile(checkpointer=checkpointer)


@pytest.mark.parametrize(("verdict", "said"), [(True, "order 7 is refunded"), (False, "rejected")])
async def test_a_pause_interrupts_the_graph_and_the_verdict_continues_the_same_execution(
    shop: Shop, verdict: bool, said: str
) -> None:
    config = {"configurable": {"thread_id": "thread 1"}}
    async with serving(refunds) as (model, _):
        checkpointer = InMemorySaver()
        graph = await graph_of(shop, model, checkpointer)
        paused = await graph.ainvoke({"messages": [("user", "Refund order 7.")]}, config)
        (interrupted,) = paused["__interrupt__"]
        (call,) = interrupted.value["approvals"]
        assert (call["tool"], call["arguments"], call["reason"]) == ("shop.refund", {"order": 7}, "a manager agrees")
        assert shop.done == ["note asked"]

        graph = await graph_of(shop, model, checkpointer)  # as after a restart: nothing is kept in memory
        ended = await graph.ainvoke(Command(resume={call["id"]: verdict}), config)
    assert said in ended["messages"][-1].content
    assert shop.done == ["note asked", *(["refund 7"] if verdict else [])]


async def test_two_pauses_take_one_verdict_each(shop: Shop) -> None:
    def refunds_twice(seen: ModelRequest) -> Reply:
        if not seen.answers:
            return Reply(calls=[("execute", {"code": "shop.refund(order=1)\nshop.refund(order=2)"})])
        return Reply(f"done: {seen.answers[-1].text}")

    config = {"configurable": {"thread_id": "thread 1"}}
    async with serving(refunds_twice) as (model, _):
        graph = await graph_of(shop, model, InMemorySaver())
        state = await graph.ainvoke({"messages": [("user", "Refund both.")]}, config)
        for order in (1, 2):
            (call,) = state["__interrupt__"][0].value["approvals"]
            assert call["arguments"] == {"order": order}
            state = await graph.ainvoke(Command(resume={call["id"]: True}), config)
    assert state["messages"][-1].content == 'done: "order 2 is refunded"'
    assert shop.done == ["refund 1", "refund 2"]


async def test_a_call_id_that_a_model_service_repeats_runs_again(shop: Shop) -> None:
    def notes(seen: ModelRequest) -> Reply:
        return Reply("noted") if seen.answers else Reply(calls=[("execute", {"code": "shop.note(text='tea')"})])

    config = {"configurable": {"thread_id": "thread 1"}}
    checkpointer = InMemorySaver()
    for _ in range(2):
        async with serving(notes) as (model, _):  # a new server counts its calls from the start
            graph = await graph_of(shop, model, checkpointer)
            ended = await graph.ainvoke({"messages": [("user", "Note tea.")]}, config)
    assert len({call["id"] for message in ended["messages"] for call in getattr(message, "tool_calls", ())}) == 1
    assert shop.done == ["note tea", "note tea"]


async def test_without_an_approver_the_model_reads_what_the_program_waits_for(shop: Shop) -> None:
    async with serving(refunds) as (model, _):
        agent = create_agent(model, await codemode_tools(shop.service, caller=CLERK))
        ended = await agent.ainvoke({"messages": [("user", "Refund order 7.")]})
    assert "a person must decide on:\nap_" in ended["messages"][-1].content
    assert " shop.refund(order=7)" in ended["messages"][-1].content
