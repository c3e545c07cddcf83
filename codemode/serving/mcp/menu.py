"""Menus as MCP: native tools, those that are loaded on request among them, and word that the list has changed.

A server is told no message: what it lists first are the core, the defaults, and the meta-tools. What the client of a
session has loaded stays in its list; in the era without sessions it stays in that of the caller.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any

import mcp_types
from mcp.server import NotificationOptions, Server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged

from codemode.catalog.tool import Effect

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcp.server import ServerRequestContext
    from mcp.server.models import InitializationOptions

    from codemode.gateway.caller import Caller
    from codemode.menus.session import MenuSession
    from codemode.service import CodeMode

#: Sessions whose loaded tools are remembered.
_SESSIONS = 10_000


class ChangingServer(Server[Any]):
    """A server that tells its clients that the list of tools may change."""

    def create_initialization_options(
        self, notification_options: NotificationOptions | None = None, *arguments: Any, **more: Any
    ) -> InitializationOptions:
        """The options of the SDK, with changes of tools announced."""
        announced = notification_options or NotificationOptions(tools_changed=True)
        return super().create_initialization_options(announced, *arguments, **more)


class McpMenus:
    """The menus of all sessions of a server."""

    def __init__(self, service: CodeMode) -> None:
        self._service = service
        self._sessions: OrderedDict[tuple[str, str], MenuSession] = OrderedDict()
        self._bus = InMemorySubscriptionBus()
        self.listen = ListenHandler(self._bus)

    async def tools(self, session: str | None, caller: Caller) -> list[mcp_types.Tool]:
        """What a client is offered now."""
        menu = await (await self._of(session, caller)).offer()
        effects = {one.tool.id: one.tool.effect for one in menu.offered}
        names = dict(zip(menu.names[len(menu.meta) :], effects.values(), strict=True))
        return [_tool(one["function"], names.get(one["function"]["name"])) for one in menu.openai_tools()]

    async def answered(
        self,
        context: ServerRequestContext[Any],
        session: str | None,
        caller: Caller,
        params: mcp_types.CallToolRequestParams,
    ) -> str | None:
        """The answer to a meta-tool, after the client was told of tools that it loaded; None for another tool."""
        answer = await (await self._of(session, caller)).handle(name=params.name, arguments=params.arguments or {})
        if answer is None:
            return None
        if answer.loaded:
            await context.session.send_tool_list_changed()
            await self._bus.publish(ToolsListChanged())
        return "\n\n".join(part for part in (answer.text, answer.skills) if part)

    async def program(self, session: str | None, caller: Caller, name: str, arguments: Mapping[str, Any]) -> str | None:
        """The program that calls a tool of the caller's whole view, listed or not; None where there is none."""
        known = await self._of(session, caller)
        if known.tool(name) is None:
            await known.offer()  # which reads what there is now
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


def _tool(function: dict[str, Any], effect: Effect | None) -> mcp_types.Tool:
    """A definition as MCP has it; meta-tools, which have no effect, only read."""
    return mcp_types.Tool(
        name=function["name"],
        description=function["description"],
        input_schema=function["parameters"],
        annotations=mcp_types.ToolAnnotations(
            read_only_hint=effect in (None, Effect.READ), destructive_hint=effect is Effect.DESTRUCTIVE
        ),
    )
