"""LangChain tools for any agent or graph, and a middleware for `create_agent`.

agent = create_agent(model, middleware=[CodeModeMiddleware(await codemode_tools(service))])
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from codemode.adapters.framework import needs
from codemode.gateway.caller import LOCAL
from codemode.model.decisions import shown
from codemode.model.tools import CallOptions

with needs("langchain"):
    from langchain.agents.middleware import AgentMiddleware
    from langchain.tools import ToolRuntime  # noqa: TC002 -- LangGraph reads the annotation
    from langchain_core.tools import StructuredTool, ToolException
    from langgraph.types import interrupt

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from codemode.gateway.caller import Caller
    from codemode.model.tools import ModelTools
    from codemode.service import CodeMode


async def codemode_tools(
    service: CodeMode, *, caller: Caller = LOCAL, approver: Caller | None = None, conversation: str = ""
) -> list[StructuredTool]:
    """Return `search`, `execute` and the caller's pins as LangChain tools.

    With an `approver` and a checkpointer, a paused program interrupts the graph. The interrupt's value is
    `{"approvals": [{id, tool, arguments, reason, host}]}`; resume with `Command(resume={id: True})` to approve, False
    to reject. Programs share the state of the `conversation` with this id. Raises ConfigurationError if the approver
    may not decide.
    """
    tools = service.tools(caller, conversation, approver=approver)
    return [_tool(tools, one["function"]) for one in await tools.definitions()]


class CodeModeMiddleware(AgentMiddleware):
    """Replaces the tools bound to the model by those of `codemode_tools`. The agent must run asynchronously."""

    def __init__(self, tools: Sequence[StructuredTool]) -> None:
        super().__init__()
        self.tools = tools

    async def awrap_model_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """Ask the model with these tools alone."""
        return await handler(request.override(tools=list(self.tools)))


def _tool(tools: ModelTools, function: Mapping[str, Any]) -> StructuredTool:
    async def run(runtime: ToolRuntime = None, **arguments: Any) -> str:
        key = _key(runtime, arguments)
        answer = await tools.call(function["name"], arguments, options=CallOptions(key=key))
        while key and answer.waiting and (questions := await tools.pending(answer.execution)):
            verdicts = interrupt({"approvals": shown(questions)})
            answer = await tools.decide(answer.execution, verdicts)
        if not answer.ok:
            raise ToolException(answer.text)
        return answer.text

    return StructuredTool(
        name=function["name"],
        description=function["description"],
        args_schema=function["parameters"],
        coroutine=run,
        handle_tool_error=True,
    )


def _key(runtime: ToolRuntime | None, arguments: dict[str, Any]) -> str:
    """Return what stays the same when a graph runs an interrupted node again. Empty without a checkpointer.

    The number of messages keeps turns apart, because some model services repeat the ids of tool calls.
    """
    thread = runtime.config.get("configurable", {}).get("thread_id") if runtime is not None else None
    if runtime is None or not thread:
        return ""
    messages = runtime.state.get("messages", ()) if isinstance(runtime.state, dict) else ()
    return hashlib.sha256(f"{thread} {len(messages)} {runtime.tool_call_id} {arguments}".encode()).hexdigest()
