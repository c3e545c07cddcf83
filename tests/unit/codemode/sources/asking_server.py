"""An MCP server whose tools ask the person at its client, on standard input and output.

It notes in the file named by its first argument what it did. With a second argument, `legacy`, it knows nothing of the
era without sessions.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import mcp_types
from mcp.server import Server
from mcp.server.runner import serve_loop
from mcp.server.stdio import stdio_server

DONE = Path(sys.argv[1])
LEGACY = sys.argv[2:] == ["legacy"]
SCHEMA = {"type": "object", "properties": {"project": {"type": "string"}}, "required": ["project"]}
FORM = mcp_types.ElicitRequestFormParams(message="Which project?", requested_schema=SCHEMA)
LINK = mcp_types.ElicitRequestURLParams(message="Log in", url="https://login.example.org/start", elicitation_id="1")


def tool(name: str) -> mcp_types.Tool:
    text = {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]}
    annotations = mcp_types.ToolAnnotations(destructive_hint=False)
    return mcp_types.Tool(name=name, description="File a ticket.", input_schema=text, annotations=annotations)


def note(done: dict[str, Any]) -> None:
    with DONE.open("a", encoding="utf-8") as file:
        file.write(f"{json.dumps(done)}\n")


async def on_list(_: Any, __: Any) -> mcp_types.ListToolsResult:
    return mcp_types.ListToolsResult(tools=[tool("file"), tool("file_with_login")])


async def on_call(context: Any, params: mcp_types.CallToolRequestParams) -> Any:
    asks = FORM if params.name == "file" else LINK
    request = mcp_types.ElicitRequest(params=asks)
    if LEGACY:
        answer = await context.session.send_request(request, mcp_types.ElicitResult)
    elif params.input_responses is None:
        return mcp_types.InputRequiredResult(input_requests={"one": request}, request_state="here")
    else:
        answer = params.input_responses["one"]
    done = {"title": (params.arguments or {})["title"], "action": answer.action, **(answer.content or {})}
    note(done)
    return mcp_types.CallToolResult(content=[], structured_content=done)


async def main() -> None:
    server: Server[Any] = Server("asking", on_list_tools=on_list, on_call_tool=on_call)
    async with stdio_server() as (read, write):
        options = server.create_initialization_options()
        if LEGACY:
            async with server.lifespan(server) as state:
                await serve_loop(server, read, write, lifespan_state=state, init_options=options)
        else:
            await server.run(read, write, options)


if __name__ == "__main__":
    asyncio.run(main())
