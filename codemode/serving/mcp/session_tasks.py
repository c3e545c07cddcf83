"""MCP tasks of 2025-11-25, in sessions: `execute` called with `task` continues after its request has been answered.

A task is a recorded execution under the same id. `tasks/get`, `tasks/result`, `tasks/list` and `tasks/cancel` match
the executions of the HTTP API.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mcp_types
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from codemode.errors import CodeModeError
from codemode.executions.types.outcome import ExecutionOutcome
from codemode.model.tools import CallOptions, error_text
from codemode.serving.mcp.results import result_of
from codemode.serving.mcp.task_errors import POLL_MS, known
from codemode.text.times import rfc3339
from sandbox import SandboxError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from mcp.server import ServerRequestContext
    from mcp.server.context import CallNext, HandlerResult

    from codemode.executions.types.records import StoredExecution
    from codemode.service import CodeMode
    from codemode.serving.mcp.conversations import McpConversations

    Context = ServerRequestContext[Any]

_STATUS: dict[str, mcp_types.TaskStatus] = {
    "queued": "working",
    "running": "working",
    "paused": "input_required",
    "completed": "completed",
    "cancelled": "cancelled",
}

#: What the server declares in `initialize`.
CAPABILITY = mcp_types.ServerTasksCapability(
    list=mcp_types.TasksListCapability(),
    cancel=mcp_types.TasksCancelCapability(),
    requests=mcp_types.ServerTasksRequestsCapability(
        tools=mcp_types.TasksToolsCapability(call=mcp_types.TasksCallCapability())
    ),
)


class SessionTasks:
    """The tasks of clients in sessions."""

    def __init__(
        self,
        service: CodeMode,
        conversations: McpConversations,
        credentials_of: Callable[[Context], Mapping[str, str]],
        opened: Callable[[], Awaitable[None]],
    ) -> None:
        self._service = service
        self._conversations = conversations
        self._caller_of = conversations.caller_of
        self._credentials_of = credentials_of
        self._opened = opened

    async def intercept(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """Start a task before the SDK handles the call: the SDK knows no task result for `tools/call`."""
        params = dict(ctx.params or {})
        is_task = ctx.method == "tools/call" and params.get("task") is not None and params.get("name") == "execute"
        if not is_task or ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
            return await call_next(ctx)
        try:
            await self._opened()
            tools = self._conversations.tools(ctx)
            options = CallOptions(self._credentials_of(ctx))
            running = await tools.begin(params.get("arguments") or {}, options=options)
            stored = await self._service.executions.get(running.execution, tools.caller)
        except (CodeModeError, SandboxError) as error:
            raise MCPError(INVALID_PARAMS, error_text(error)) from None
        created = mcp_types.CreateTaskResult(task=mcp_types.Task(**_fields(stored)))
        return created.model_dump(by_alias=True, mode="json", exclude={"meta", "result_type"})

    async def get(self, context: Context, params: mcp_types.GetTaskRequestParams) -> mcp_types.GetTaskResult:
        """Answer `tasks/get`."""
        stored = await known(self._service.executions.get(params.task_id, self._caller_of(context)))
        return mcp_types.GetTaskResult(**_fields(stored))

    async def cancel(self, context: Context, params: mcp_types.CancelTaskRequestParams) -> mcp_types.CancelTaskResult:
        """Answer `tasks/cancel`."""
        stored = await known(self._service.executions.cancel(params.task_id, self._caller_of(context)))
        return mcp_types.CancelTaskResult(**_fields(stored))

    async def list(self, context: Context, params: mcp_types.PaginatedRequestParams) -> mcp_types.ListTasksResult:
        """Answer `tasks/list`."""
        found = await known(self._service.executions.list(self._caller_of(context), before=params.cursor or ""))
        tasks = [mcp_types.Task(**_fields(stored)) for stored in found]
        return mcp_types.ListTasksResult(tasks=tasks, next_cursor=found[-1].given.id if found else None)

    async def result(self, context: Context, params: mcp_types.GetTaskPayloadRequestParams) -> mcp_types.CallToolResult:
        """Return the call's result once the execution has ended or is paused."""
        patience_s = self._service.programs.patience_s
        tools = self._conversations.tools(context)
        stored = await known(self._service.executions.wait(params.task_id, tools.caller, patience_s))
        result = result_of(await tools.shown(ExecutionOutcome.of_stored(stored)))
        related = {"io.modelcontextprotocol/related-task": {"taskId": params.task_id}}
        return result.model_copy(update={"meta": related})


def _fields(stored: StoredExecution) -> dict[str, Any]:
    return {
        "task_id": stored.given.id,
        "status": _STATUS.get(stored.status, "failed"),
        "status_message": str(stored.status),
        "created_at": rfc3339(stored.created_us),
        "last_updated_at": rfc3339(stored.updated_us),
        "ttl": None,
        "poll_interval": POLL_MS,
    }
