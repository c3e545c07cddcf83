"""The extension `io.modelcontextprotocol/tasks` of MCP 2026-07-28 (SEP-2663).

The server decides when a call becomes a task: an `execute` of a client that declares the extension does so if its
program still runs after `AS_TASK_AFTER_S`, or waits for a person whom the client cannot ask. The task is the recorded
execution, under the same id. It belongs to the caller that started it, and to other callers it does not exist.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

import mcp_types
from mcp.server import Server
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, METHOD_NOT_FOUND, MISSING_REQUIRED_CLIENT_CAPABILITY
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from codemode.errors import (
    CodeModeError,
    ExecutionChanged,
    ExecutionEnded,
    ExecutionNotFound,
    ExecutionWaiting,
    LeaseHeld,
)
from codemode.executions.types.outcome import ExecutionOutcome
from codemode.serving.mcp.in_client import requests_of, round_of
from codemode.serving.mcp.results import result_of
from codemode.text.times import rfc3339

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from mcp.server import ServerRequestContext

    from codemode.executions.types.card import ApprovalCard
    from codemode.executions.types.records import StoredExecution
    from codemode.gateway.caller import Caller
    from codemode.model.background import Running
    from codemode.service import CodeMode
    from codemode.serving.mcp.conversations import McpConversations
    from codemode.serving.mcp.in_client import InClient

    Context = ServerRequestContext[Any]

_T = TypeVar("_T")

EXTENSION = "io.modelcontextprotocol/tasks"

#: Seconds after which a call that has not ended becomes a task.
AS_TASK_AFTER_S = 5.0

#: Milliseconds between two status requests of a client.
POLL_MS = 1_000

#: Milliseconds between two status requests while a person must decide.
PAUSED_POLL_MS = 5_000

#: Largest number of tasks of which the calls left to the inbox are remembered.
_MOST_LEFT = 10_000


class UpdateTaskRequestParams(mcp_types.RequestParams):
    """Parameters of `tasks/update`."""

    task_id: str
    input_responses: mcp_types.InputResponses


class TaskServer(Server[Any]):
    """A server that announces tasks."""

    def get_capabilities(
        self, *arguments: Any, protocol_version: str | None = None, **more: Any
    ) -> mcp_types.ServerCapabilities:
        """Return the SDK's capabilities plus the extension, in the era that has it."""
        own = super().get_capabilities(*arguments, protocol_version=protocol_version, **more)
        if protocol_version not in MODERN_PROTOCOL_VERSIONS:
            return own
        return own.model_copy(update={"extensions": {**(own.extensions or {}), EXTENSION: {}}})

    def route_tasks(self, tasks: McpTasks) -> None:
        """Register the task requests."""
        self.add_request_handler("tasks/get", mcp_types.GetTaskRequestParams, tasks.get)
        self.add_request_handler("tasks/update", UpdateTaskRequestParams, tasks.update)
        self.add_request_handler("tasks/cancel", mcp_types.CancelTaskRequestParams, tasks.cancel)


