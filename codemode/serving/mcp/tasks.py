"""MCP tasks (2025-11-25): `execute` called as a task continues after its request has been answered.

A task is a recorded execution under the same id. `tasks/get`, `tasks/result`, `tasks/list` and `tasks/cancel` match
the executions of the HTTP API. A task is visible to its owner only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import mcp_types
from mcp.server import Server
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS
from pydantic import ValidationError

from codemode.errors import CodeModeError, WrongArgument
from codemode.executions.execution import ExecutionOutcome
from codemode.executions.plans.plan import may_be_plan
from codemode.executions.programs import Request
from codemode.serving.executions import BEYOND_S
from codemode.serving.model_text import shown_to_model
from codemode.serving.two_tools import ExecuteArguments, problem_of
from codemode.text.times import rfc3339
from sandbox import SandboxError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from mcp.server import ServerRequestContext
    from mcp.server.context import CallNext, HandlerResult

    from codemode.executions.journal.base import StoredExecution
    from codemode.gateway.caller import Caller
    from codemode.service import CodeMode

    Context = ServerRequestContext[Any]

_T = TypeVar("_T")

#: Milliseconds between two status requests of a client.
POLL_MS = 1_000

_STATUS: dict[str, mcp_types.TaskStatus] = {
    "queued": "working",
    "running": "working",
    "paused": "input_required",
    "completed": "completed",
    "cancelled": "cancelled",
}


class TaskServer(Server[Any]):
    """A server that announces task support to clients of the session era."""

    def get_capabilities(self, *arguments: Any, **more: Any) -> mcp_types.ServerCapabilities:
        """Return the SDK's capabilities plus tasks."""
        call = mcp_types.TasksToolsCapability(call=mcp_types.TasksCallCapability())
        tasks = mcp_types.ServerTasksCapability(
            list=mcp_types.TasksListCapability(),
            cancel=mcp_types.TasksCancelCapability(),
            requests=mcp_types.ServerTasksRequestsCapability(tools=call),
        )
        return super().get_capabilities(*arguments, **more).model_copy(update={"tasks": tasks})


class McpTasks:
    """The tasks of all clients."""

    def __init__(
        self,
        service: CodeMode,
        caller_of: Callable[[Context], Caller],
        credentials_of: Callable[[Context], Mapping[str, str]],
        opened: Callable[[], Awaitable[None]],
    ) -> None:
        self._service = service
        self._caller_of = caller_of
        self._credentials_of = credentials_of
        self._opened = opened

    def serve(self, server: Server[Any]) -> None:
        """Register the task requests, and intercept tool calls that ask for a task."""
        server.add_request_handler("tasks/get", mcp_types.GetTaskRequestParams, self._get)
        server.add_request_handler("tasks/list", mcp_types.PaginatedRequestParams, self._list)
        server.add_request_handler("tasks/cancel", mcp_types.CancelTaskRequestParams, self._cancel)
        server.add_request_handler("tasks/result", mcp_types.GetTaskPayloadRequestParams, self._result)
        server.middleware.append(self._intercept)

    async def _intercept(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """Start a task before the SDK handles the call: the SDK knows no task result for `tools/call`."""
        params = dict(ctx.params or {})
        if ctx.method != "tools/call" or params.get("task") is None or params.get("name") != "execute":
            return await call_next(ctx)
        try:
            asked = ExecuteArguments.model_validate(params.get("arguments") or {})
            if asked.dry_run:
                raise WrongArgument("a dry run is not recorded, and cannot be a task: call execute without a task")
            await self._opened()
            stored = await self._begun(asked, ctx)
        except ValidationError as error:
            raise MCPError(INVALID_PARAMS, f"execute: {problem_of(error)}") from None
        except (CodeModeError, SandboxError) as error:
            message = error.for_model() if isinstance(error, CodeModeError) else "no program can run here at present"
            raise MCPError(INVALID_PARAMS, message) from None
        created = mcp_types.CreateTaskResult(task=mcp_types.Task(**_fields(stored)))
        return created.model_dump(by_alias=True, mode="json", exclude={"meta", "result_type"})

    async def _begun(self, asked: ExecuteArguments, context: Context) -> StoredExecution:
        """Start a program or an approved plan, or resume an execution."""
        executions, caller = self._service.executions, self._caller_of(context)
        execution, credentials = asked.resume_from, self._credentials_of(context)
        if asked.code or may_be_plan(asked.resume_from):
            execution = await executions.start(Request(asked.code, credentials, asked.resume_from), caller)
        else:
            await executions.resume(execution, caller, credentials)
        return await executions.get(execution, caller)

    async def _get(self, context: Context, params: mcp_types.GetTaskRequestParams) -> mcp_types.GetTaskResult:
        stored = await _known(self._service.executions.get(params.task_id, self._caller_of(context)))
        return mcp_types.GetTaskResult(**_fields(stored))

    async def _cancel(self, context: Context, params: mcp_types.CancelTaskRequestParams) -> mcp_types.CancelTaskResult:
        stored = await _known(self._service.executions.cancel(params.task_id, self._caller_of(context)))
        return mcp_types.CancelTaskResult(**_fields(stored))

    async def _list(self, context: Context, params: mcp_types.PaginatedRequestParams) -> mcp_types.ListTasksResult:
        found = await _known(self._service.executions.list(self._caller_of(context), before=params.cursor or ""))
        tasks = [mcp_types.Task(**_fields(stored)) for stored in found]
        return mcp_types.ListTasksResult(tasks=tasks, next_cursor=found[-1].given.id if found else None)

    async def _result(
        self, context: Context, params: mcp_types.GetTaskPayloadRequestParams
    ) -> mcp_types.CallToolResult:
        """Return the call's result once the execution has ended or is paused."""
        patience_s = self._service.settings.limits.wall_s + BEYOND_S
        waiting = self._service.executions.wait(params.task_id, self._caller_of(context), patience_s)
        stored = await _known(waiting)
        ended = ExecutionOutcome.from_json({**(stored.outcome or {}), "id": params.task_id, "status": stored.status})
        text, data = shown_to_model(ended, self._service.hooks, can_resume=True)
        return mcp_types.CallToolResult(
            content=[mcp_types.TextContent(type="text", text=text)],
            structured_content=data,
            is_error=not ended.ok,
            _meta={"io.modelcontextprotocol/related-task": {"taskId": params.task_id}},
        )


async def _known(asked: Awaitable[_T]) -> _T:
    """Await a result. Convert CodeModeError to an MCP error."""
    try:
        return await asked
    except CodeModeError as error:
        raise MCPError(INVALID_PARAMS, error.for_model()) from None


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
