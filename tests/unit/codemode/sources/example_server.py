"""An MCP server that does what tests ask of it. What it offers stands in the JSON file named by its first argument.

With a second argument, `legacy`, it knows nothing of the era without sessions.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import sys
from pathlib import Path
from typing import Any

import mcp_types
from mcp.server import NotificationOptions, Server
from mcp.server.runner import serve_loop
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged

STATE = Path(sys.argv[1])
LEGACY = sys.argv[2:] == ["legacy"]
PAGE = 10

bus = InMemorySubscriptionBus()


def definitions() -> list[mcp_types.Tool]:
    return [mcp_types.Tool.model_validate(one) for one in json.loads(STATE.read_text(encoding="utf-8"))]


async def on_list(_: Any, params: mcp_types.PaginatedRequestParams | None) -> mcp_types.ListToolsResult:
    start = int(params.cursor) if params and params.cursor else 0
    tools = definitions()
    more = str(start + PAGE) if start + PAGE < len(tools) else None
    return mcp_types.ListToolsResult(tools=tools[start : start + PAGE], next_cursor=more)


async def on_call(context: Any, params: mcp_types.CallToolRequestParams) -> mcp_types.CallToolResult:
    arguments = params.arguments or {}
    match arguments.get("do"):
        case "die":
            os._exit(3)
        case "fail":
            return mcp_types.CallToolResult(content=[text("no such file")], is_error=True)
        case "image":
            data = base64.b64encode(b"\x89PNG").decode()
            image = mcp_types.ImageContent(type="image", data=data, mime_type="image/png")
            return mcp_types.CallToolResult(content=[text("a picture"), image])
        case "structured and image":
            image = mcp_types.ImageContent(type="image", data="iVBORw==", mime_type="image/png")
            return mcp_types.CallToolResult(content=[image], structured_content={"found": 3})
        case "structured":
            return mcp_types.CallToolResult(content=[text("{}")], structured_content={"found": 3})
        case "change":
            more_tools()
            if LEGACY:
                await context.session.send_tool_list_changed()
            else:
                await bus.publish(ToolsListChanged())
            return mcp_types.CallToolResult(content=[text("changed")])
        case _:
            return mcp_types.CallToolResult(content=[text(json.dumps({"tool": params.name, "sent": arguments}))])


def more_tools() -> None:
    """Offer one more from now on."""
    offered = json.loads(STATE.read_text(encoding="utf-8"))
    STATE.write_text(json.dumps([*offered, {**offered[0], "name": "another"}]), encoding="utf-8")


def text(content: str) -> mcp_types.TextContent:
    return mcp_types.TextContent(type="text", text=content)


async def main() -> None:
    server: Server[Any] = Server(
        "example", on_list_tools=on_list, on_call_tool=on_call, on_subscriptions_listen=ListenHandler(bus)
    )
    async with stdio_server() as (read, write):
        options = server.create_initialization_options(NotificationOptions(tools_changed=True))
        if LEGACY:
            async with server.lifespan(server) as state:
                await serve_loop(server, read, write, lifespan_state=state, init_options=options)
        else:
            await server.run(read, write, options)


if __name__ == "__main__":
    asyncio.run(main())
