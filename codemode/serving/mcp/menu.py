"""Menus over MCP: native tools, tools loaded on request, and list-changed notifications.

An MCP server never sees the user's message. It first lists core tools, defaults and meta-tools. Loaded tools stay in
the list of their session; in the session-less era of the protocol they stay in the list of their caller.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any

import mcp_types
from mcp.server import NotificationOptions, Server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged

from codemode.catalog.tool import Effect
from codemode.serving.mcp.task_server import TaskServer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcp.server import ServerRequestContext
    from mcp.server.models import InitializationOptions

    from codemode.gateway.caller import Caller
    from codemode.menus.session import MenuSession
    from codemode.service import CodeMode

#: Maximum number of sessions whose loaded tools are kept.
_SESSIONS = 10_000


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


class McpMenus:
    """The menus of all sessions."""

    def __init__(self, service: CodeMode) -> None:
        self._service = service
        self._sessions: OrderedDict[tuple[str, str], MenuSession] = OrderedDict()
        self._bus = InMemorySubscriptionBus()
        self.listen = ListenHandler(self._bus)

    async def tools(self, session: str | None, caller: Caller) -> list[mcp_types.Tool]:
        """Return the tools offered to a client now."""
        menu = await (await self._of(session, caller)).offer()
        effects = {one.tool.id: one.tool.effect for one in menu.offered}
        names = dict(zip(menu.names[len(menu.meta) :], effects.values(), strict=True))
        return [mcp_tool(one["function"], names.get(one["function"]["name"])) for one in menu.openai_tools()]

    async def answered(
        self,
        context: ServerRequestContext[Any],
        session: str | None,
        caller: Caller,
        params: mcp_types.CallToolRequestParams,
    ) -> str | None:
        """Answer a meta-tool and notify the client of newly loaded tools. Return None for any other tool."""
        answer = await (await self._of(session, caller)).handle(name=params.name, arguments=params.arguments or {})
        if answer is None:
            return None
        if answer.loaded:
            await context.session.send_tool_list_changed()
            await self._bus.publish(ToolsListChanged())
        return "\n\n".join(part for part in (answer.text, answer.skills) if part)

    async def program(self, session: str | None, caller: Caller, name: str, arguments: Mapping[str, Any]) -> str | None:
        """Return a program that calls the tool, listed or not. Return None if the caller's view lacks the tool."""
        known = await self._of(session, caller)
        if known.tool(name) is None:
            await known.offer()  # refreshes the view
        tool = known.tool(name)
        return None if tool is None else f"{tool.id}(**{dict(arguments)!r})"

    async def _of(self, session: str | None, caller: Caller) -> MenuSession:
        key = (session or "", caller.id)
        if key not in self._sessions:
            self._sessions[key] = await self._service.menu_session(caller)
        self._sessions.move_to_end(key)
        if len(self._sessions) > _SESSIONS:
            self._sessions.popitem(last=False)
        return self._sessions[key]


def mcp_tool(function: dict[str, Any], effect: Effect | None) -> mcp_types.Tool:
    """Convert a definition to an MCP tool. Meta-tools have no effect and are marked read-only."""
    return mcp_types.Tool(
        name=function["name"],
        description=function["description"],
        input_schema=function["parameters"],
        annotations=mcp_types.ToolAnnotations(
            read_only_hint=effect in (None, Effect.READ), destructive_hint=effect is Effect.DESTRUCTIVE
        ),
    )
