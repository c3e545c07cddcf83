"""A FastMCP transform: `FastMCP("shop", transforms=[CodeModeTransform(service)])`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import PrivateAttr

from codemode.adapters.framework import needs
from codemode.adapters.toolset import Toolset
from codemode.gateway.caller import LOCAL

with needs("fastmcp"):
    from fastmcp.exceptions import ToolError
    from fastmcp.server.dependencies import get_context
    from fastmcp.server.transforms import Transform
    from fastmcp.tools import Tool
    from fastmcp.tools.base import ToolResult
    from mcp import MCPError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from codemode.adapters.toolset import Answer, Function
    from codemode.gateway.caller import Caller
    from codemode.service import CodeMode


class CodeModeTransform(Transform):
    """Replaces the server's tools by `search`, `execute` and the caller's pins.

    `caller_of` returns the caller of the current request, for example from `get_access_token()`. With an `approver`, a
    paused program asks the client's user by elicitation; a client without elicitation gets what the program waits for.
    Raises ConfigurationError if the approver may not decide.
    """

    def __init__(
        self, service: CodeMode, *, caller_of: Callable[[], Caller] = lambda: LOCAL, approver: Caller | None = None
    ) -> None:
        self._service = service
        self._caller_of = caller_of
        self._approver = approver

    async def list_tools(self, tools: Sequence[Tool]) -> Sequence[Tool]:
        """Return the caller's tools instead of the server's."""
        toolset = Toolset(self._service, self._caller_of(), self._approver)
        return [_tool(toolset, function) for function in await toolset.functions()]

    async def get_tool(self, name: str, call_next: Any, *, version: Any = None) -> Tool | None:
        """Return one of these tools; the server's own cannot be called."""
        return next((tool for tool in await self.list_tools(()) if tool.name == name), None)


class _CodeModeTool(Tool):
    _toolset: Toolset = PrivateAttr()

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        answer = await self._toolset.call(self.name, arguments)
        while answer.outcome is not None and (questions := await self._toolset.questions(answer)):
            verdict = await _elicited(answer)
            if verdict is None:
                break
            answer = await self._toolset.decide(answer.outcome.id, {call.id: verdict for call in questions})
        return ToolResult(answer.text, answer.data or None, is_error=not answer.ok)


async def _elicited(answer: Answer) -> bool | None:
    """Ask the user about the pending calls. Return None if the user, or the client, does not decide."""
    try:
        asked = await get_context().elicit(f"Approve these calls?\n{answer.text}", bool)
    except (MCPError, ToolError):  # the client, or its version of the protocol, has no elicitation
        return None
    return bool(asked.data) if asked.action == "accept" else None


def _tool(toolset: Toolset, function: Function) -> Tool:
    tool = _CodeModeTool(name=function.name, description=function.description, parameters=function.parameters)
    tool._toolset = toolset
    return tool
