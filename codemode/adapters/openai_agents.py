"""Tools for the OpenAI Agents SDK: `Agent(name=…, tools=await codemode_tools(service))`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from codemode.adapters.framework import needs
from codemode.errors import ExecutionNotFound
from codemode.gateway.caller import LOCAL

with needs("openai-agents"):
    from agents import FunctionTool, RunContextWrapper

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agents.tool_context import ToolContext

    from codemode.gateway.caller import Caller
    from codemode.model.tools import ModelTools
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
    tools = service.tools(caller, conversation, approver=approver)
    return [_tool(tools, one["function"]) for one in await tools.definitions()]


def _tool(tools: ModelTools, function: Mapping[str, Any]) -> FunctionTool:
    asked: dict[str, tuple[str, list[str]]] = {}  # execution and approval ids by the call that waits for them

    async def needs_approval(_: RunContextWrapper[Any], arguments: dict[str, Any], call: str) -> bool:
        execution = arguments.get("resume_from") or ""
        try:
            pending = await tools.pending(execution)
        except ExecutionNotFound:
            pending = ()  # the call answers it
        asked[call] = execution, [one.id for one in pending]
        return bool(pending)

    async def invoke(context: ToolContext[Any], text: str) -> str:
        execution, approved = asked.pop(context.tool_call_id, ("", []))
        if approved:
            return (await tools.decide(execution, dict.fromkeys(approved, True))).text
        return (await tools.call(function["name"], text)).text

    return FunctionTool(
        name=function["name"],
        description=function["description"],
        params_json_schema=function["parameters"],
        on_invoke_tool=invoke,
        strict_json_schema=False,
        needs_approval=needs_approval if function["name"] == "execute" else False,
    )
