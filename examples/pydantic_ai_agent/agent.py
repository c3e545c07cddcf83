"""A pydantic-ai agent with codemode's two tools: `python agent.py QUESTION`."""

import asyncio
import os
import sys

from pydantic_ai import Agent

from codemode import CodeMode
from codemode.adapters.pydantic_ai import CodeModeCapability


async def main(question: str) -> None:
    """Answer one question."""
    async with CodeMode.from_config("codemode.yaml") as cm:
        model = f"openai:{os.environ.get('CODEMODE_MODEL', 'gpt-5')}"
        agent = Agent(model, capabilities=[CodeModeCapability(cm)], instructions="Answer from the gym's data.")
        print((await agent.run(question)).output)


asyncio.run(main(sys.argv[1]))
