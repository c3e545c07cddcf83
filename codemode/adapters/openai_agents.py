"""Tools for the OpenAI Agents SDK: `Agent(name=…, tools=await codemode_tools(service))`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from codemode.adapters.framework import needs
from codemode.adapters.toolset import Toolset
from codemode.errors import ExecutionNotFound
from codemode.gateway.caller import LOCAL

with needs("openai-agents"):
    from agents import FunctionTool, RunContextWrapper

if TYPE_CHECKING:
    from agents.tool_context import ToolContext

    from codemode.adapters.toolset import Function
    from codemode.gateway.caller import Caller
    from codemode.service import CodeMode


async def codemode_tools(
    service: CodeMode, *, caller: Caller = LOCAL, approver: Caller | None = None, conversation: str = ""
) -> list[FunctionTool]:
    """Return `search`, `execute` and the caller's pins.

    The model is told when a program pauses. With an `approver`, its request to continue the execution interrupts the
    run: `service.executions.approvals(approver, execution)` shows the pending calls, `state.approve(item)` approves
    them, and `state.reject(item)` leaves them pending. Programs share the state of the
    `conversation` with this id. Raises ConfigurationError if the approver may not decide.
    """
    toolset = Toolset(service, caller, approver, conversation)
    return [_tool(toolset, function) for function in await toolset.functions()]


def _tool(toolset: Toolset, function: Function) -> FunctionTool:
    asked: dict[str, list[str]] = {}  # approval ids by the call that waits for them

    async def needs_approval(_: RunContextWrapper[Any], arguments: dict[str, Any], call: str) -> bool:
        try:
            pending = await toolset.pending(arguments["resume_from"]) if arguments.get("resume_from") else ()
        except ExecutionNotFound:
            pending = ()  # the call answers it
        asked[call] = [one.id for one in pending]
        return bool(pending)

    async def invoke(context: ToolContext[Any], text: str) -> str:
        try:
            arguments = json.loads(text or "{}")
        except ValueError as error:
            return f"{function.name}: the arguments are not valid JSON: {error}"
        approved = asked.pop(context.tool_call_id, ())
        if approved:
            return (await toolset.decide(arguments["resume_from"], dict.fromkeys(approved, True))).text
        return (await toolset.call(function.name, arguments)).text

    return FunctionTool(
        name=function.name,
        description=function.description,
        params_json_schema=function.parameters,
        on_invoke_tool=invoke,
        strict_json_schema=False,
        needs_approval=needs_approval if function.name == "execute" else False,
    )
