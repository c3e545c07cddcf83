"""A loop of one's own on the Responses API: it streams, and asks before a call that the policy stops."""

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
        offered: Any = await tools.definitions("responses")
        items: list[Any] = [{"role": "user", "content": message}]
        while items[-1].get("role") != "assistant":
            async with client.responses.stream(model="gpt-5-mini", input=items, tools=offered) as stream:
                async for event in stream:
                    if event.type == "response.output_text.delta":
                        print(event.delta, end="", flush=True)
                output = (await stream.get_final_response()).output
            items += [one.model_dump(exclude_none=True) for one in output]
            for call in [one for one in output if one.type == "function_call"]:
                answer = await tools.call(call.name, call.arguments)
                while asked := await tools.pending(answer.execution):
                    answer = await tools.decide(answer.execution, {one.id: approves(one) for one in asked})
                items.append({"type": "function_call_output", "call_id": call.call_id, "output": answer.text})


asyncio.run(main(sys.argv[1]))
