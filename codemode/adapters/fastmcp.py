"""A FastMCP transform: `FastMCP("shop", transforms=[CodeModeTransform(service)])`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcp_types import ElicitRequest, ElicitRequestFormParams, InputRequiredResult
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import PrivateAttr

from codemode.adapters.framework import needs
from codemode.gateway.caller import LOCAL

with needs("fastmcp"):
    from fastmcp.server.dependencies import get_context
    from fastmcp.server.transforms import Transform
    from fastmcp.tools import Tool
    from fastmcp.tools.base import InputRequiredToolResult, ToolResult

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from fastmcp import Context

    from codemode.executions.types.records import PendingCall
    from codemode.gateway.caller import Caller
    from codemode.model.tools import ModelTools
    from codemode.service import CodeMode


class CodeModeTransform(Transform):
    """Replaces the server's tools by `search`, `execute` and the caller's pins.

    `caller_of` returns the caller of the current request, for example from `get_access_token()`. With an `approver`, a
    paused program asks the client's user by elicitation. A client without elicitation, or with a protocol before
    2026-07-28, gets what the program waits for. Raises ConfigurationError if the approver may not decide.
    """

    def __init__(
        self, service: CodeMode, *, caller_of: Callable[[], Caller] = lambda: LOCAL, approver: Caller | None = None
    ) -> None:
        self._service = service
        self._caller_of = caller_of
        self._approver = approver

    async def list_tools(self, tools: Sequence[Tool]) -> Sequence[Tool]:
        """Return the caller's tools instead of the server's."""
        tools_of_caller = self._service.tools(self._caller_of(), approver=self._approver)
        return [_tool(tools_of_caller, one["function"]) for one in await tools_of_caller.definitions()]

    async def get_tool(self, name: str, call_next: Any, *, version: Any = None) -> Tool | None:
        """Return one of these tools; the server's own cannot be called."""
        return next((tool for tool in await self.list_tools(()) if tool.name == name), None)


class _CodeModeTool(Tool):
    _tools: ModelTools = PrivateAttr()

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        context = get_context()
        execution = context.request_state
        verdicts = _verdicts(context.input_responses or {})
        if execution is None:
            answer = await self._tools.call(self.name, arguments)
        else:
            answer = await self._tools.decide(execution, verdicts)
        is_asked = answer.waiting and (execution is None or verdicts)
        questions = await self._tools.pending(answer.execution) if is_asked else ()
        if questions and _can_ask(context):
            asked: dict[str, Any] = {call.id: _question(call) for call in questions}
            return InputRequiredToolResult(InputRequiredResult(input_requests=asked, request_state=answer.execution))
        return ToolResult(answer.text, answer.data or None, is_error=not answer.ok)


def _can_ask(context: Context) -> bool:
    request = context.request_context
    capabilities = context.session.client_capabilities
    is_modern = request is not None and request.protocol_version in MODERN_PROTOCOL_VERSIONS
    return is_modern and capabilities is not None and capabilities.elicitation is not None


def _question(call: PendingCall) -> ElicitRequest:
    arguments = ", ".join(f"{name}={value!r}" for name, value in call.arguments.items())
    schema = {"type": "object", "properties": {"approve": {"type": "boolean"}}, "required": ["approve"]}
    message = f"Approve {call.tool}({arguments})? {call.reason}"
    return ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))


def _verdicts(responses: Mapping[str, Any]) -> dict[str, bool]:
    """Return the user's verdicts by approval id. A cancelled question has none."""
    return {
        id_: result.action == "accept" and (result.content or {}).get("approve") is True
        for id_, result in responses.items()
        if result.action in ("accept", "decline")
    }


def _tool(tools: ModelTools, function: Mapping[str, Any]) -> Tool:
    tool = _CodeModeTool(name=function["name"], description=function["description"], parameters=function["parameters"])
    tool._tools = tools
    return tool
