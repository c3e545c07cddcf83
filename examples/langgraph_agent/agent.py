"""A LangGraph agent with codemode's two tools: `python agent.py QUESTION`."""

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from langchain_core.tools import StructuredTool
from langchain_openai import ChatOpenAI
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from codemode import CodeMode


async def tools_of(cm: CodeMode) -> list[StructuredTool]:
    """Return `search` and `execute`, with codemode's own descriptions and parameters."""

    async def search(**arguments: Any) -> str:
        return (await cm.search(**arguments)).text

    async def execute(code: str, **_: Any) -> str:
        outcome = await cm.execute(code)
        failure = outcome.failure.message if outcome.failure else None
        return json.dumps({"status": outcome.status, "value": outcome.value, "failure": failure})

    run: dict[str, Callable[..., Awaitable[str]]] = {"search": search, "execute": execute}
    described = [definition["function"] for definition in await cm.definitions()]
    return [
        StructuredTool(
            name=one["name"],
            description=one["description"],
            args_schema=one["parameters"],
            coroutine=run[one["name"]],
        )
        for one in described
    ]


async def main(question: str) -> None:
    """Answer one question."""
    async with CodeMode.from_config("codemode.yaml") as cm:
        tools = await tools_of(cm)
        model = ChatOpenAI(model=os.environ.get("CODEMODE_MODEL", "gpt-5")).bind_tools(tools)

        async def ask(state: MessagesState) -> dict[str, Any]:
            return {"messages": [await model.ainvoke(state["messages"])]}

        graph = StateGraph(MessagesState)
        graph.add_node("model", ask)
        graph.add_node("tools", ToolNode(tools))
        graph.add_edge(START, "model")
        graph.add_conditional_edges("model", tools_condition)
        graph.add_edge("tools", "model")
        ended = await graph.compile().ainvoke({"messages": [("user", question)]})
        print(ended["messages"][-1].content)


asyncio.run(main(sys.argv[1]))
