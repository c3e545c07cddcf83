"""A pydantic-ai capability: `Agent(model, capabilities=[CodeModeCapability(service)])`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from codemode.adapters.framework import needs
from codemode.errors import ConfigurationError
from codemode.gateway.caller import LOCAL
from codemode.model.decisions import shown

with needs("pydantic-ai-slim"):
    from pydantic_ai import RunContext, Tool
    from pydantic_ai.capabilities import AbstractCapability
    from pydantic_ai.exceptions import ApprovalRequired, ToolFailed
    from pydantic_ai.toolsets import FunctionToolset

if TYPE_CHECKING:
    from codemode.gateway.caller import Caller
    from codemode.service import CodeMode


class CodeModeCapability(AbstractCapability[Any]):
    """`search`, `execute` and the caller's pins.

    With an `approver`, a paused program ends the run with `DeferredToolRequests`, which must be an output type of the
    agent. `requests.metadata[tool call id]` holds its `execution` and `approvals`: id, tool, arguments, reason, host.
    Continue with `requests.build_results(approvals=…, metadata=requests.metadata)`: the metadata says what was
    approved. Programs share the state of the `conversation` with this id. Raises ConfigurationError if the approver may
    not decide.
    """

    def __init__(
        self, service: CodeMode, *, caller: Caller = LOCAL, approver: Caller | None = None, conversation: str = ""
    ) -> None:
        super().__init__()
        self._tools = service.tools(caller, conversation, approver=approver)
        self._asks = approver is not None

    def get_toolset(self) -> Any:
        """Return a function that makes the tools of a run, because sources may change between runs."""

        async def tools(_: RunContext[Any]) -> FunctionToolset[Any]:
            return FunctionToolset(
                [
                    Tool.from_schema(
                        partial(self._call, one["name"]),
                        one["name"],
                        one["description"],
                        one["input_schema"],
                        takes_ctx=True,
                    )
                    for one in await self._tools.definitions("anthropic")
                ]
            )

        return tools

    async def _call(self, name: str, context: RunContext[Any], /, **arguments: Any) -> str:
        if context.tool_call_approved and self._asks:
            paused = _paused(context)
            answer = await self._tools.decide(paused["execution"], {call["id"]: True for call in paused["approvals"]})
        else:
            answer = await self._tools.call(name, arguments)
        questions = await self._tools.pending(answer.execution) if answer.waiting else ()
        if questions:
            raise ApprovalRequired({"execution": answer.execution, "approvals": shown(questions)})
        if not answer.ok:
            raise ToolFailed(answer.text)
        return answer.text


def _paused(context: RunContext[Any]) -> dict[str, Any]:
    """Return the metadata of the request that was approved. Without it, the program would run again."""
    metadata = context.tool_call_metadata
    if not isinstance(metadata, dict) or not {"execution", "approvals"} <= metadata.keys():
        message = f"tool call {context.tool_call_id} was approved without its metadata: pass metadata=requests.metadata"
        raise ConfigurationError(message)
    return metadata
