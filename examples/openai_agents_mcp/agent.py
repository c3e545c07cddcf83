"""An openai-agents agent that gets its tools from `codemode mcp`: `python agent.py QUESTION`."""

import asyncio
import os
import sys

from agents import Agent, Runner
from agents.mcp import MCPServerStdio

COMMAND = {
    "command": "codemode",
    "args": ["mcp", "--config", "codemode.yaml"],
    # The server sees these variables alone. Pass what codemode.yaml takes from the environment.
    "env": {"GYM_TOKEN": os.environ["GYM_TOKEN"], "PATH": os.environ["PATH"]},
}


async def main(question: str) -> None:
    """Answer one question."""
    # A program may run for 30 seconds by default, and a session waits for 5 unless told otherwise.
    async with MCPServerStdio(params=COMMAND, client_session_timeout_seconds=120) as codemode:
        agent = Agent(
            name="clerk",
            instructions="Answer from the gym's data.",
            model=os.environ.get("CODEMODE_MODEL", "gpt-5"),
            mcp_servers=[codemode],
        )
        result = await Runner.run(agent, question)
        print(result.final_output)


asyncio.run(main(sys.argv[1]))
