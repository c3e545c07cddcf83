"""Tool lists that change: a menu's meta-tools load tools, and the client is told.

An MCP server never sees the user's message. It first lists core tools, defaults and meta-tools. Loaded tools stay in
the list of their session; in the session-less era of the protocol they stay in the list of their caller.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcp.server import NotificationOptions, Server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged

from codemode.serving.mcp.tasks import TaskServer

if TYPE_CHECKING:
    from mcp.server import ServerRequestContext
    from mcp.server.models import InitializationOptions


class ChangingServer(Server[Any]):
    """A server that announces that its tool list may change."""

    def create_initialization_options(
        self, notification_options: NotificationOptions | None = None, *arguments: Any, **more: Any
    ) -> InitializationOptions:
        """Return the SDK's options with `tools.listChanged` set."""
        announced = notification_options or NotificationOptions(tools_changed=True)
        return super().create_initialization_options(announced, *arguments, **more)


class ChangingTaskServer(ChangingServer, TaskServer):
    """A server whose tool list may change, and that supports tasks."""


class ToolChanges:
    """Tells clients that the tool list has changed. `listen` answers their subscriptions."""

    def __init__(self) -> None:
        self._bus = InMemorySubscriptionBus()
        self.listen = ListenHandler(self._bus)

    async def tell(self, context: ServerRequestContext[Any]) -> None:
        """Tell the client of a request, and the subscribers."""
        await context.session.send_tool_list_changed()
        await self._bus.publish(ToolsListChanged())
