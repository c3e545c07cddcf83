"""A pydantic-ai agent with codemode's two tools: `python agent.py QUESTION`."""

import asyncio
import os
import sys
from typing import Any

from pydantic_ai import Agent, ModelRetry, Tool

from codemode import CodeMode


async def tools_of(cm: CodeMode) -> list[Tool]:
    """Return `search` and `execute`, with codemode's own descriptions and parameters."""

    async def search(**arguments: Any) -> str:
        return (await cm.search(**arguments)).text

    async def execute(code: str, **_: Any) -> Any:
        outcome = await cm.execute(code)
        if outcome.failure:
            raise ModelRetry(outcome.failure.message)  # the model reads the message and corrects its program
        return {"status": outcome.status, "value": outcome.value}

    run = {"search": search, "execute": execute}
    described = [definition["function"] for definition in await cm.definitions()]
    return [Tool.from_schema(run[one["name"]], one["name"], one["description"], one["parameters"]) for one in described]


async def main(question: str) -> None:
    """Answer one question."""
    async with CodeMode.from_config("codemode.yaml") as cm:
        model = f"openai:{os.environ.get('CODEMODE_MODEL', 'gpt-5')}"
        agent = Agent(model, tools=await tools_of(cm), instructions="Answer from the gym's data.")
        print((await agent.run(question)).output)


asyncio.run(main(sys.argv[1]))