class McpTasks:
    """The tasks of clients that declare the extension."""

    def __init__(
        self,
        service: CodeMode,
        conversations: McpConversations,
        credentials_of: Callable[[Context], Mapping[str, str]],
        in_client: InClient,
    ) -> None:
        self._service = service
        self._conversations = conversations
        self._credentials_of = credentials_of
        self._in_client = in_client
        self._left: OrderedDict[str, frozenset[str]] = OrderedDict()

    async def finished(self, running: Running, caller: Caller) -> ExecutionOutcome | None:
        """Wait a while for an execution to stop. Return its outcome, or None if it still runs.

        Cancelling this cancels the execution.
        """
        try:
            await asyncio.wait({running.stopped}, timeout=AS_TASK_AFTER_S)
        except asyncio.CancelledError:
            await self._service.executions.cancel(running.execution, caller)
            raise
        return running.outcome() if running.stopped.done() else None

    async def created(self, execution: str, caller: Caller) -> dict[str, Any]:
        """Return the `CreateTaskResult` of an execution."""
        stored = await self._service.executions.get(execution, caller)
        return {"resultType": "task", **self._fields(stored, "working", _message(stored))}

    async def get(self, context: Context, params: mcp_types.GetTaskRequestParams) -> dict[str, Any]:
        """Answer `tasks/get`. A paused execution whose calls have been decided continues."""
        caller = self._required(context)
        stored = await _reported(self._own(params.task_id, caller))
        if stored.status in ("queued", "running"):
            return self._fields(stored, "working", str(stored.status))
        if stored.status == "cancelled":
            return self._fields(stored, "cancelled", str(stored.status))
        if stored.status == "paused":
            return await _reported(self._paused(stored, caller, context))
        result = result_of(await self._conversations.tools(context).shown(ExecutionOutcome.of_stored(stored)))
        shown = result.model_dump(by_alias=True, mode="json", exclude_none=True)
        return {**self._fields(stored, "completed", str(stored.status)), "result": shown}

    async def update(self, context: Context, params: UpdateTaskRequestParams) -> dict[str, Any]:
        """Answer `tasks/update`: record the decisions, and continue the execution."""
        caller = self._required(context)
        stored = await _reported(self._own(params.task_id, caller))
        if stored.status == "paused":
            asked = await _reported(self._waiting(stored, caller, context))
            left = self._left.get(params.task_id, frozenset())
            round_ = round_of(params.task_id, asked, left)
            self._leave(params.task_id, await _reported(self._in_client.answer(round_, params.input_responses, caller)))
            await _reported(self._resumed(stored, caller, context))
        return {}

    async def cancel(self, context: Context, params: mcp_types.CancelTaskRequestParams) -> dict[str, Any]:
        """Answer `tasks/cancel`. An execution that has ended stays as it is."""
        caller = self._required(context)
        await _reported(self._own(params.task_id, caller))
        await _reported(self._cancelled(params.task_id, caller))
        return {}

    def _required(self, context: Context) -> Caller:
        """Return the caller. Raises MCPError if its client does not declare the extension."""
        if context.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            raise MCPError(METHOD_NOT_FOUND, "Method not found")
        if not declares_tasks(context):
            data: dict[str, Any] = {"requiredCapabilities": {"extensions": {EXTENSION: {}}}}
            message = f"tasks need a client that declares the extension {EXTENSION}"
            raise MCPError(MISSING_REQUIRED_CLIENT_CAPABILITY, message, data)
        return self._conversations.caller_of(context)

    async def _own(self, task: str, caller: Caller) -> StoredExecution:
        stored = await self._service.executions.get(task, caller)
        if stored.request.owner != caller.id:
            raise ExecutionNotFound(task)
        return stored

    async def _cancelled(self, task: str, caller: Caller) -> None:
        with suppress(ExecutionEnded):
            await self._service.executions.cancel(task, caller)

    async def _waiting(self, stored: StoredExecution, caller: Caller, context: Context) -> tuple[ApprovalCard, ...]:
        execution, capabilities = stored.request.id, context.session.client_capabilities
        return await self._in_client.waiting(execution, caller, capabilities, self._left.get(execution, frozenset()))

    async def _paused(self, stored: StoredExecution, caller: Caller, context: Context) -> dict[str, Any]:
        asked = await self._waiting(stored, caller, context)
        if asked:
            requests = {
                call: request.model_dump(by_alias=True, mode="json", exclude_none=True)
                for call, request in requests_of(asked).items()
            }
            return {**self._fields(stored, "input_required", _message(stored)), "inputRequests": requests}
        why = await self._resumed(stored, caller, context)
        return self._fields(stored, "working", why)

    async def _resumed(self, stored: StoredExecution, caller: Caller, context: Context) -> str:
        """Continue a paused execution. Return why it cannot continue yet, or that it runs."""
        try:
            await self._service.executions.resume(stored.request.id, caller, self._credentials_of(context))
        except (ExecutionWaiting, ExecutionChanged) as error:
            return error.for_model()
        except (ExecutionEnded, LeaseHeld):
            pass  # another request continued it first
        return "running"

    def _leave(self, task: str, left: frozenset[str]) -> None:
        if left:
            self._left[task] = left
            self._left.move_to_end(task)
            if len(self._left) > _MOST_LEFT:
                self._left.popitem(last=False)

    def _fields(self, stored: StoredExecution, status: mcp_types.TaskStatus, message: str) -> dict[str, Any]:
        journal, is_paused = self._service.settings.journal, stored.status == "paused"
        kept_s = (stored.updated_us - stored.created_us) / 1e6 + journal.keep_s + journal.expire_s * is_paused
        return {
            "taskId": stored.request.id,
            "status": status,
            "statusMessage": message,
            "createdAt": rfc3339(stored.created_us),
            "lastUpdatedAt": rfc3339(stored.updated_us),
            "ttlMs": int(kept_s * 1000),
            "pollIntervalMs": PAUSED_POLL_MS if is_paused else POLL_MS,
        }


async def _reported(work: Awaitable[_T]) -> _T:
    """Await a result. Convert CodeModeError to an MCP error."""
    try:
        return await work
    except CodeModeError as error:
        raise MCPError(INVALID_PARAMS, error.for_model()) from None


def declares_tasks(context: Context) -> bool:
    """Return whether the request declares the extension, in the era that has it."""
    capabilities = context.session.client_capabilities
    declared = capabilities.extensions if capabilities is not None else None
    return context.protocol_version in MODERN_PROTOCOL_VERSIONS and EXTENSION in (declared or {})


def _message(stored: StoredExecution) -> str:
    pending = ExecutionOutcome.of_stored(stored).pending
    if not pending:
        return str(stored.status)
    return f"paused: a person must decide on {', '.join(call.id for call in pending)}"
