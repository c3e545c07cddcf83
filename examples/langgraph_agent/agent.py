"""A LangGraph agent with codemode's two tools: `python agent.py QUESTION`."""

import asyncio
import os
import sys

from langchain.agents import create_agent
from langchain_openai import ChatOpenAI

from codemode import CodeMode
from codemode.adapters.langchain import codemode_tools


async def main(question: str) -> None:
    """Answer one question."""
    async with CodeMode.from_config("codemode.yaml") as cm:
        model = ChatOpenAI(model=os.environ.get("CODEMODE_MODEL", "gpt-5"))
        agent = create_agent(model, await codemode_tools(cm), system_prompt="Answer from the gym's data.")
        ended = await agent.ainvoke({"messages": [("user", question)]})
        print(ended["messages"][-1].content)


asyncio.run(main(sys.argv[1]))
