"""The server that announces and routes tasks: the extension since 2026-07-28, the session tasks of 2025-11-25."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mcp_types
from mcp.server import Server
from mcp.shared.exceptions import MCPError
from mcp_types import METHOD_NOT_FOUND
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from codemode.serving.mcp.session_tasks import CAPABILITY
from codemode.serving.mcp.tasks import EXTENSION, UpdateTaskRequestParams

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from mcp.server import ServerRequestContext

    from codemode.serving.mcp.session_tasks import SessionTasks
    from codemode.serving.mcp.tasks import McpTasks

    Handler = Callable[[ServerRequestContext[Any], Any], Awaitable[Any]]


class TaskServer(Server[Any]):
    """A server that announces tasks as the protocol of the client defines them."""

    def get_capabilities(
        self, *arguments: Any, protocol_version: str | None = None, **more: Any
    ) -> mcp_types.ServerCapabilities:
        """Return the SDK's capabilities plus tasks."""
        known = super().get_capabilities(*arguments, protocol_version=protocol_version, **more)
        if protocol_version in MODERN_PROTOCOL_VERSIONS:
            return known.model_copy(update={"extensions": {**(known.extensions or {}), EXTENSION: {}}})
        return known.model_copy(update={"tasks": CAPABILITY})

    def route_tasks(self, tasks: McpTasks, session_tasks: SessionTasks) -> None:
        """Register the task requests of both generations."""
        self._route("tasks/get", mcp_types.GetTaskRequestParams, tasks.get, session_tasks.get)
        self._route("tasks/update", UpdateTaskRequestParams, tasks.update, None)
        self._route("tasks/cancel", mcp_types.CancelTaskRequestParams, tasks.cancel, session_tasks.cancel)
        self._route("tasks/list", mcp_types.PaginatedRequestParams, None, session_tasks.list)
        self._route("tasks/result", mcp_types.GetTaskPayloadRequestParams, None, session_tasks.result)
        self.middleware.append(session_tasks.intercept)

    def _route(self, method: str, params: Any, modern: Handler | None, in_session: Handler | None) -> None:
        async def handle(context: ServerRequestContext[Any], given: Any) -> Any:
            handler = modern if context.protocol_version in MODERN_PROTOCOL_VERSIONS else in_session
            if handler is None:
                raise MCPError(METHOD_NOT_FOUND, "Method not found", method)
            return await handler(context, given)

        self.add_request_handler(method, params, handle)
