"""A loop of one's own on chat completions: it streams, and asks before a call that the policy stops."""

import asyncio
import sys
from typing import Any

from openai import AsyncOpenAI

from codemode import Caller, CodeMode


def approves(call: Any) -> bool:
    """Ask the person at the terminal about a pending call."""
    return input(f"{call.tool} {call.arguments}? [y/n] ") == "y"


async def main(message: str) -> None:
    """Answer a message."""
    async with CodeMode.from_config("codemode.yaml") as cm, AsyncOpenAI() as client:
        tools = cm.tools(Caller("clerk"), "chat-1", approver=Caller("mia", "approver"))
        offered: Any = await tools.definitions("chat")
        messages: list[Any] = [{"role": "user", "content": message}]
        while messages[-1]["role"] != "assistant":
            async with client.chat.completions.stream(model="gpt-5-mini", messages=messages, tools=offered) as stream:
                async for event in stream:
                    if event.type == "content.delta":
                        print(event.delta, end="", flush=True)
                said = (await stream.get_final_completion()).choices[0].message
            messages.append(said.model_dump(include={"role", "content", "tool_calls"}, exclude_none=True))
            for call in said.tool_calls or ():
                answer = await tools.call(call.function.name, call.function.arguments)
                while asked := await tools.pending(answer.execution):
                    answer = await tools.decide(answer.execution, {one.id: approves(one) for one in asked})
                messages.append({"role": "tool", "tool_call_id": call.id, "content": answer.text})


asyncio.run(main(sys.argv[1]))
